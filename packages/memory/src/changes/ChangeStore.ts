/**
 * `ChangeStore` in memory: each method is one synchronous step over `State`.
 */
import { type Change, ChangeStore } from "@wac/core"
import { Effect, Layer, Queue } from "effect"
import { type Memory, State } from "../State.ts"

const listen = Effect.fnUntraced(function*(memory: Memory) {
  const queue = yield* Queue.sliding<Change.Change | null>(ChangeStore.bufferSize)
  const tell = (change: Change.Change) => void Queue.offerUnsafe(queue, change)
  yield* Effect.acquireRelease(
    Effect.sync(() => memory.changeListeners.add(tell)),
    () => Effect.sync(() => memory.changeListeners.delete(tell))
  )
  return queue
})

export const layer = Layer.effect(
  ChangeStore.ChangeStore,
  Effect.map(State, (memory) =>
    ChangeStore.ChangeStore.of({
      publish: (changes) =>
        Effect.sync(() => {
          for (const change of changes) for (const tell of memory.changeListeners) tell(change)
        }),
      changes: Effect.map(listen(memory), Queue.take)
    }))
)
