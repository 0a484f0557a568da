/**
 * How the highest rate is found.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SteadyResult } from "../src/DeliveryContestant.ts"
import * as LiveRounds from "../src/LiveRounds.ts"

/** A contestant that delivers in time up to a rate, and a storage that takes events up to another one. */
const able = (inTime: number, recordable: number) => (perSecond: number): SteadyResult => ({
  p50: 1,
  p99: perSecond <= inTime ? LiveRounds.mostLate : LiveRounds.mostLate + 1,
  most: 100,
  perSecond: Math.min(perSecond, recordable)
})

it.effect("the rate is raised until it does not hold, and the last one that held is the figure", () =>
  Effect.gen(function*() {
    const tried: Array<number> = []
    const contestant = able(313, Infinity)
    const reached = yield* LiveRounds.highest((perSecond) => {
      tried.push(perSecond)
      return Effect.succeed(contestant(perSecond))
    })
    assert.deepStrictEqual(tried, [200, 250, 313, 391, 391])
    assert.strictEqual(reached, 313)
  }))

it.effect("a rate that the storage does not take ends the search, at most a twentieth below what was asked for", () =>
  Effect.gen(function*() {
    const contestant = able(Infinity, 300)
    assert.strictEqual(yield* LiveRounds.highest((rate) => Effect.succeed(contestant(rate))), 300)
  }))

it.effect("one late trial of a rate that holds is no end, and a contestant that never holds has none", () =>
  Effect.gen(function*() {
    let trials = 0
    const contestant = able(391, Infinity)
    const disturbed = yield* LiveRounds.highest((perSecond) =>
      Effect.succeed({ ...contestant(perSecond), ...(trials++ === 1 ? { p99: 1000 } : {}) })
    )
    assert.strictEqual(disturbed, 391)
    assert.strictEqual(yield* LiveRounds.highest((rate) => Effect.succeed(able(0, Infinity)(rate))), 0)
  }))
