/**
 * Durable subscriptions (contract §16): functions of the host that handle every event at least once.
 */
import {
  Errors,
  Event as Core,
  Id,
  Lookup,
  PlainText,
  Subscription,
  SubscriptionRunner,
  type SubscriptionStep,
  SubscriptionStore
} from "@wac/core"
import { Context, DateTime, Effect, Schema, Scope } from "effect"
import type { Background } from "../Background.ts"
import { shown } from "../events/Events.ts"
import { Recorded } from "../events/Recorded.ts"
import type { Event, EventType } from "../generated/Event.ts"
import type { CallOptions, EventOf } from "../generated/Messaging.ts"
import type { InFlight } from "../InFlight.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { During } from "../provider/Provider.ts"
import { closed, type Running } from "../Running.ts"
import { badOption } from "../WacError.ts"

/** Which events a subscription handles. */
export interface SubscriptionFilter<Type extends EventType = EventType> {
  /** Defaults to all types. */
  readonly types?: ReadonlyArray<Type>
}

/** How a subscription handles events. */
export interface SubscribeOptions {
  /**
   * How many events are handled at a time: 1 to 100, by default 1. Those of one message are always handled one at a
   * time, in order.
   */
  readonly concurrency?: number
}

/** One try to handle an event. */
export interface Try {
  /**
   * 1 for the first try. If greater, the event may have been handled before, completely or in part: an earlier try
   * failed, or its process ended before the result was recorded.
   */
  readonly attempt: number
  /**
   * Aborted if the result can no longer be recorded, because the instance closes or another process may have taken over:
   * so too once the storage could not be reached for about 10 seconds.
   */
  readonly signal: AbortSignal
}

/** Handles an event. If it throws or rejects, it is called again later for the same event. */
export type SubscriptionHandler<Type extends EventType> = (event: EventOf<Type>, now: Try) => unknown

/** See `Workspace.subscribe`. */
export type Subscribe = <Type extends EventType = EventType>(
  name: string,
  filter: SubscriptionFilter<Type>,
  handler: SubscriptionHandler<Type>,
  options?: SubscribeOptions
) => Promise<() => Promise<void>>

/** An event that was set aside after its tries failed for 24 hours. */
export interface FailedEvent {
  readonly event: Event
  /** How many tries were made. */
  readonly attempts: number
  /** When it was set aside, in ISO 8601 format. */
  readonly failedAt: string
  /** The message of the last error. */
  readonly error: string
}

/** How far a subscription has come. */
export interface SubscriptionStatus {
  readonly name: string
  /**
   * When the oldest event was recorded that it has not handled, in ISO 8601 format, apart from events that were set
   * aside; `null` if it has handled all.
   */
  readonly oldestUnhandledAt: string | null
  /** How many events are set aside; 1000 stands for 1000 or more. */
  readonly failed: number
}

/** Manages the subscriptions of a workspace, whichever process runs them. */
export interface Subscriptions {
  /** By name. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<SubscriptionStatus>>
  /** Events that were set aside, oldest first. They are deleted with their events, after the retention of events. */
  readonly failed: (name: string, options?: CallOptions) => Listing.Listing<FailedEvent>
  /**
   * Tries an event again that was set aside, for another 24 hours, or all of the subscription if no event is given.
   * Later events of its message may have been handled meanwhile. Resolves to how many are tried again.
   */
  readonly retry: (name: string, eventId?: string, options?: CallOptions) => Promise<number>
  /** Gives up an event that was set aside, or all of the subscription. Resolves to how many were given up. */
  readonly discard: (name: string, eventId?: string, options?: CallOptions) => Promise<number>
  /**
   * Deletes a subscription with its place, so that events no longer wait for it. Stop it first: a running one begins
   * again with later events.
   */
  readonly remove: (name: string, options?: CallOptions) => Promise<void>
}

const readName = Schema.is(PlainText.between(1, Subscription.maxName))

/** Checks the name of a subscription. */
const nameOf = (name: unknown): Effect.Effect<string, Errors.InvalidBody> =>
  readName(name) ? Effect.succeed(name) : Effect.fail(
    new Errors.InvalidBody({
      reason: "invalid_field",
      param: "name",
      message: `name must be text of 1 to ${Subscription.maxName} characters`
    })
  )

const readFilter = Input.read(
  Schema.Struct({ types: Schema.optionalKey(Schema.Array(Core.EventType).check(Schema.isMinLength(1))) })
)

const readOptions = Input.read(
  Schema.Struct({
    concurrency: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Subscription.maxConcurrency }))
    )
  })
)

const iso = (at: number): string => DateTime.formatIso(DateTime.makeUnsafe(at))

/** The text of what a handler threw or rejected with. */
const reasonOf = (error: unknown): string => {
  const text = error instanceof Error && error.message !== "" ? error.message : String(error)
  return PlainText.cleaned(text)
}

