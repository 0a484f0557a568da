/**
 * How a receiver behaved over time (`GET /internal/webhook/receiver`, contract §6).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import * as workspace from "../dashboard/workspace.ts"
import { call } from "../harness.ts"

describe("the report of a receiver", () => {
  it.live("attempts are counted by outcome and duration, in the step in which they began, and the webhook's outage is there", () =>
    Effect.gen(function*() {
      const { clock, pass, session, url } = yield* workspace.failing
      const report = (query = "") =>
        Effect.map(call(`${url}/internal/webhook/receiver${query}`, { headers: session }), ({ body }) => body)
      const counted = yield* checks.until(report("?period=hour"), ({ outcomes }) => outcomes.status5xx >= 5)
      assert.strictEqual(counted.stepSeconds, 300)
      assert.strictEqual(counted.steps.length, 12)
      assert.strictEqual(
        counted.steps.reduce((sum: number, { outcomes }: typeof counted) => sum + outcomes.status5xx, 0),
        counted.outcomes.status5xx
      )
      assert.isAtLeast(counted.p95Ms, counted.p50Ms)
      const day = yield* report()
      assert.deepStrictEqual([day.stepSeconds, day.steps.length], [3600, 24])
      assert.isAtLeast(day.outcomes.status5xx, 5)
      // alerts are looked for by the minute
      yield* pass("1 minute")
      const { outages: [outage] } = yield* checks.until(report("?period=hour"), ({ outages }) => outages.length > 0)
      assert.deepInclude(outage, { kind: "failing", until: null })
      assert.isAtMost(Date.parse(outage.since), clock.currentTimeMillisUnsafe())
    }))
})
