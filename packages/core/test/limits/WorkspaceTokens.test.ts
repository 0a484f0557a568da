import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { RateLimited } from "../../src/Errors.ts"
import * as Limits from "../../src/limits/Limits.ts"
import * as RateLimit from "../../src/limits/RateLimit.ts"
import * as WorkspaceTokens from "../../src/limits/WorkspaceTokens.ts"
import { at } from "../clock.ts"
import { start } from "../samples.ts"
import { foundation, world } from "../world.ts"

const limits: Limits.Limits = { ...Limits.standard, workspaceTiers: { ...Limits.standard.workspaceTiers, slow: 2 } }

/** A workspace with a burst of four requests, and one more each half second. */
const slow = Effect.gen(function*() {
  const { workspace } = yield* world({ tier: "slow" })
  const spend = yield* WorkspaceTokens.spender
  return (cost: WorkspaceTokens.Cost) => Effect.result(spend(workspace, cost))
})

const inSlow = <E>(test: Effect.Effect<void, E, Effect.Services<typeof slow>>) => () =>
  test.pipe(Effect.provideService(Limits.CurrentLimits, limits), Effect.provide(foundation), at(start))

const waitOf = (spent: Result.Result<void, unknown>): number => {
  const error = Result.getOrThrow(Result.flip(spent))
  assert.instanceOf(error, RateLimited)
  return Duration.toMillis((error as RateLimited).retryAfter)
}

describe("the tokens of a workspace", () => {
  it.effect(
    "a request that costs several tokens waits until all of them are there, its authentication's too",
    inSlow(Effect.gen(function*() {
      const spend = yield* slow
      const request = { tokens: 1, paid: 0 }
      const rest = { tokens: 4, paid: 1 }
      assert.isTrue(Result.isSuccess(yield* spend({ tokens: 3, paid: 0 })))
      assert.isTrue(Result.isSuccess(yield* spend(request)))
      const refused = waitOf(yield* spend(rest))
      assert.strictEqual(refused, 2000)
      yield* TestClock.adjust(refused - 1)
      assert.strictEqual(waitOf(yield* spend({ tokens: 4, paid: 0 })), 1)
      yield* TestClock.adjust(1)
      assert.isTrue(Result.isSuccess(yield* spend(request)))
      assert.isTrue(Result.isSuccess(yield* spend(rest)))
    }))
  )

  it.effect(
    "the wait of a refused request counts the tokens that are left",
    inSlow(Effect.gen(function*() {
      const spend = yield* slow
      assert.isTrue(Result.isSuccess(yield* spend({ tokens: 2, paid: 0 })))
      const readings: Array<RateLimit.Reading> = []
      const refused = yield* spend({ tokens: 4, paid: 0 }).pipe(
        Effect.provideService(RateLimit.Observer, (reading) => void readings.push(reading))
      )
      assert.strictEqual(waitOf(refused), 1000)
      assert.deepStrictEqual(readings.map(({ allowed, resetAfter }) => [allowed, resetAfter]), [[false, 1000]])
      // nothing was spent
      assert.isTrue(Result.isSuccess(yield* spend({ tokens: 2, paid: 0 })))
      assert.strictEqual(waitOf(yield* spend({ tokens: 1, paid: 0 })), 500)
    }))
  )
})
