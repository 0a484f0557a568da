import { assert, describe, it } from "@effect/vitest"
import * as CampaignCounts from "../../src/campaigns/CampaignCounts.ts"
import * as CampaignTally from "../../src/campaigns/CampaignTally.ts"
import { message as sample } from "../samples.ts"

const message = sample()

const failed = (reason: string): CampaignTally.Counted => ({
  ...message,
  status: "failed",
  error: { code: "forbidden", reason, message: "x" }
})

describe("the tallies of a campaign", () => {
  it("a change of outcome or of its reason moves one recipient, and any other change none", () => {
    assert.deepStrictEqual(CampaignTally.change(message, { ...message, status: "queued" }), [])
    assert.deepStrictEqual(CampaignTally.change(message, failed("opted_out")), [
      { outcome: "queued", reason: null, variant: null, recipients: -1 },
      { outcome: "failed", reason: "opted_out", variant: null, recipients: 1 }
    ])
    assert.deepStrictEqual(CampaignTally.change(failed("delivery_unknown"), failed("undeliverable")), [
      { outcome: "failed", reason: "delivery_unknown", variant: null, recipients: -1 },
      { outcome: "failed", reason: "undeliverable", variant: null, recipients: 1 }
    ])
  })

  it("the sum of all changes is the number of recipients by outcome, whatever order they come in", () => {
    const lives: ReadonlyArray<ReadonlyArray<CampaignTally.Counted>> = [
      [{ ...message, status: "queued" }, { ...message, status: "sent", isHeld: true }, failed("template_not_approved")],
      [{ ...message, status: "queued" }, { ...message, status: "sent" }, { ...message, status: "read" }],
      [{ ...message, status: "queued" }, { ...message, status: "skipped", error: { code: "forbidden", message: "x" } }],
      [{ ...message, status: "queued" }, failed("template_not_approved")]
    ]
    const changes = lives.flatMap((life) => [
      ...CampaignTally.ofNew([life[0]!]),
      ...life.slice(1).flatMap((after, i) => CampaignTally.change(life[i]!, after))
    ])
    for (const order of [changes, changes.toReversed()]) {
      const tallies = CampaignTally.add([], order)
      assert.deepStrictEqual(CampaignTally.countsOf(tallies), {
        ...CampaignCounts.none,
        read: 1,
        skipped: 1,
        failed: 2
      })
      assert.deepStrictEqual(CampaignTally.reasonsOf(tallies), [
        { outcome: "failed", reason: "template_not_approved", recipients: 2 },
        { outcome: "skipped", reason: "forbidden", recipients: 1 }
      ])
    }
  })

  it("recipients of different variants are counted separately, and their reasons together", () => {
    const changes = (["a", "b", "b"] as const).flatMap((variant) => [
      ...CampaignTally.ofNew([{ ...message, status: "queued", variant }]),
      ...CampaignTally.change({ ...message, status: "queued", variant }, { ...failed("undeliverable"), variant })
    ])
    const tallies = CampaignTally.add([], changes)
    assert.deepStrictEqual(tallies, [
      { outcome: "failed", reason: "undeliverable", variant: "a", recipients: 1 },
      { outcome: "failed", reason: "undeliverable", variant: "b", recipients: 2 }
    ])
    assert.deepStrictEqual(CampaignTally.countsOf(tallies), { ...CampaignCounts.none, failed: 3 })
    assert.deepStrictEqual(CampaignTally.reasonsOf(tallies), [
      { outcome: "failed", reason: "undeliverable", recipients: 3 }
    ])
  })
})
