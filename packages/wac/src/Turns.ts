/**
 * Letting the event loop turn. What is kept in memory answers at once: a host that asked on and on would never let
 * happen what it waits for.
 */
import { Effect } from "effect"

/** Calls between two turns: a turn costs a third of a send in memory. */
const every = 32

/** To go before each call; every so many of them, it waits for a turn. */
export const make = (): Effect.Effect<void> => {
  let calls = 0
  return Effect.suspend(() => ++calls % every === 0 ? Effect.yieldNow : Effect.void)
}
