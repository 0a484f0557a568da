import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Campaign from "../../src/campaigns/Campaign.ts"
import * as CampaignCounts from "../../src/campaigns/CampaignCounts.ts"
import * as FailureRate from "../../src/campaigns/FailureRate.ts"
import * as Recipient from "../../src/campaigns/Recipient.ts"
import type { CampaignId, WorkspaceId } from "../../src/Id.ts"
import { E164 } from "../../src/numbers/E164.ts"
import * as Pace from "../../src/queue/Pace.ts"

const campaign = (fields: Partial<Campaign.Campaign> = {}): Campaign.Campaign => ({
  ...Campaign.make(
    { id: "cmp_1" as CampaignId, workspaceId: "ws_1" as WorkspaceId, createdAt: 0 },
    { name: "All", template: { name: "plain", language: "en_US" } }
  ),
  rows: 1,
  ...fields
})

const actions = ["Check", "Start", "Pause", "Resume", "Cancel"] as const

describe("a campaign", () => {
  it("each status allows exactly the actions that make sense, and repeating one changes nothing", () => {
    const allowed = Campaign.CampaignStatus.literals.map((status) => [
      status,
      actions.flatMap((_tag) => {
        const changed = Campaign.change(campaign({ status, checked: 1 }), { _tag }, 10)
        if (Result.isFailure(changed)) return []
        const again = Campaign.change(changed.success, { _tag }, 20)
        assert.deepStrictEqual(Result.getOrThrow(again), changed.success, `${status} ${_tag}`)
        return [`${_tag} ${changed.success.status}`]
      })
    ])
    assert.deepStrictEqual(Object.fromEntries(allowed), {
      draft: ["Check checking", "Cancel cancelled"],
      checking: ["Check checking", "Cancel cancelled"],
      ready: ["Check ready", "Start running", "Cancel cancelled"],
      scheduled: ["Start scheduled", "Pause paused", "Resume scheduled", "Cancel cancelled"],
      running: ["Start running", "Pause paused", "Resume running", "Cancel cancelled"],
      paused: ["Pause paused", "Resume running", "Cancel cancelled"],
      completed: [],
      cancelled: ["Cancel cancelled"]
    })
  })

  it("a campaign without rows cannot be checked", () => {
    assert.isTrue(Result.isFailure(Campaign.change(campaign({ rows: 0 }), { _tag: "Check" }, 0)))
  })

  it("what its recipients are checked with can change until it starts, which asks for another check", () => {
    const plan = { template: { name: "x", language: "en_US" }, name: "B" }
    const known = { rows: 9, checked: 9, problems: 2, limitedCustomers: 3, categories: ["utility"], replaced: 4 }
    const edit = (status: Campaign.CampaignStatus) =>
      Campaign.change(campaign({ ...known, status }), { _tag: "Edit", plan }, 0)
    for (const status of ["draft", "ready"] as const) {
      assert.deepStrictEqual(Result.getOrThrow(edit(status)), campaign({ rows: 9, replaced: 4, ...plan }))
    }
    for (const status of ["checking", "scheduled", "running", "paused"] as const) {
      assert.isTrue(Result.isFailure(edit(status)), status)
    }
  })

  it("a change of its share changes how long its forecast says it takes", () => {
    const forecast = {
      messages: 8000,
      limitedCustomers: 0,
      messagingLimit: null,
      days: 1,
      alwaysQuiet: 0,
      seconds: 1000,
      perSecond: 80,
      lines: [],
      costs: []
    }
    const secondsWith = (plan: Partial<Campaign.Plan>) =>
      Result.getOrThrow(Campaign.change(campaign({ status: "ready", forecast }), { _tag: "Edit", plan }, 0)).forecast
        ?.seconds
    assert.deepStrictEqual([secondsWith({ share: 0.5 }), secondsWith({ name: "B" })], [200, 1000])
  })

  it("its name, pace and end can change until it is over", () => {
    const edit = (fields: Partial<Campaign.Campaign>, plan: Partial<Campaign.Plan>) =>
      Result.isSuccess(Campaign.change(campaign(fields), { _tag: "Edit", plan }, 0))
    assert.isTrue(edit({}, { from: "+12025550123" }))
    const ready = campaign({ status: "ready", checked: 1 })
    const named = Campaign.change(ready, { _tag: "Edit", plan: { name: "B" } }, 0)
    assert.deepStrictEqual(Result.getOrThrow(named), { ...ready, name: "B" })
    assert.isFalse(edit({ status: "running", checked: 1 }, { template: { name: "x", language: "en_US" } }))
    assert.isTrue(edit({ status: "running", startedAt: 1 }, { share: 0.1, notAfter: 9, maxFailureRate: 1, name: "B" }))
    assert.isFalse(edit({ status: "running", startedAt: 1 }, { startAt: 9 }))
    assert.isFalse(edit({ status: "completed" }, { name: "B" }))
  })
})

