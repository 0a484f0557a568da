import { assert, describe, it } from "@effect/vitest"
import * as Campaign from "../../src/campaigns/Campaign.ts"
import * as Heartbeat from "../../src/queue/Heartbeat.ts"
import { minute, second } from "../checks.ts"
import { id, start } from "../samples.ts"

const job = (status: Campaign.CampaignStatus) => ({
  campaign: {
    ...Campaign.make(
      { id: id("cmp"), workspaceId: id("ws"), createdAt: start },
      { name: "All", template: { name: "plain", language: "en_US" } }
    ),
    status
  },
  workAt: start
})

const loaded: Heartbeat.Loaded = {
  now: (asked) => asked,
  heartbeat: { at: start, server: "one", heldSince: null },
  server: "one",
  jobs: null
}

/** Whether campaigns wait after a heartbeat. */
const waits = (change: Partial<Heartbeat.Loaded>, beat: Partial<Heartbeat.Beat>): boolean =>
  "needs" in Heartbeat.beat({ ...loaded, ...change }, [{ now: start, last: null, isRestored: false, ...beat }])

describe("a heartbeat", () => {
  it("a process that starts finds a restored database by its old heartbeat or its other server", () => {
    assert.isFalse(waits({}, { now: start + 5 * minute }))
    assert.isTrue(waits({}, { now: start + 5 * minute + 1 }))
    assert.isTrue(waits({ server: "two" }, {}))
    assert.isTrue(waits({}, { isRestored: true }))
    assert.isFalse(waits({ heartbeat: undefined }, {}))
    // clocks differ
    assert.isFalse(waits({}, { now: start - minute }))
  })

  it("a running process finds a restored database by what it has written, however long it could not reach it", () => {
    assert.isFalse(waits({}, { now: start + 60 * minute, last: start }))
    assert.isFalse(waits({}, { now: start + 60 * minute, last: start + 5 * minute }))
    assert.isTrue(waits({}, { now: start + 60 * minute, last: start + 6 * minute }))
    assert.isTrue(waits({ heartbeat: undefined }, { last: start }))
  })

  it("a clock that was set back is no restored database, whoever writes the first heartbeat after it", () => {
    const back = start - 6 * minute
    assert.isFalse(waits({}, { now: back, last: start }))
    const written = { at: back, server: "one", heldSince: null }
    assert.isFalse(waits({ heartbeat: written }, { now: back + 2 * second, last: start + 3 * second }))
  })

  it("a restored copy holds the queue, also for later heartbeats, and an old heartbeat alone does not", () => {
    /** Since when the queue is held after a heartbeat. */
    const heldSince = (change: Partial<Heartbeat.Loaded>, beat: Partial<Heartbeat.Beat>) => {
      const decided = Heartbeat.beat({ ...loaded, jobs: [], ...change }, [
        { now: start, last: null, isRestored: false, ...beat }
      ])
      return "needs" in decided ? "needs" : decided.writes.heartbeat.heldSince
    }
    const now = start + 60 * minute
    assert.isNull(heldSince({}, { now }))
    assert.strictEqual(heldSince({}, { now, isRestored: true }), now)
    assert.strictEqual(heldSince({ server: "two" }, { now }), now)
    assert.strictEqual(heldSince({}, { now, last: start + 6 * minute }), now)
    assert.strictEqual(heldSince({ heartbeat: undefined }, { now, last: start }), now)
    const held = { heartbeat: { at: start, server: "one", heldSince: start } }
    assert.strictEqual(heldSince(held, {}), start)
    assert.strictEqual(heldSince(held, { now, isRestored: true }), now)
  })

  it("exactly the campaigns that send, or would start to, wait", () => {
    for (const status of Campaign.CampaignStatus.literals) {
      const now = start + 6 * minute
      const decided = Heartbeat.beat({ ...loaded, jobs: [job(status)] }, [{ now, last: null, isRestored: false }])
      assert.isFalse("needs" in decided)
      if ("needs" in decided) continue
      const isWaiting = status === "running" || status === "scheduled"
      assert.deepStrictEqual(decided.answers, [{ at: now, waiting: isWaiting ? 1 : 0, isHolding: false }])
      assert.deepStrictEqual(decided.writes.heartbeat, { at: now, server: "one", heldSince: null })
      assert.deepStrictEqual(
        decided.writes.jobs.map(({ campaign: { pausedFor, status }, workAt }) => [status, pausedFor, workAt]),
        isWaiting ? [["paused", "restored", null]] : []
      )
    }
    const fresh = Heartbeat.beat({ ...loaded, jobs: [job("running")] }, [
      { now: start + second, last: null, isRestored: false }
    ])
    assert.deepStrictEqual("needs" in fresh ? undefined : fresh.writes.jobs, [])
  })
})
