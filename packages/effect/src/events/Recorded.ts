/**
 * Notifies listeners in this process of recorded events, so that they read immediately. They find events of other
 * processes by polling, a little later.
 */
import { ContactStore, type Id, MessageStore } from "@wac/core"
import { Context, Effect, Layer } from "effect"

/** The ids of events that steps of this process may have recorded since a moment. */
export interface Collected {
  readonly ids: ReadonlySet<Id.EventId>
  readonly end: () => void
}

/** The recordings in this process, which listeners watch. */
export class Recorded extends Context.Service<Recorded, {
  /** How often an event may have been recorded. */
  readonly count: () => number
  /** Wraps a step that may record events under these ids: counts it, and wakes the listeners that wait. */
  readonly recording: (
    events: ReadonlyArray<Id.EventId>
  ) => <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits until the count differs from this one. */
  readonly after: (count: number) => Effect.Effect<void>
  /** Collects the ids of all events that steps may record from now on, until it is ended. */
  readonly collect: () => Collected
}>()("@wac/effect/events/Recorded") {
  static readonly layer = Layer.sync(Recorded, () => {
    let count = 0
    const waiting = new Set<() => void>()
    const collections = new Set<Set<Id.EventId>>()
    const note = Effect.sync(() => {
      count++
      for (const wake of waiting) wake()
      waiting.clear()
    })
    return Recorded.of({
      count: () => count,
      recording: (events) => (step) =>
        Effect.suspend(() => {
          for (const ids of collections) for (const id of events) ids.add(id)
          return Effect.tap(step, note)
        }),
      after: (seen) =>
        Effect.callback<void>((resume) => {
          if (count !== seen) return resume(Effect.void)
          // resuming runs the fiber immediately, in the middle of the recording step, so it must yield first
          const wake = () => resume(Effect.yieldNow)
          waiting.add(wake)
          return Effect.sync(() => waiting.delete(wake))
        }),
      collect: () => {
        const ids = new Set<Id.EventId>()
        collections.add(ids)
        return { ids, end: () => void collections.delete(ids) }
      }
    })
  })
}

/** The ports that record events, wrapped to note recordings. */
export const inFront = Layer.mergeAll(
  Layer.effect(
    MessageStore.MessageStore,
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const { recording } = yield* Recorded
      return {
        ...store,
        settle: (command) => recording(command.ids.events)(store.settle(command)),
        applyReport: (command) => recording(command.ids.events)(store.applyReport(command)),
        // the storage chooses the ids of these events
        sweep: (now) => recording([])(store.sweep(now))
      }
    })
  ),
  Layer.effect(
    ContactStore.ContactStore,
    Effect.gen(function*() {
      const store = yield* ContactStore.ContactStore
      const { recording } = yield* Recorded
      return { ...store, recordInbound: (command) => recording(command.ids.events)(store.recordInbound(command)) }
    })
  )
)