describe("the end of a campaign", () => {
  const hour = 3_600_000
  const counts = { ...CampaignCounts.none, queued: 3, sent: 1 }
  const paused = campaign({ status: "paused", checked: 4, counts, startedAt: 1000 })
  const ready = campaign({ status: "ready", checked: 4, counts })
  const end = 1000 + 24 * hour
  const resumed = (fields: Partial<Campaign.Campaign>, now: number) =>
    Campaign.change({ ...paused, ...fields }, { _tag: "Resume" }, now)
  const started = (fields: Partial<Campaign.Campaign>, now: number) =>
    Campaign.change({ ...ready, ...fields }, { _tag: "Start" }, now)
  const statusOf = Result.match({
    onFailure: ({ message }: { readonly message: string }) => message,
    onSuccess: ({ status }: Campaign.Campaign) => status
  })

  it("a paused campaign is not resumed once its end has passed, so that nobody who is left is skipped", () => {
    assert.strictEqual(statusOf(resumed({}, end - 1)), "running")
    assert.match(statusOf(resumed({}, end)), /the campaign's end \(notAfter\) has passed/)
    assert.match(statusOf(resumed({ notAfter: 2000 }, 2000)), /the campaign's end \(notAfter\) has passed/)
    const { message, reason } = Result.getOrThrow(Result.flip(resumed({}, end + hour)))
    assert.strictEqual(reason, "campaign_state")
    assert.include(message, "set a later notAfter first")
    const moved = Campaign.change(paused, { _tag: "Edit", plan: { notAfter: end + 2 * hour } }, end + hour)
    assert.strictEqual(
      statusOf(Result.flatMap(moved, (campaign) => Campaign.change(campaign, { _tag: "Resume" }, end + hour))),
      "running"
    )
  })

  it("a paused campaign whose recipients have all been sent to is resumed after its end, and so completes", () => {
    assert.strictEqual(statusOf(resumed({ counts: { ...counts, queued: 0 } }, end)), "running")
  })

  it("a campaign is not started after its end, or for a time at or after its end", () => {
    assert.strictEqual(statusOf(started({ notAfter: 2000 }, 1999)), "running")
    assert.match(statusOf(started({ notAfter: 2000 }, 2000)), /has passed/)
    assert.match(statusOf(started({ notAfter: 2000, startAt: 2000 }, 1000)), /is before its start/)
    assert.strictEqual(statusOf(started({ notAfter: 2000, startAt: 1999 }, 1000)), "scheduled")
    assert.strictEqual(statusOf(started({ startAt: end + hour }, 1000)), "scheduled")
    assert.match(statusOf(resumed({ startedAt: null, notAfter: 2000, startAt: 3000 }, 1000)), /is before its start/)
  })

  it("a campaign that is scheduled or running is not changed so that all who are left would be skipped", () => {
    const scheduled = campaign({ status: "scheduled", checked: 4, counts, startAt: 1000, notAfter: 2000 })
    const running = campaign({ status: "running", checked: 4, counts, startedAt: 1000, notAfter: end + 48 * hour })
    const edited = (before: Campaign.Campaign, plan: Partial<Campaign.Plan>, now: number) =>
      Campaign.change(before, { _tag: "Edit", plan }, now)
    assert.strictEqual(Result.getOrThrow(Result.flip(edited(scheduled, { startAt: 3000 }, 0))).reason, "campaign_state")
    assert.match(statusOf(edited(scheduled, { startAt: 2000 }, 0)), /is before its start/)
    assert.match(statusOf(edited(scheduled, { notAfter: 1000 }, 0)), /is before its start/)
    assert.strictEqual(statusOf(edited(scheduled, { startAt: 3000, notAfter: 4000 }, 0)), "scheduled")
    assert.strictEqual(statusOf(edited(scheduled, { startAt: 1999 }, 0)), "scheduled")
    assert.strictEqual(statusOf(edited(scheduled, { startAt: null }, 1500)), "scheduled")
    assert.match(statusOf(edited(running, { notAfter: null }, end)), /has passed/)
    assert.match(statusOf(edited(running, { notAfter: 5000 }, 5000)), /has passed/)
    assert.strictEqual(statusOf(edited(running, { notAfter: null }, end - 1)), "running")
    assert.strictEqual(statusOf(edited(running, { notAfter: 5001 }, 5000)), "running")
  })

  it("a campaign whose end does not move, that sends nothing now or has nobody left can be changed after its end", () => {
    const over = campaign({ status: "running", checked: 4, counts, startedAt: 1000, notAfter: 2000 })
    const edited = (fields: Partial<Campaign.Campaign>, plan: Partial<Campaign.Plan>) =>
      statusOf(Campaign.change({ ...over, ...fields }, { _tag: "Edit", plan }, 3000))
    assert.strictEqual(edited({}, { name: "B" }), "running")
    assert.strictEqual(edited({ status: "paused" }, { notAfter: 2500 }), "paused")
    assert.strictEqual(edited({ status: "ready", startedAt: null }, { startAt: 4000 }), "ready")
    assert.strictEqual(edited({ counts: { ...counts, queued: 0 } }, { notAfter: 2500 }), "running")
  })
})

describe("the pace", () => {
  it("slots are equally far apart, begin no earlier than now, and reach as far as the horizon", () => {
    const first = Pace.slots({ next: 0, rate: 80, share: 0.5 }, 1000)
    assert.deepStrictEqual(first, { from: 1000, interval: 25, count: 20 })
    assert.strictEqual(Pace.slotAt(first, 19), 1475)
    assert.deepStrictEqual(Pace.slots({ next: 1500, rate: 80, share: 0.5 }, 1000).count, 0)
    assert.deepStrictEqual(Pace.slots({ next: 1490, rate: 80, share: 0.5 }, 1000), {
      from: 1490,
      interval: 25,
      count: 1
    })
  })

  it("a clock that was set back delays messages by no more than the horizon and a slot", () => {
    assert.deepStrictEqual(Pace.slots({ next: 3_601_000, rate: 80, share: 0.5 }, 1000).from, 1525)
  })

  it("a message leaves within 25 ms of its slot, and no longer once it is more than 40 ms late", () => {
    for (let slot = 1000; slot < 1050; slot += 0.7) {
      const departure = Pace.departure(slot)
      assert.isTrue(departure >= slot && departure < slot + 25)
      assert.isFalse(Pace.isMissed(departure, departure + 40))
      assert.isTrue(Pace.isMissed(departure, departure + 41))
    }
  })

  it("no second has more slots than the share, however late the polls come", () => {
    const times: Array<number> = []
    let next = 0
    for (const now of [0, 180, 420, 2000, 2010, 2900, 3000, 3450, 9000, 9100]) {
      const slots = Pace.slots({ next, rate: 100, share: 0.5 }, now)
      for (let n = 0; n < slots.count; n++) times.push(Pace.slotAt(slots, n))
      next = Pace.slotAt(slots, slots.count)
    }
    for (const from of times) {
      assert.isAtMost(times.filter((time) => time >= from && time < from + 1000).length, 51)
    }
  })
})

describe("the failure rate", () => {
  it("only the last 1,000 outcomes count, and fewer than 100 tell nothing", () => {
    let snapshots = FailureRate.beginning
    let counts: CampaignCounts.CampaignCounts = { ...CampaignCounts.none, queued: 10_000 }
    const end = (sent: number, failed: number) => {
      for (let i = 0; i < 10; i++) {
        counts = { ...counts, sent: counts.sent + sent / 10, failed: counts.failed + failed / 10 }
        snapshots = FailureRate.observe(snapshots, counts)
      }
    }
    end(40, 10)
    assert.isUndefined(FailureRate.rateOf(snapshots, counts))
    end(450, 500)
    assert.closeTo(FailureRate.rateOf(snapshots, counts)!, 0.51, 0.01)
    end(1000, 0)
    end(100, 0)
    assert.isAtMost(FailureRate.rateOf(snapshots, counts)!, 0.1)
    end(0, 500)
    assert.isAtLeast(FailureRate.rateOf(snapshots, counts)!, 0.4)
  })

  it("failures that are corrected do not count, and do not make up for later ones", () => {
    const failed: CampaignCounts.CampaignCounts = { ...CampaignCounts.none, sent: 700, failed: 300 }
    // a person resumed the campaign
    let snapshots: FailureRate.Snapshots = [FailureRate.taken(failed)]
    const corrected = { ...failed, delivered: 300, failed: 0 }
    snapshots = FailureRate.observe(snapshots, corrected)
    const early = { ...corrected, sent: 800 }
    assert.strictEqual(FailureRate.rateOf(snapshots, early), 0)
    snapshots = FailureRate.observe(snapshots, early)
    assert.strictEqual(FailureRate.rateOf(snapshots, { ...early, failed: 100 }), 0.5)
  })

  it("the failure rate is at least 0, however many earlier failures are corrected together", () => {
    const counts: CampaignCounts.CampaignCounts = { ...CampaignCounts.none, sent: 1_000, delivered: 500 }
    assert.strictEqual(FailureRate.rateOf([{ ended: 1_000, failed: 500 }], counts), 0)
  })

  it("the failure rate is at most 1, however many failures of earlier recipients are reported together", () => {
    const counts: CampaignCounts.CampaignCounts = { ...CampaignCounts.none, sent: 9_000, failed: 1_000 }
    assert.strictEqual(FailureRate.rateOf([{ ended: 9_800, failed: 0 }], counts), 1)
  })
})

describe("a recipient", () => {
  const plan = {
    from: null,
    template: {
      name: "order",
      language: "en_US",
      bodyParams: ["{{ first }} {{last}}", "ready"],
      header: { text: "For {{first}}" }
    }
  }
  const messageTo = (row: unknown) => {
    const parsed = Recipient.parse(row)
    return "recipient" in parsed ? Recipient.messageTo(plan, parsed.recipient) : parsed
  }
  const to = "+12025550123"

  it("a recipient's variables fill the template's values, and its own values replace them as they are", () => {
    const variables = { first: "Ada", last: "L." }
    assert.deepStrictEqual(messageTo({ to, variables }), {
      message: {
        type: "template",
        to,
        template: { name: "order", language: "en_US", bodyParams: ["Ada L.", "ready"], header: { text: "For Ada" } }
      }
    })
    assert.deepStrictEqual(messageTo({ to, bodyParams: ["{{x}}", "y"], header: { text: "z" } }), {
      message: {
        type: "template",
        to,
        template: { name: "order", language: "en_US", bodyParams: ["{{x}}", "y"], header: { text: "z" } }
      }
    })
  })

  it("a variable's name may have spaces within, as the columns of files have", () => {
    const template = { name: "order", language: "en_US", bodyParams: ["{{First name}} {{ Order no. }}"] }
    const messageOf = (variables: { readonly [name: string]: string }) =>
      Recipient.messageTo({ from: null, template }, { to: E164.make(to), variables })
    assert.deepStrictEqual(messageOf({ "First name": "Ada", "Order no.": "7" }), {
      message: { type: "template", to, template: { ...template, bodyParams: ["Ada 7"] } }
    })
    assert.deepStrictEqual(messageOf({ "First name": "Ada" }), { missing: "Order no." })
  })

  it("a variable that is missing is named", () => {
    assert.deepStrictEqual(messageTo({ to, variables: { first: "Ada" } }), { missing: "last" })
  })

  it("a row that is no recipient says where, without its values", () => {
    for (
      const [line, message] of [
        ["{", "the line is not JSON"],
        ["[]", "the line is not an object in JSON"],
        ["{\"to\":\"+15551234567\",\"to\":\"0612345678\"}", "to must be given once"],
        [
          "{\"to\":\"0612345678\"}",
          "to: has no country code: write it with + and the country code, or name the country of the file's numbers"
        ],
        ["{\"to\":\"+15551234567\",\"bodyParams\":5}", "bodyParams: Expected array | object"],
        ["{\"to\":\"+15551234567\",\"bodyParams\":[5]}", "bodyParams[0]: Expected string | object"],
        ["{\"to\":\"+15551234567\",\"buttons\":[{\"index\":\"0612345678\"}]}", "buttons[0].index: Expected number"],
        ["{\"to\":\"+15551234567\",\"bodyparams\":[\"0612345678\"]}", "there is no field bodyparams here"],
        ["{\"to\":\"+15551234567\",\"body_params\":[\"0612345678\"]}", "there is no field body_params here"],
        ["{\"to\":\"+15551234567\",\"time_zone\":\"Europe/Paris\"}", "there is no field time_zone here"],
        [
          "{\"to\":\"+15551234567\",\"header\":{\"text\":\"x\",\"txt\":\"0612345678\"}}",
          "there is no field header.txt here"
        ],
        [
          `{"to":"+15551234567","${"\u{1f44b}".repeat(5_000)}":1}`,
          `there is no field ${"\u{1f44b}".repeat(100)} here`
        ],
        [
          `{"to":"+15551234567","x${"\u{1f44b}".repeat(100)}":1}`,
          `there is no field x${"\u{1f44b}".repeat(99)}\ufffd here`
        ],
        [
          `{"to":"+15551234567","variables":{"${"x".repeat(65)}":"0612345678"}}`,
          `there is no field variables.${"x".repeat(65)} here`
        ]
      ] as const
    ) {
      const row = Recipient.parseLine(line, { line: 7, country: undefined })
      assert.strictEqual("problem" in row ? row.problem.message : "", message, line)
      assert.notInclude("problem" in row ? row.problem.message : "", "0612345678")
    }
  })
})
