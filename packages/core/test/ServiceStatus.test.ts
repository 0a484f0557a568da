import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { InboundPostStore } from "../src/inbound/InboundPostStore.ts"
import { Readiness } from "../src/Readiness.ts"
import * as ServiceStatus from "../src/ServiceStatus.ts"
import { Storage } from "../src/Storage.ts"
import { StoreError } from "../src/StoreError.ts"
import { DeliveryStore } from "../src/webhooks/DeliveryStore.ts"
import { minute } from "./checks.ts"
import { start } from "./samples.ts"

const now = 1_000_000
const well: ServiceStatus.Observations = { isReady: true, oldestDueAt: null, oldestPostAt: null }
const late = now - Duration.toMillis(ServiceStatus.lateAfter)

const judged = (seen: Partial<ServiceStatus.Observations>) => {
  const { parts, status } = ServiceStatus.judge({ ...well, ...seen }, now)
  return [status, parts.requests, parts.deliveries, parts.inbound]
}

describe("the status of the service", () => {
  it("the status of the service is that of its worst part", () => {
    assert.deepStrictEqual(judged({}), ["operational", "operational", "operational", "operational"])
    assert.deepStrictEqual(judged({ oldestDueAt: late }), ["operational", "operational", "operational", "operational"])
    assert.deepStrictEqual(judged({ oldestDueAt: late - 1 }), ["degraded", "operational", "degraded", "operational"])
    assert.deepStrictEqual(judged({ oldestPostAt: late - 1 }), ["degraded", "operational", "operational", "degraded"])
    assert.deepStrictEqual(judged({ isReady: false }), ["down", "down", "operational", "operational"])
    assert.deepStrictEqual(judged({ oldestDueAt: undefined, oldestPostAt: late - 1 }), [
      "down",
      "operational",
      "down",
      "degraded"
    ])
  })
})

/** The status that a process reports whose clock is `ahead`, while the oldest work has waited for this long. */
const observed = (
  ahead: number,
  waited: number,
  storageNow: Storage["Service"]["now"] = (asked) => Effect.succeed(asked - ahead)
) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(start + ahead)
    return yield* yield* ServiceStatus.observer
  }).pipe(
    Effect.provide(Layer.mergeAll(
      Layer.mock(Storage, { name: "a database", durable: true, now: storageNow }),
      Layer.mock(Readiness, { check: Effect.void }),
      Layer.mock(DeliveryStore, {
        backlog: () =>
          Effect.succeed({
            oldestDueAt: start - waited,
            pending: 1,
            failingWebhooks: 0,
            pausedWebhooks: 0,
            webhooksByBacklog: []
          })
      }),
      Layer.mock(InboundPostStore, {
        backlog: Effect.succeed({ waiting: 1, oldestReceivedAt: start - waited, failing: 0, unreadable: 0 })
      })
    ))
  )

describe("the status that a process observes", () => {
  it.effect.each([10 * minute, 0, -10 * minute])(
    "the status is judged by the storage's clock, even if the process's clock is wrong by %i ms",
    (ahead) =>
      Effect.gen(function*() {
        const parts = { requests: "operational", deliveries: "operational", inbound: "operational" } as const
        assert.deepStrictEqual(yield* observed(ahead, 50), { status: "operational", parts, checkedAt: start })
        const late = { ...parts, deliveries: "degraded", inbound: "degraded" } as const
        assert.deepStrictEqual(yield* observed(ahead, 2 * minute), {
          status: "degraded",
          parts: late,
          checkedAt: start
        })
      })
  )

  it.effect("if the storage does not return its time, the age of the work is unknown and the parts count as down", () =>
    Effect.gen(function*() {
      const { parts } = yield* observed(0, 50, () => Effect.fail(new StoreError({ operation: "Storage.now" })))
      assert.deepStrictEqual(parts, { requests: "operational", deliveries: "down", inbound: "down" })
    }))
})
