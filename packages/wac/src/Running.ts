/**
 * Runs the domain's operations for hosts that do not use Effect: each is a promise of the value, or rejects with a
 * {@link WacError}.
 */
import { type Errors, Provider, StoreError } from "@wac/core"
import { Cause, type Context, Effect, Exit, Option } from "effect"
import type { InFlight } from "./InFlight.ts"
import { ofDomain, WacError } from "./WacError.ts"

/** The errors that an operation of the domain can fail with. */
export type Failure =
  | Errors.DomainError
  | StoreError.StoreError
  | Provider.TemplatesUnavailable
  | Provider.ProviderError

/** Runs operations until it is closed, and yields to the event loop between them. */
export interface Running {
  /** `requestId` returns the operation's id in the log, once it has one. */
  readonly run: <A>(operation: Effect.Effect<A, Failure>, requestId?: () => string | undefined) => Promise<A>
}

const internal = (requestId: string | undefined) =>
  new WacError("an error in the service; see its log", { code: "server_error", reason: "internal", requestId })

/** The error for any use of a closed instance. */
const closed = (): WacError => new WacError("this instance was closed", { code: "server_error", reason: "internal" })

const ofFailure = (failure: Failure, requestId: string | undefined): WacError => {
  if (failure instanceof StoreError.StoreError) return ofDomain(StoreError.toServerError(failure), requestId)
  if (failure instanceof Provider.ProviderError || failure instanceof Provider.TemplatesUnavailable) {
    return ofDomain(Provider.toServerError(failure), requestId)
  }
  return ofDomain(failure, requestId)
}

/** `context` holds services for every fiber: clock, log, metrics. The fewer, the cheaper each operation is. */
export const make = (
  context: Context.Context<never>,
  inFlight: InFlight,
  yieldToEventLoop: Effect.Effect<void>
): Running => {
  const fork = Effect.runForkWith(context)

  const rejection = (cause: Cause.Cause<Failure>, requestId: string | undefined): WacError => {
    const failure = Cause.findErrorOption(cause)
    if (Option.isSome(failure)) return ofFailure(failure.value, requestId)
    if (inFlight.isRefusing) return closed()
    fork(Effect.logError("an operation failed unexpectedly", cause))
    return internal(requestId)
  }

  return {
    run: (operation, requestId) =>
      new Promise((resolve, reject) => {
        if (inFlight.isRefusing) return reject(closed())
        inFlight.begin()
        fork(Effect.andThen(yieldToEventLoop, operation)).addObserver((exit) => {
          inFlight.end()
          if (Exit.isSuccess(exit)) resolve(exit.value)
          else reject(rejection(exit.cause, requestId?.()))
        })
      })
  }
}
