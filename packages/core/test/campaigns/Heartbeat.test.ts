import { assert, describe, it } from "@effect/vitest"
import * as Campaign from "../../src/campaigns/Campaign.ts"
import * as Heartbeat from "../../src/campaigns/Heartbeat.ts"
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
  heartbeat: { at: start, server: "one" },
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

  it("exactly the campaigns that send, or would start to, wait", () => {
    for (const status of Campaign.CampaignStatus.literals) {
      const now = start + 6 * minute
      const decided = Heartbeat.beat({ ...loaded, jobs: [job(status)] }, [{ now, last: null, isRestored: false }])
      assert.isFalse("needs" in decided)
      if ("needs" in decided) continue
      const isWaiting = status === "running" || status === "scheduled"
      assert.deepStrictEqual(decided.answers, [{ at: now, waiting: isWaiting ? 1 : 0 }])
      assert.deepStrictEqual(decided.writes.heartbeat, { at: now, server: "one" })
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