const chosen = (eventId: string | undefined): Effect.Effect<Id.EventId | null, Errors.NotFound> =>
  eventId === undefined
    ? Effect.succeed(null)
    : Lookup.find("event", Id.parse(Id.EventId, eventId), (id) => Effect.succeedSome(id))

/** Fails if an event was named and none was changed. */
const counted = (eventId: string | undefined, count: number): Effect.Effect<number, Errors.NotFound> =>
  eventId !== undefined && count === 0
    ? Effect.fail(new Errors.NotFound({ message: "the subscription has set no such event aside" }))
    : Effect.succeed(count)

export const make = Effect.map(SubscriptionStore.SubscriptionStore, (store) => {
  const choose = (
    name: string,
    eventId: string | undefined,
    workspaceId: Id.WorkspaceId,
    then: (choice: SubscriptionStore.Choice) => ReturnType<typeof store.discard>
  ) =>
    Effect.gen(function*() {
      const choice = { workspaceId, name: yield* nameOf(name), eventId: yield* chosen(eventId) }
      return yield* counted(eventId, yield* then(choice))
    })

  return ({ run }: Running, workspaceId: Id.WorkspaceId): Subscriptions => ({
    list: (options) =>
      run(
        Effect.map(
          store.standings(workspaceId),
          (all) =>
            all.map(({ oldestUnhandledAt, ...standing }) => ({
              ...standing,
              oldestUnhandledAt: oldestUnhandledAt === null ? null : iso(oldestUnhandledAt)
            }))
        ),
        { options }
      ),
    failed: (name, options) =>
      Listing.make(
        { run },
        "evt",
        (page) => Effect.flatMap(nameOf(name), (name) => store.failed({ workspaceId, name }, page)),
        ({ attempts, event, failedAt, failure }) => ({
          event: shown(event),
          attempts,
          failedAt: iso(failedAt),
          error: failure
        }),
        options
      ),
    retry: (name, eventId, options) =>
      run(
        choose(
          name,
          eventId,
          workspaceId,
          (choice) => Effect.flatMap(DateTime.now, ({ epochMilliseconds: now }) => store.retry({ ...choice, now }))
        ),
        { options }
      ),
    discard: (name, eventId, options) => run(choose(name, eventId, workspaceId, store.discard), { options }),
    remove: (name, options) =>
      run(
        Effect.gen(function*() {
          const isRemoved = yield* store.remove({ workspaceId, name: yield* nameOf(name) })
          if (!isRemoved) return yield* new Errors.NotFound({ message: "there is no such subscription" })
        }),
        { options }
      )
  })
})

type Needs = Effect.Services<ReturnType<typeof SubscriptionRunner.start>>

/** Returns the functions that start subscriptions (`of`), and that stop all of them (`stopAll`). */
export const subscribing = Effect.gen(function*() {
  const services = yield* Effect.context<Needs>()
  const recorded = yield* Recorded

  return (context: Context.Context<never>, during: During, inFlight: InFlight, background: Background) => {
    const stops = new Set<() => Promise<void>>()
    const promise = Effect.runPromiseWith(context)

    const call =
      <Type extends EventType>(handler: SubscriptionHandler<Type>) => ({ attempt, event }: SubscriptionStep.Begun) =>
        Effect.tryPromise({
          try: (signal) =>
            during(inFlight.hosted(async () => await handler(shown(event) as EventOf<Type>, { attempt, signal }))),
          catch: reasonOf
        })

    /** Stops every subscription. Each counts as work in flight meanwhile. */
    const stopAll = (): Promise<unknown> => Promise.all([...stops].map((stop) => stop()))

    const of = ({ run }: Running, workspaceId: Id.WorkspaceId): Subscribe => async (name, filter, handler, options) => {
      if (typeof handler !== "function") throw badOption("handler", "handler must be a function")
      if (inFlight.isStopped) throw closed()
      const stop = await run(
        Effect.gen(function*() {
          const { types = Core.EventType.literals } = yield* readFilter(filter)
          const { concurrency = 1 } = yield* readOptions(options ?? {})
          const chosen: SubscriptionRunner.Options = {
            workspaceId,
            name: yield* nameOf(name),
            types: [...new Set(types)],
            concurrency,
            recorded,
            handle: call(handler)
          }
          return yield* background.add({
            prepare: Effect.provideContext(SubscriptionRunner.open(chosen), services),
            // the runner runs in the job's scope, not in the instance's
            begin: Effect.gen(function*() {
              const scope = yield* Effect.scope
              const { stop } = yield* Effect.provideContext(
                SubscriptionRunner.start(chosen),
                Context.add(services, Scope.Scope, scope)
              )
              return stop
            })
          })
        })
      )
      const end = async (): Promise<void> => {
        stops.delete(end)
        inFlight.begin()
        await promise(stop).finally(inFlight.end)
      }
      stops.add(end)
      // the instance began to close meanwhile, and has stopped only the subscriptions that existed then
      if (inFlight.isStopped) void end()
      return end
    }

    return { of, stopAll }
  }
})
