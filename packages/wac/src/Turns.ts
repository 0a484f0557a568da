/**
 * Lets the event loop turn. The memory storage responds immediately, so a host that keeps calling would otherwise never
 * let the awaited work happen.
 */
import { Effect } from "effect"

/** Calls between two turns. A turn costs a third of a send in memory. */
const every = 32

/** Run the returned effect before each call: on every {@link every}th call it waits for a turn. */
export const make = (): Effect.Effect<void> => {
  let calls = 0
  return Effect.suspend(() => ++calls % every === 0 ? Effect.yieldNow : Effect.void)
}
