/**
 * Events (specification §6, contract §6): reading recorded events, and calling listeners in this process.
 */
import { EventsApi } from "@wac/api"
import {
  Event as Core,
  Events as Service,
  type EventStore,
  type Id,
  type Page,
  Polling,
  RepeatedFailure
} from "@wac/core"
import { Cause, Clock, Context, Duration, Effect, Fiber, Schema, Semaphore } from "effect"
import type { Background } from "../Background.ts"
import type { Event, EventType } from "../generated/Event.ts"
import type * as Messaging from "../generated/Messaging.ts"
import type { EventFilter, EventOf } from "../generated/Messaging.ts"
import type { InFlight } from "../InFlight.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { During } from "../provider/Provider.ts"
import type { Running } from "../Running.ts"
import { written } from "../TimeInput.ts"
import { badOption } from "../WacError.ts"
import { Recorded } from "./Recorded.ts"

/** Handles an event. If it throws or rejects, the error is logged, and no listener misses an event. */
export type Listener<Type extends EventType> = (event: EventOf<Type>) => unknown

/** The recorded events of a workspace. */
export interface Events extends Messaging.Events {
  readonly get: (id: string) => Promise<Event>
}

/** See `Workspace.on`. */
export type On = <Type extends EventType>(type: Type, listener: Listener<Type>) => () => void

const readFilter = Input.read(Schema.Struct({ ...EventsApi.filter, order: EventsApi.order }))

/** An event as the host gets it. The core's constructors determine the fields of each type. */
export const shown = (event: Core.Event): Event => Core.combined(event) as unknown as Event

/** How many events are read at a time for a listener. */
const pageSize = 100

/** How often a listener looks for events of other processes, of which this process is not notified. */
const pollEvery = Duration.seconds(1)

/** How long a listener waits after a failed read. */
const retryAfter = Duration.seconds(1)

export const make = Effect.map(Service.Events, (events) => (running: Running, workspaceId: Id.WorkspaceId): Events => ({
  list: <Type extends EventType>(filter: EventFilter<Type> = {}, options?: Messaging.CallOptions) =>
    Listing.make(
      running,
      (page) =>
        Effect.flatMap(
          readFilter(written(filter)),
          ({ order, since, type }) => {
            const wanted = { since: since?.epochMilliseconds, type } satisfies EventStore.EventFilter
            return order === "newest"
              ? events.latest(workspaceId, wanted, page)
              : events.list(workspaceId, wanted, page)
          }
        ),
      (event) => shown(event) as EventOf<Type>,
      options,
      (page, request) => filter?.order === "newest" ? page.next : Service.resumeAfter(page, request)
    ),
  get: (id) => running.run(Effect.map(events.get(workspaceId, id), shown))
}))

/**
 * Returns the function that adds listeners. Each listener follows the recorded events on its own, so a slow one does
 * not delay the others.
 */
export const listening = Effect.gen(function*() {
  const events = yield* Service.Events
  const recorded = yield* Recorded
  const polling = yield* Polling.Polling

  return (context: Context.Context<never>, during: During, inFlight: InFlight, background: Background) => {
    const fork = Effect.runForkWith(context)
    const clock = Context.get(context, Clock.Clock)

    /** Follows the events of a workspace from a time on. If it begins again, it continues after the last event. */
    const follow = (workspaceId: Id.WorkspaceId, since: number, notify: (event: Core.Event) => Effect.Effect<void>) => {
      let after: string | null = null
      return (turn: Semaphore.Semaphore): Effect.Effect<never> =>
        Effect.gen(function*() {
          const seen = recorded.count()
          const page: Page.Page<Core.Event> = yield* events.list(workspaceId, { since }, { limit: pageSize, after })
          for (const event of page.items) {
            yield* turn.withPermits(1)(Effect.suspend(() => {
              after = event.id
              return notify(event)
            }))
          }
          if (page.next === null) yield* Effect.raceFirst(recorded.after(seen), polling.rest("events", pollEvery))
        }).pipe(
          // once the storage is available again, continues after the last event
          RepeatedFailure.watch("reading events for a listener"),
          Effect.catchCause(() => Effect.sleep(retryAfter)),
          Effect.forever
        )
    }

    return (workspaceId: Id.WorkspaceId): On => (type, listener) => {
      if (!Schema.is(Core.EventType)(type)) throw badOption("type", "type must be an event type such as message.sent")
      if (typeof listener !== "function") throw badOption("listener", "listener must be a function")
      const notify = (event: Core.Event) =>
        event.type !== type ?
          Effect.void :
          // the instance is closing: the listener gets no more events
          inFlight.isStopped ?
          Effect.never :
          Effect.promise(() =>
            during(inFlight.hosted(async () => await listener(shown(event) as EventOf<typeof type>)))
          )
            .pipe(
              Effect.asVoid,
              Effect.catchDefect((error) =>
                Effect.logError(`a listener to ${type} failed at ${event.id}`, Cause.die(error))
              )
            )
      const since = clock.currentTimeMillisUnsafe()
      const following = follow(workspaceId, since, notify)
      const added = fork(background.add<never>({
        prepare: Effect.void,
        begin: Effect.gen(function*() {
          const turn = yield* Semaphore.make(1)
          yield* Effect.forkScoped(following(turn))
          // waits for the running call, and keeps the permit, so that the listener is not called again
          return Effect.asVoid(turn.take(1))
        })
      }))
      return () => void fork(Effect.flatten(Fiber.join(added)))
    }
  }
})
