import { assert, describe, it } from "@effect/vitest"
import { drainSlots, freeSlots, nextDrainAt, nextSlotAt } from "../../src/webhooks/AttemptSlots.ts"
import { between, checks } from "../checks.ts"
import { health, start } from "../samples.ts"

describe("the number of attempts that may begin", () => {
  const failing = health({ consecutiveFailures: 5, failuresSince: start - 100, lastAttemptAt: start })
  const healthy = health({ lastSuccessAt: start - 100 })

  it.each([
    ["healthy, none under way", healthy, 0, start, 16],
    ["healthy, some under way", healthy, 15, start, 1],
    ["healthy, all under way", healthy, 16, start, 0],
    ["healthy, more under way than there may be", healthy, 20, start, 0],
    ["slow, some under way", health({ lastSuccessAt: start, slowAt: start }), 3, start, 13],
    ["slow, failed since", health({ lastSuccessAt: start, slowAt: start, consecutiveFailures: 1 }), 0, start, 4],
    ["never attempted", health(), 0, start, 1],
    ["never attempted, one under way", health(), 1, start, 0],
    ["never succeeded", health({ consecutiveFailures: 4, failuresSince: start }), 0, start, 1],
    ["one failure, some under way", { ...healthy, consecutiveFailures: 1, lastAttemptAt: start }, 3, start, 1],
    ["one failure", { ...healthy, consecutiveFailures: 1, lastAttemptAt: start }, 0, start, 4],
    ["four failures", { ...healthy, consecutiveFailures: 4, lastAttemptAt: start }, 0, start, 4],
    ["four failures, those of better times still under way", { ...healthy, consecutiveFailures: 4 }, 9, start, 0],
    ["failing, at once", failing, 0, start, 0],
    ["failing, after 999 ms", failing, 0, start + 999, 0],
    ["failing, after a second", failing, 0, start + 1000, 1],
    ["failing, after an hour", failing, 0, start + 3_600_000, 1],
    ["failing, one under way", failing, 1, start + 3_600_000, 0],
    ["failing, those of better times still under way", failing, 12, start + 3_600_000, 0],
    ["failing, and nobody knows since when", health({ consecutiveFailures: 5 }), 0, start, 1]
  ])("%s", (_, given, inFlight, now, slots) => {
    assert.strictEqual(freeSlots({ pausedAt: null, health: given }, inFlight, now), slots)
    assert.strictEqual(freeSlots({ pausedAt: 0, health: given }, inFlight, now), 0)
  })

  it("a failing webhook has a time for its next attempt", () => {
    assert.strictEqual(nextSlotAt(failing), start + 1000)
    assert.isNull(nextSlotAt(health({ consecutiveFailures: 4, lastAttemptAt: start })))
    assert.isNull(nextSlotAt(health({ consecutiveFailures: 5 })))
  })

  it.prop("a failing webhook has a slot only from then", { after: between(-3000, 3000) }, ({ after }) => {
    const now = start + after
    assert.strictEqual(freeSlots({ pausedAt: null, health: failing }, 0, now), now >= nextSlotAt(failing)! ? 1 : 0)
  }, checks)
})

describe("a backlog", () => {
  it.each([
    ["none under way", { inFlight: 0, nextAt: start }, 16, 8],
    ["some under way", { inFlight: 5, nextAt: start }, 16, 3],
    ["few slots free", { inFlight: 5, nextAt: start }, 2, 2],
    ["all under way", { inFlight: 8, nextAt: start }, 8, 0],
    ["more under way than there may be", { inFlight: 9, nextAt: start }, 7, 0],
    ["no slot free", { inFlight: 0, nextAt: start }, 0, 0],
    ["too early", { inFlight: 0, nextAt: start + 1 }, 16, 0]
  ])("%s", (_, drain, free, slots) => {
    assert.strictEqual(drainSlots(drain, free, start), slots)
  })

  it("a backlog continues 10 ms after each attempt, and saves nothing up", () => {
    assert.strictEqual(nextDrainAt({ nextAt: start - 10_000 }, 8, start), start + 80)
    assert.strictEqual(nextDrainAt({ nextAt: start }, 1, start), start + 10)
  })
})
