import { assert, describe, it } from "@effect/vitest"
import * as Campaign from "../../src/campaigns/Campaign.ts"
import * as CampaignWorkStep from "../../src/campaigns/CampaignWorkStep.ts"
import type { PhoneNumberId } from "../../src/Id.ts"
import { standard } from "../../src/limits/Limits.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import { id, message, sender, start, template } from "../samples.ts"
import { key } from "../world.ts"

const limit = 10

/** A campaign that has begun to send, and sends 72 messages a second. */
const running: Campaign.Campaign = {
  ...Campaign.make({ id: id("cmp"), workspaceId: id("ws"), createdAt: start }, {
    name: "All",
    template: { name: "order", language: "en_US" },
    share: 0.9
  }),
  status: "running",
  startedAt: start
}

const recipients = (count: number): ReadonlyArray<CampaignWorkStep.Queued> =>
  Array.from({ length: count }, (_, n) => ({
    send: {
      message: message({ id: id("msg", n + 1), campaignId: running.id, status: "queued" }),
      binding: null,
      quotaMonth: null,
      returnedMonth: null
    },
    key: key(`${n}`),
    tries: 0,
    timeZone: null
  }))

/** One piece of work, for which at most `found` recipients are loaded. */
const work = (campaign: Campaign.Campaign, found: number, given: Partial<CampaignWorkStep.Work> = {}) => {
  const command: CampaignWorkStep.Work = {
    now: start,
    limit,
    limits: standard,
    rateCard: [],
    provider: sender().provider,
    capabilities: Capabilities.all,
    messageIds: [],
    hashes: {},
    hashedFor: null,
    ids: { events: [], deliveries: [] },
    ...given
  }
  const loaded: CampaignWorkStep.LoadedWork = {
    now: (asked) => asked,
    job: { campaign, workAt: start },
    sender: sender({ tier: "standard" }),
    templates: [template()],
    isSuppressing: false,
    isDone: false,
    rows: null,
    queue: null
  }
  const first = CampaignWorkStep.work(loaded, [command])
  const [need] = "needs" in first ? first.needs : []
  const decided = need === undefined
    ? first
    : CampaignWorkStep.work({ ...loaded, queue: recipients(Math.min(found, need.limit)) }, [command])
  if ("needs" in decided) return assert.fail("all that the work needs is given at once")
  return { claimed: decided.answers[0]!.claimed.length, job: decided.writes.job }
}

describe("a campaign's work", () => {
  it("those who wait for quiet hours are judged again until none is found, even if some are locked meanwhile", () => {
    const judging = { ...running, judgesAgain: true }
    for (const [found, judgesAgain] of [[limit, true], [limit - 1, true], [1, true], [0, false]] as const) {
      const { job: { campaign, workAt } } = work(judging, found)
      assert.deepStrictEqual([campaign.judgesAgain, workAt], [judgesAgain, start], `${found} found`)
    }
  })

  it("a campaign claims no more recipients than the process has room for, and waits for room without one", () => {
    for (
      const [room, claimed, wait] of [
        [undefined, limit, 200],
        [0, 0, 200],
        [3, 3, 200],
        [limit, limit, 200],
        [limit + 5, limit, 200]
      ] as const
    ) {
      const asked: Array<PhoneNumberId> = []
      const roomOf = room === undefined ? undefined : (number: PhoneNumberId) => {
        asked.push(number)
        return room
      }
      const worked = work(running, 100, { roomOf })
      assert.deepStrictEqual([worked.claimed, worked.job.workAt], [claimed, start + wait], `room for ${room}`)
      // the room of the number that sends
      for (const number of asked) assert.strictEqual(number, sender().id)
      assert.strictEqual(asked.length > 0, room !== undefined)
    }
    const ahead = { ...running, nextSlot: start + 400 }
    assert.strictEqual(work(ahead, 100, { roomOf: () => 0 }).job.workAt, start + 400)
  })
})
