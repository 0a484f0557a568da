import { assert, describe, it } from "@effect/vitest"
import { problems, type State } from "../../src/alerts/Alert.ts"
import * as Campaign from "../../src/campaigns/Campaign.ts"
import * as SenderBlock from "../../src/numbers/SenderBlock.ts"
import { initial } from "../../src/webhooks/WebhookHealth.ts"
import { day, hour, minute } from "../checks.ts"
import { id, sender, start, template } from "../samples.ts"

const calm: State = {
  now: start,
  provider: sender({}).provider,
  webhook: undefined,
  exhausted: [],
  numbers: [],
  pausedTemplates: [],
  pausedCampaigns: [],
  expiringKeys: [],
  quota: { month: "2026-01", used: 0, limit: null },
  queue: { at: start, queued: 0, oldestDueAt: null, heldSince: null },
  subscriptions: []
}

const webhook = (fields: Partial<NonNullable<State["webhook"]>> = {}): NonNullable<State["webhook"]> => ({
  id: id("whk"),
  workspaceId: id("ws"),
  url: "https://receiver.example/",
  envelope: "combined",
  eventTypes: [],
  secrets: [],
  createdAt: start,
  updatedAt: start,
  pausedAt: null,
  resumedAt: null,
  health: initial,
  pausesAt: null,
  ...fields
})

const failing = { ...initial, consecutiveFailures: 100, failuresSince: start }

const kindsOf = (state: Partial<State>) => problems({ ...calm, ...state }).map(({ kind, subject }) => [kind, subject])

