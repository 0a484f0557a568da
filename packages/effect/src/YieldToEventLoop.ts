/**
 * Yields to the event loop. The memory storage responds immediately, so a host that keeps calling would otherwise never
 * let the awaited work happen.
 */
import { Effect } from "effect"

/** A yield happens once per this many calls; it costs a third of an in-memory send. */
const every = 32

/** Run the returned effect before each call: on every {@link every}th call it yields to the event loop. */
export const make = (): Effect.Effect<void> => {
  let calls = 0
  return Effect.suspend(() => ++calls % every === 0 ? Effect.yieldNow : Effect.void)
}
