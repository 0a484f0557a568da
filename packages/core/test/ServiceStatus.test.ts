import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as ServiceStatus from "../src/ServiceStatus.ts"

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
