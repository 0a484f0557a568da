/**
 * The loop of a background task: rounds of work, with a rest after each. If a round fails, the failure is logged and
 * the next round runs as usual.
 */
import { Effect } from "effect"
import * as RepeatedFailure from "./RepeatedFailure.ts"

/** Repeats rounds of work forever. `work` names the task in the log, as the subject of a sentence. */
export const make = <E, R, R2>(
  work: string,
  round: Effect.Effect<unknown, E, R>,
  rest: Effect.Effect<void, never, R2>
): Effect.Effect<never, never, R | R2> =>
  round.pipe(RepeatedFailure.watch(work), Effect.ignoreCause, Effect.andThen(rest), Effect.forever)

/** {@link make} with a rest before the first round. */
export const rested = <E, R, R2>(
  work: string,
  round: Effect.Effect<unknown, E, R>,
  rest: Effect.Effect<void, never, R2>
): Effect.Effect<never, never, R | R2> => Effect.andThen(rest, make(work, round, rest))
