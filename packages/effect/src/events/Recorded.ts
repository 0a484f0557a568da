/**
 * Notifies listeners in this process of recorded events, so that they read immediately. They find events of other
 * processes by polling, a little later.
 */
import { ContactStore, MessageStore } from "@wac/core"
import { Context, Effect, Layer } from "effect"

/** The number of recordings in this process, which listeners watch. */
export class Recorded extends Context.Service<Recorded, {
  /** How often an event may have been recorded. */
  readonly count: () => number
  /** Counts a recording, and wakes the listeners that wait. */
  readonly note: Effect.Effect<void>
  /** Waits until the count differs from this one. */
  readonly after: (count: number) => Effect.Effect<void>
}>()("@wac/effect/events/Recorded") {
  static readonly layer = Layer.sync(Recorded, () => {
    let count = 0
    const waiting = new Set<() => void>()
    return Recorded.of({
      count: () => count,
      note: Effect.sync(() => {
        count++
        for (const wake of waiting) wake()
        waiting.clear()
      }),
      after: (seen) =>
        Effect.callback<void>((resume) => {
          if (count !== seen) return resume(Effect.void)
          // resuming runs the fiber immediately, in the middle of the recording step, so it must yield first
          const wake = () => resume(Effect.yieldNow)
          waiting.add(wake)
          return Effect.sync(() => waiting.delete(wake))
        })
    })
  })
}

/** The ports that record events, wrapped to count recordings. */
export const inFront = Layer.mergeAll(
  Layer.effect(
    MessageStore.MessageStore,
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const { note } = yield* Recorded
      return {
        ...store,
        settle: (command) => Effect.tap(store.settle(command), note),
        applyReport: (command) => Effect.tap(store.applyReport(command), note),
        sweep: (now) => Effect.tap(store.sweep(now), note)
      }
    })
  ),
  Layer.effect(
    ContactStore.ContactStore,
    Effect.gen(function*() {
      const store = yield* ContactStore.ContactStore
      const { note } = yield* Recorded
      return { ...store, recordInbound: (command) => Effect.tap(store.recordInbound(command), note) }
    })
  )
)
