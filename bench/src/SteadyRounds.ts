/**
 * Runs rounds of events at a steady rate, all contestants in turn.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { DeliveryContestant, Latency } from "./DeliveryContestant.ts"

export interface Plan {
  readonly rounds: number
  readonly perSecond: number
  /** The length of a round. */
  readonly seconds: number
}

/** The latencies of a contestant, by round. */
export interface Steady {
  readonly name: string
  readonly rounds: ReadonlyArray<Latency>
}

/** How long each contestant runs before the first round that counts, in seconds. */
const warmUp = 3

/** Measures the contestants that have a queue. */
export const measure = (
  contestants: ReadonlyArray<DeliveryContestant>,
  { perSecond, rounds, seconds }: Plan
): Effect.Effect<ReadonlyArray<Steady>, BenchFailed> =>
  Effect.gen(function*() {
    const entries = contestants.flatMap(({ name, steady }) =>
      steady === undefined ? [] : [{ name, steady, rounds: Array.of<Latency>() }]
    )
    for (const { steady } of entries) yield* steady({ perSecond, seconds: warmUp })
    for (let turn = 0; turn < rounds; turn++) {
      for (const { rounds, steady } of entries) rounds.push(yield* steady({ perSecond, seconds }))
    }
    return entries
  })
