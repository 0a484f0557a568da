/**
 * Runs the domain's operations for hosts that do not use Effect: each returns a promise, which rejects with a
 * {@link WacError}, or with the reason of the host's signal if the host aborts the call.
 */
import { type Errors, Provider, StoreError } from "@wac/core"
import { Cause, type Context, Effect, Exit, Option, Result } from "effect"
import * as CallOptions from "./CallOptions.ts"
import type { InFlight } from "./InFlight.ts"
import { type Called, ofDomain, WacError } from "./WacError.ts"

/** The errors that an operation of the domain can fail with. */
export type Failure =
  | Errors.DomainError
  | StoreError.StoreError
  | Provider.TemplatesUnavailable
  | Provider.ProviderError

/** How an operation is run. */
interface Call {
  /** The host's options, to be checked. */
  readonly options?: unknown
  /** The names of the options that the operation has, besides those of every call. */
  readonly names?: ReadonlyArray<string>
  /** Returns the operation's id in the log, once it has one. */
  readonly requestId?: () => string | undefined
  /** The key that errors carry. */
  readonly idempotencyKey?: string | undefined
  /**
   * Whether the operation is interrupted if the call is aborted or times out, but for its parts that are
   * uninterruptible. By default it runs to its end, as a send must.
   */
  readonly stops?: boolean
  /** Whether the operation itself fails if its workspace does not exist. */
  readonly looksUp?: boolean
  /** How many lines of the stack errors show, at most; by default as many as the host's errors. Each takes 0.4 µs. */
  readonly lines?: number
}

/** Runs operations until the instance is closed, and yields to the event loop before each. */
export interface Running {
  readonly run: <A>(operation: Effect.Effect<A, Failure>, call?: Call) => Promise<A>
}

const internal = (called: Called) =>
  new WacError("an error in the service; see its log", {
    code: "server_error",
    reason: "internal",
    status: 500,
    ...called
  })

/** The error for any use of a closed instance. */
export const closed = (): WacError =>
  new WacError("this instance was closed", { code: "server_error", reason: "internal", status: 500 })

const timedOut = (called: Called): WacError =>
  new WacError("the call did not end within its timeout", { code: "no_response", reason: "timeout", ...called })

const ofFailure = (failure: Failure, called: Called): WacError => {
  if (failure instanceof StoreError.StoreError) return ofDomain(StoreError.toServerError(failure), called)
  if (failure instanceof Provider.ProviderError || failure instanceof Provider.TemplatesUnavailable) {
    return ofDomain(Provider.toServerError(failure), called)
  }
  return ofDomain(failure, called)
}

/**
 * Makes a {@link Running}. `context` holds services for every fiber: clock, log, metrics. The fewer, the cheaper each
 * operation is. `afterwards` runs after each operation, before its promise settles.
 */
export const make = (
  context: Context.Context<never>,
  inFlight: InFlight,
  yieldToEventLoop: Effect.Effect<void>,
  afterwards: Effect.Effect<void> | null = null
): Running => {
  const fork = Effect.runForkWith(context)

  const unexpected = (cause: Cause.Cause<unknown>, called: Called): WacError => {
    fork(Effect.logError("an operation failed unexpectedly", cause))
    return internal(called)
  }

  const rejection = (cause: Cause.Cause<Failure>, called: Called): WacError => {
    const failure = Cause.findErrorOption(cause)
    if (Option.isSome(failure)) return ofFailure(failure.value, called)
    return inFlight.isRefusing ? closed() : unexpected(cause, called)
  }

  return {
    run: (operation, { idempotencyKey, lines = Infinity, names, options, requestId, stops = false } = {}) => {
      // an error is made when the operation has ended, where the stack no longer has the caller: it is captured here
      const site: { readonly stack?: string } = {}
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = Math.min(stackTraceLimit, lines)
      Error.captureStackTrace(site)
      Error.stackTraceLimit = stackTraceLimit
      return new Promise((resolve, reject) => {
        const refuse = (error: WacError) => {
          // if the host formats stacks itself, the result need not be text
          const stack: unknown = site.stack
          if (typeof stack === "string") error.stack = `${error.name}: ${error.message}${stack.replace(/^.*/, "")}`
          reject(error)
        }
        if (inFlight.isRefusing) return refuse(closed())
        const checked = CallOptions.check(options, names)
        if (Result.isFailure(checked)) return refuse(ofDomain(checked.failure))
        const { signal, timeout } = checked.success
        if (signal?.aborted === true) return reject(signal.reason)
        const called = (): Called => ({ requestId: requestId?.(), idempotencyKey })
        inFlight.begin()
        const begun = Effect.andThen(yieldToEventLoop, operation)
        const fiber = fork(afterwards === null ? begun : Effect.ensuring(begun, afterwards))
        let isStopped = false
        const leave = () => {
          isStopped = stops
          if (stops) fiber.interruptUnsafe()
        }
        const abort = () => {
          reject(signal?.reason)
          leave()
        }
        signal?.addEventListener("abort", abort, { once: true })
        const timer = timeout === undefined ? undefined : fork(Effect.delay(
          Effect.sync(() => {
            refuse(timedOut(called()))
            leave()
          }),
          timeout
        ))
        fiber.addObserver((exit) => {
          inFlight.end()
          signal?.removeEventListener("abort", abort)
          timer?.interruptUnsafe()
          if (isStopped) return
          if (Exit.isSuccess(exit)) return resolve(exit.value)
          // if this observer threw, nothing would catch it, and the promise would never settle
          try {
            refuse(rejection(exit.cause, called()))
          } catch (error) {
            refuse(unexpected(Cause.die(error), { idempotencyKey }))
          }
        })
      })
    }
  }
}
