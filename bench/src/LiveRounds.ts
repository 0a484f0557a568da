/**
 * The highest rate of events at which a contestant still delivers them in time, all contestants in turn.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { DeliveryContestant, SteadyResult } from "./DeliveryContestant.ts"

/** What the 99th percentile from the record to the arrival may be, in milliseconds. */
export const mostLate = 60

/** The first rate that is tried, in events per second, and how much higher each further one is. */
const first = 200
const growth = 1.25

/** How long each rate is tried, in seconds. */
const trial = 4

/** How much of a rate must be recorded for it to be tried: the recorder waits for the storage, as a host does. */
const leastRecorded = 0.95

/** The highest rates of a contestant, by round. */
export interface Live {
  readonly name: string
  readonly rates: ReadonlyArray<number>
}

/** Whether a rate was recorded and delivered in time. */
const holds = (perSecond: number, tried: SteadyResult): boolean =>
  tried.p99 <= mostLate && tried.perSecond >= perSecond * leastRecorded

/**
 * Raises the rate until it does not hold. A rate that does not hold is tried once more, since the machine may have been
 * busy with something else. Gives the rate that was recorded in the last trial that held; 0 if none did.
 */
export const highest = <E>(
  tryRate: (perSecond: number) => Effect.Effect<SteadyResult, E>
): Effect.Effect<number, E> =>
  Effect.gen(function*() {
    let reached = 0
    for (let perSecond = first;; perSecond *= growth) {
      const rate = Math.round(perSecond)
      let tried = yield* tryRate(rate)
      if (!holds(rate, tried)) tried = yield* tryRate(rate)
      if (!holds(rate, tried)) return reached
      reached = tried.perSecond
    }
  })

/** Measures the contestants that have a queue. */
export const measure = (
  contestants: ReadonlyArray<DeliveryContestant>,
  rounds: number
): Effect.Effect<ReadonlyArray<Live>, BenchFailed> =>
  Effect.gen(function*() {
    const entries = contestants.flatMap(({ name, steady }) =>
      steady === undefined ? [] : [{ name, steady, rates: Array.of<number>() }]
    )
    for (let turn = 0; turn < rounds; turn++) {
      for (const { rates, steady } of entries) {
        rates.push(yield* highest((perSecond) => steady({ perSecond, seconds: trial })))
      }
    }
    return entries
  })
