/**
 * Events (specification §6, contract §6): reading recorded events, and calling listeners in this process.
 */
import { EventsApi } from "@wac/api"
import { Event as Core, Events as Service, type EventStore, type Id, Polling, RepeatedFailure } from "@wac/core"
import { Cause, type Context, Duration, Effect, Fiber, Schema, Semaphore } from "effect"
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
  readonly get: (id: string, options?: Messaging.CallOptions) => Promise<Event>
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
      "evt",
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
      options
    ),
  get: (id, options) => running.run(Effect.map(events.get(workspaceId, id), shown), { options })
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

    /**
     * Finds where a listener begins, since its process's clock does not tell: after the newest events, apart from those
     * that this process has recorded since the listener was added (`own`). An event that is being committed meanwhile
     * may come before some of them: so it follows from the oldest of them on, and leaves out those that it found.
     */
    const findStart = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, own: ReadonlySet<Id.EventId>) {
      const earlier = new Set<Id.EventId>()
      let page: EventStore.EventPage
      let after: string | null = null
      // pages on while this process's own are among them, so that none is before the place
      do {
        page = yield* events.latest(workspaceId, {}, { limit: pageSize, after })
        after = page.next
        for (const { id } of page.items) if (!own.has(id)) earlier.add(id)
      } while (after !== null && page.items.some(({ id }) => own.has(id)))
      const isAfter = after !== null
      return { after: isAfter ? page.items.at(-1)!.id : null, place: isAfter ? page.places.at(-1) : undefined, earlier }
    })

    /**
     * Follows the events of a workspace from now on. If it begins again, it continues after the last event. An event is
     * passed on once `ready` has completed: if it is interrupted before, the event is still to come.
     */
    const follow = (
      workspaceId: Id.WorkspaceId,
      ready: Effect.Effect<void>,
      notify: (event: Core.Event) => Effect.Effect<void>
    ) => {
      const own = recorded.collect()
      let place: Effect.Success<ReturnType<typeof findStart>> | undefined
      const find = Effect.suspend(() =>
        place === undefined
          ? Effect.map(findStart(workspaceId, own.ids), (found) => {
            own.end()
            place = found
            return found
          })
          : Effect.succeed(place)
      )
      const following = (turn: Semaphore.Semaphore): Effect.Effect<never> =>
        Effect.gen(function*() {
          const seen = recorded.count()
          const place = yield* find
          const page: EventStore.EventPage = yield* events.list(workspaceId, {}, {
            limit: pageSize,
            after: place.after,
            // a listener may erase the customer of the event that it got
            place: place.place
          })
          for (const [i, event] of page.items.entries()) {
            yield* turn.withPermits(1)(Effect.andThen(
              ready,
              Effect.suspend(() => {
                place.after = event.id
                place.place = page.places[i]
                return place.earlier.delete(event.id) ? Effect.void : notify(event)
              })
            ))
          }
          if (page.next === null) yield* Effect.raceFirst(recorded.after(seen), polling.rest("events", pollEvery))
        }).pipe(
          // once the storage is available again, continues after the last event
          RepeatedFailure.watch("reading events for a listener"),
          Effect.catchCause(() => Effect.sleep(retryAfter)),
          Effect.forever
        )
      return { find, following, end: own.end }
    }

    return (workspaceId: Id.WorkspaceId): On => (type, listener) => {
      if (!Schema.is(Core.EventType)(type)) throw badOption("type", "type must be an event type such as message.sent")
      if (typeof listener !== "function") throw badOption("listener", "listener must be a function")
      /** The call that is running. It may outlive the work in which it began, and the next call waits for it. */
      let running: Promise<void> | undefined
      const ready = Effect.suspend(() => running === undefined ? Effect.void : Effect.promise(() => running!))
      const call = (event: Core.Event): Promise<unknown> => {
        const called = during(inFlight.hosted(async () => await listener(shown(event) as EventOf<typeof type>)))
        const ended = () => {
          running = undefined
        }
        running = called.then(ended, ended)
        return called
      }
      const notify = (event: Core.Event) =>
        event.type !== type ?
          Effect.void :
          // the instance is closing: the listener gets no more events
          inFlight.isStopped ?
          Effect.never :
          Effect.promise(() => call(event)).pipe(
            Effect.asVoid,
            Effect.catchDefect((error) =>
              Effect.logError(`a listener to ${type} failed at ${event.id}`, Cause.die(error))
            )
          )
      const { end, find, following } = follow(workspaceId, ready, notify)
      const added = fork(background.add<never>({
        // where it begins does not depend on when it may follow; if this fails, it is found then
        prepare: Effect.asVoid(Effect.exit(find)),
        begin: Effect.gen(function*() {
          const turn = yield* Semaphore.make(1)
          yield* Effect.forkScoped(following(turn))
          // waits for the running call, and keeps the permit, so that the listener is not called again
          return Effect.asVoid(turn.take(1))
        })
      }))
      return () => {
        end()
        fork(Effect.flatten(Fiber.join(added)))
      }
    }
  }
})