describe("the alerts of a workspace", () => {
  it("a workspace without problems has no alert", () => {
    assert.deepStrictEqual(kindsOf({ webhook: webhook(), numbers: [sender({})] }), [])
  })

  it("a webhook that is failing, about to be paused, or paused is a problem", () => {
    const own = id("whk")
    assert.deepStrictEqual(kindsOf({ webhook: webhook({ health: failing }) }), [["webhook_failing", own]])
    const soon = (in_: number) => webhook({ health: failing, pausesAt: start + in_ })
    assert.deepStrictEqual(kindsOf({ webhook: soon(6 * hour + 1) }), [["webhook_failing", own]])
    assert.deepStrictEqual(kindsOf({ webhook: soon(6 * hour) }), [["webhook_failing", own], ["webhook_pausing", own]])
    assert.deepStrictEqual(kindsOf({ webhook: webhook({ health: failing, pausedAt: start }) }), [[
      "webhook_paused",
      own
    ]])
  })

  it("events that the present webhook's receiver refused until they were exhausted are a problem, and tests are not", () => {
    const exhausted = (trigger: "automatic" | "test", webhookId = id("whk")) =>
      kindsOf({ webhook: webhook(), exhausted: [{ webhookId, trigger }] })
    assert.deepStrictEqual(exhausted("automatic"), [["events_exhausted", id("whk")]])
    assert.deepStrictEqual(exhausted("test"), [])
    assert.deepStrictEqual(exhausted("automatic", id("whk", 2)), [])
  })

  it("a queued message that is more than a minute late is a problem", () => {
    const late = (milliseconds: number, heldSince: number | null = null) =>
      problems({ ...calm, queue: { at: start, queued: 1, oldestDueAt: start - milliseconds, heldSince } })
        .map(({ kind, message }) => [kind, message])
    assert.deepStrictEqual(late(minute), [])
    assert.deepStrictEqual(late(minute + 1), [["queue_late", "Queued messages are sent more than a minute late."]])
    assert.match(`${late(minute + 1, start)}`, /wait until a person releases them/)
  })

  it("a subscription is a problem if it sets events aside, or is three days behind", () => {
    const found = (state: Partial<State["subscriptions"][number]>) =>
      problems({ ...calm, subscriptions: [{ name: "orders", oldestUnhandledAt: null, failed: 0, ...state }] })
        .map(({ kind, message, subject }) => [kind, subject, message])
    assert.deepStrictEqual(found({ oldestUnhandledAt: start - 3 * day }), [])
    assert.deepStrictEqual(found({ oldestUnhandledAt: start - 3 * day - 1 }), [[
      "subscription_behind",
      "orders",
      "The subscription orders has not handled events since 2025-12-30T03:04:05.677Z: retention waits for it for 90 days at most."
    ]])
    assert.deepStrictEqual(found({ failed: 1 }), [[
      "subscription_failed",
      "orders",
      "The subscription orders has set events aside that its handler rejected for 24 hours."
    ]])
  })

  it("a campaign that paused itself is a problem, and one that a person paused is not", () => {
    const paused = (pausedFor: Campaign.PauseReason) => ({
      ...Campaign.make(
        { id: id("cmp"), workspaceId: id("ws"), createdAt: start },
        { name: "All", template: { name: "plain", language: "en_US" } }
      ),
      status: "paused" as const,
      pausedFor
    })
    for (const reason of Campaign.PauseReason.literals) {
      const expected = reason === "person" ? [] : [["campaign_paused", id("cmp")]]
      assert.deepStrictEqual(kindsOf({ pausedCampaigns: [paused(reason)] }), expected)
    }
  })

  it("a key in use is a problem from 30, 7 and 1 days before it expires, at each step once, until it has expired", () => {
    const key = (left: number, unused = 0) => {
      const [lastUsedAt, expiresAt] = [start - unused, start + left]
      return { id: id("key"), name: "orders", prefix: "wac_live_AbCd", revokedAt: null, expiresAt, lastUsedAt }
    }
    const steps = (left: number, unused?: number) =>
      kindsOf({ expiringKeys: [key(left, unused)] }).map(([kind, subject]) => {
        assert.strictEqual(subject, id("key"))
        return kind
      })
    assert.deepStrictEqual(steps(30 * day + 1), [])
    assert.deepStrictEqual(steps(30 * day), ["key_expires_in_30_days"])
    assert.deepStrictEqual(steps(7 * day + 1), ["key_expires_in_30_days"])
    assert.deepStrictEqual(steps(7 * day), ["key_expires_in_30_days", "key_expires_in_7_days"])
    const all = ["key_expires_in_30_days", "key_expires_in_7_days", "key_expires_in_1_day"]
    assert.deepStrictEqual(steps(day), all)
    assert.deepStrictEqual(steps(1), all)
    assert.deepStrictEqual(steps(0), [])
    assert.deepStrictEqual(steps(day, 30 * day - 1), all)
    assert.deepStrictEqual(steps(day, 30 * day), [])
  })

  it("a key that was never used, or is revoked, or never expires, is no problem", () => {
    const key = {
      id: id("key"),
      name: "orders",
      prefix: "wac_live_AbCd",
      revokedAt: null,
      expiresAt: start + 1,
      lastUsedAt: start
    }
    const expiringKeys = [{ ...key, lastUsedAt: null }, { ...key, revokedAt: start }, { ...key, expiresAt: null }]
    assert.deepStrictEqual(kindsOf({ expiringKeys }), [])
  })

  it("a number with a low rating is a problem, in the provider's words", () => {
    const rated = (quality: string) => [sender({ learned: { tier: null, messagingLimit: null, quality } })]
    for (const quality of ["RED", "red", "low"]) {
      assert.deepStrictEqual(kindsOf({ numbers: rated(quality) }), [["number_low_quality", id("pn")]])
    }
    for (const quality of ["GREEN", "YELLOW", "UNKNOWN"]) {
      assert.deepStrictEqual(kindsOf({ numbers: rated(quality) }), [])
    }
  })

  it("a blocked number is a problem until the provider's end, or until the block is lifted if only a trial would end it", () => {
    const blocked = (block: SenderBlock.SenderBlock, now: number, available = true, provider = calm.provider) =>
      problems({ ...calm, now, provider, numbers: [sender({ block, available })] }).map(({ kind, message }) => {
        assert.strictEqual(kind, "number_blocked")
        return message
      })
    const refused = "the provider does not accept the credentials of this phone number, or they lack a permission"
    const met = SenderBlock.of("credentials", start, { code: "190", message: "expired" }, "send")
    assert.deepStrictEqual(blocked(met, start), [`Sending from +14155550100 is blocked: ${refused}.`])
    assert.deepStrictEqual(blocked(met, start + day), [
      `Sending from +14155550100 was blocked: ${refused}. The next message shows whether it still is.`
    ])
    assert.lengthOf(blocked(met, start, false), 1)
    assert.deepStrictEqual(blocked(met, start + day, false), [])
    assert.lengthOf(blocked(met, start, true, "another"), 1)
    assert.deepStrictEqual(blocked(met, start + day, true, "another"), [])
    const ban = SenderBlock.of("restricted", start, null)
    assert.lengthOf(blocked(ban, start + day), 1)
    const restriction = { ...ban, scope: "outside_window", until: start + 7 * day, basis: "term" } as const
    assert.lengthOf(blocked(restriction, start + 7 * day - 1), 1)
    assert.deepStrictEqual(blocked(restriction, start + 7 * day), [])
    assert.lengthOf(blocked({ ...restriction, until: null }, start + 365 * day), 1)
    assert.match(
      `${blocked({ ...restriction, basis: "report" }, start + 8 * day)}`,
      /\. The next template shows whether/
    )
  })

  it("a paused template is a problem", () => {
    assert.deepStrictEqual(kindsOf({ pausedTemplates: [template({})] }), [["template_paused", template({}).id]])
  })

  it("a quota is a problem from 80 %, and another once used up", () => {
    const used = (used: number, limit: number | null = 10) =>
      kindsOf({ quota: { month: "2026-01", used, limit } }).map(([kind]) => kind)
    assert.deepStrictEqual(used(7), [])
    assert.deepStrictEqual(used(8), ["quota_high"])
    assert.deepStrictEqual(used(10), ["quota_high", "quota_used_up"])
    assert.deepStrictEqual(used(1_000_000, null), [])
  })
})
