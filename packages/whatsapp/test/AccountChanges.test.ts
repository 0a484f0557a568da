import { assert, describe, it } from "@effect/vitest"
import { SenderBlock } from "@wac/core"
import * as AccountChanges from "../src/AccountChanges.ts"
import {
  account,
  change,
  entry,
  type Json,
  now,
  number,
  post,
  product,
  read,
  readChange,
  readPost,
  skipped
} from "./posts.ts"

const told = now - 300_000

const changed = (change: object, number: object = { providerAccountId: account }) => ({
  _tag: "Number",
  number,
  at: told,
  change
})

const hour = 3600

describe("a messaging limit", () => {
  it("a messaging limit is read from a tier's name or from a number of customers", () => {
    const limits: ReadonlyArray<readonly [Json, number | null]> = [
      ["TIER_50", 50],
      ["TIER_250", 250],
      ["TIER_1K", 1000],
      ["TIER_2K", 2000],
      ["TIER_10K", 10_000],
      ["TIER_100K", 100_000],
      ["TIER_UNLIMITED", null],
      [-1, null],
      ["-1", null],
      [250, 250],
      ["2000", 2000]
    ]
    for (const [json, limit] of limits) assert.strictEqual(AccountChanges.messagingLimit(json), limit)
    for (
      const json of ["TIER_NOT_SET", "TIER_", "", 0, -2, 1.5, "many", null, undefined, {}, 99_999_999, "TIER_99999K"]
    ) {
      assert.isUndefined(AccountChanges.messagingLimit(json))
    }
  })

  it("a messaging limit of a business applies to all numbers of the account", () => {
    for (
      const value of [
        { max_daily_conversations_per_business: "TIER_2K", max_phone_numbers_per_waba: 25 },
        { max_daily_conversations_per_business: 2000 },
        { max_daily_conversation_per_phone: 2000, max_phone_numbers_per_business: 2 },
        { max_daily_conversation_per_phone: 250, max_daily_conversations_per_business: 2000 }
      ]
    ) {
      assert.deepStrictEqual<unknown>(readChange("business_capability_update", value), [
        changed({ messagingLimit: 2000 })
      ])
    }
    assert.deepStrictEqual<unknown>(
      readChange("business_capability_update", {
        max_daily_conversation_per_phone: 250,
        max_daily_conversations_per_business: "TIER_UNLIMITED"
      }),
      [changed({ messagingLimit: null })]
    )
    for (const value of [{}, { max_phone_numbers_per_waba: 25 }]) {
      assert.deepStrictEqual(readChange("business_capability_update", value), [skipped("business_capability_update")])
    }
  })
})

describe("a number's quality", () => {
  const update = (value: { readonly [name: string]: Json }) =>
    readChange("phone_number_quality_update", { display_phone_number: "+1 555-701-0002", ...value })
  const ours = { providerAccountId: account, phoneNumber: "+15557010002" }

  it("an upgrade, a downgrade and an onboarding report the number's messaging limit", () => {
    for (const event of ["UPGRADE", "DOWNGRADE", "ONBOARDING"]) {
      assert.deepStrictEqual<unknown>(update({ event, old_limit: "TIER_250", current_limit: "TIER_1K" }), [
        changed({ messagingLimit: 1000 }, ours)
      ])
    }
    assert.deepStrictEqual<unknown>(
      update({ event: "UPGRADE", current_limit: "TIER_250", max_daily_conversations_per_business: "TIER_10K" }),
      [changed({ messagingLimit: 10_000 }, ours)]
    )
  })

  it("a flagged number's quality is red, and an unflagged number has the quality that the change names", () => {
    assert.deepStrictEqual<unknown>(update({ event: "FLAGGED", current_limit: "TIER_1K" }), [
      changed({ quality: "red", messagingLimit: 1000 }, ours)
    ])
    assert.deepStrictEqual<unknown>(update({ event: "UNFLAGGED", quality_rating: "YELLOW" }), [
      changed({ quality: "yellow", lifts: "quality" }, ours)
    ])
    assert.deepStrictEqual<unknown>(update({ event: "UNFLAGGED" }), [
      changed({ quality: "unknown", lifts: "quality" }, ours)
    ])
  })

  it("an upgrade of the throughput changes the throughput tier and no messaging limit", () => {
    assert.deepStrictEqual<unknown>(update({ event: "THROUGHPUT_UPGRADE", current_limit: "TIER_UNLIMITED" }), [
      changed({ tier: "high" }, ours)
    ])
    assert.deepStrictEqual<unknown>(
      update({
        event: "THROUGHPUT_UPGRADE",
        current_limit: "TIER_UNLIMITED",
        max_daily_conversations_per_business: "TIER_100K"
      }),
      [changed({ tier: "high", messagingLimit: 100_000 }, ours)]
    )
  })

  it("a messaging limit without a number applies to the account", () => {
    assert.deepStrictEqual<unknown>(
      update({ display_phone_number: null, event: "UPGRADE", current_limit: "TIER_1K" }),
      [
        changed({ messagingLimit: 1000 })
      ]
    )
  })

  it("a quality update without a limit or an account is ignored", () => {
    assert.deepStrictEqual(update({ event: "ONBOARDING", current_limit: "TIER_NOT_SET" }), [
      skipped("phone_number_quality_update:onboarding")
    ])
    assert.deepStrictEqual(
      readPost(
        post({ changes: [change("phone_number_quality_update", { event: "UPGRADE", current_limit: "TIER_1K" })] })
      ),
      [skipped("phone_number_quality_update:upgrade")]
    )
  })

  it("a quality update without an account is ignored, since another account's number may have the same digits", () => {
    const value = { display_phone_number: "15557010002", event: "UPGRADE", current_limit: "TIER_1K" }
    assert.deepStrictEqual(readPost(post({ changes: [change("phone_number_quality_update", value)] })), [
      skipped("phone_number_quality_update:upgrade")
    ])
  })
})

describe("an account", () => {
  const update = (value: { readonly [name: string]: Json }) => readChange("account_update", value)
  const restriction = (...restriction_info: ReadonlyArray<Json>) =>
    update({ event: "ACCOUNT_RESTRICTION", restriction_info })
  const initiated = "RESTRICTED_BIZ_INITIATED_MESSAGING"
  const end = now / 1000 + 24 * hour

  it("an account that may not send messages is blocked until the restriction ends", () => {
    const block = (until: number, message = initiated, scope: SenderBlock.SenderBlockScope = "outside_window") =>
      changed({
        block: {
          ...SenderBlock.of("restricted", told, { code: "ACCOUNT_RESTRICTION", message }),
          scope,
          until,
          basis: "term"
        }
      })
    for (const expiration of [end, `${end}`, end * 1000, "2026-03-02T12:00:00+0000", "2026-03-02T12:00:00Z"]) {
      assert.deepStrictEqual<unknown>(
        restriction(
          { restriction_type: initiated, expiration },
          { restriction_type: "RESTRICTED_ADD_PHONE_NUMBER_ACTION", expiration: end + hour }
        ),
        [block(end * 1000)]
      )
    }
    assert.deepStrictEqual<unknown>(
      restriction(
        { restriction_type: initiated, expiration: end },
        { restriction_type: "RESTRICTED_CUSTOMER_INITIATED_MESSAGING", expiration: end + hour }
      ),
      [block((end + hour) * 1000, `${initiated}, RESTRICTED_CUSTOMER_INITIATED_MESSAGING`, "all")]
    )
  })

  it("a restriction without an end blocks the account as long as any block", () => {
    const undated = changed({
      block: {
        ...SenderBlock.of("restricted", told, { code: "ACCOUNT_RESTRICTION", message: initiated }),
        scope: "outside_window"
      }
    })
    for (const expiration of [null, "some day", -1, 1e20]) {
      assert.deepStrictEqual<unknown>(restriction({ restriction_type: initiated, expiration }), [undated])
    }
  })

  it("an account with other restrictions still sends", () => {
    const other = { restriction_type: "RESTRICTED_ADD_PHONE_NUMBER_ACTION", expiration: end }
    for (const restrictions of [[other], [], [null, "x"]]) {
      assert.deepStrictEqual(restriction(...restrictions), [skipped("account_update:account_restriction")])
    }
  })

  it("an account is blocked when it is disabled, deleted, removed or refused, and that block is lifted when it is reinstated", () => {
    const blocked = (reason: SenderBlock.SenderBlockReason, code: string, message = "") =>
      changed({ block: SenderBlock.of(reason, told, { code, message }) })
    const free = (lifts: SenderBlock.SenderBlockReason) => changed({ lifts })
    const ban = (waba_ban_state: string) => update({ event: "DISABLED_UPDATE", ban_info: { waba_ban_state } })
    const review = (decision: string) => readChange("account_review_update", { decision })
    assert.deepStrictEqual<unknown>(ban("DISABLE"), [blocked("restricted", "DISABLED_UPDATE", "DISABLE")])
    assert.deepStrictEqual<unknown>(ban("REINSTATE"), [free("restricted")])
    assert.deepStrictEqual(ban("SCHEDULE_FOR_DISABLE"), [skipped("account_update:disabled_update")])
    assert.deepStrictEqual<unknown>(update({ event: "ACCOUNT_DELETED" }), [blocked("registration", "ACCOUNT_DELETED")])
    assert.deepStrictEqual<unknown>(update({ event: "ACCOUNT_OFFBOARDED" }), [
      blocked("registration", "ACCOUNT_OFFBOARDED")
    ])
    assert.deepStrictEqual<unknown>(update({ event: "ACCOUNT_RECONNECTED" }), [free("registration")])
    assert.deepStrictEqual<unknown>(review("REJECTED"), [blocked("restricted", "ACCOUNT_REVIEW", "REJECTED")])
    assert.deepStrictEqual<unknown>(review("APPROVED"), [free("restricted")])
    assert.deepStrictEqual(review("PENDING"), [skipped("account_review_update:pending")])
  })

  it("other events of an account change nothing", () => {
    for (const event of ["ACCOUNT_VIOLATION", "PARTNER_ADDED", "SOMETHING_NEW"]) {
      assert.deepStrictEqual(update({ event }), [skipped(`account_update:${event.toLowerCase()}`)])
    }
    assert.deepStrictEqual(
      readChange("account_alerts", {
        entity_type: "PHONE_NUMBER",
        entity_id: "1",
        alert_info: { alert_severity: "WARNING", alert_type: "OBA_REJECTED" }
      }),
      [skipped("account_alerts:oba_rejected")]
    )
    assert.deepStrictEqual(readChange("account_alerts", {}), [skipped("account_alerts")])
    assert.deepStrictEqual(readChange("phone_number_name_update", { decision: "REJECTED" }), [
      skipped("phone_number_name_update:rejected")
    ])
    assert.deepStrictEqual(readChange("security", { event: "PIN_CHANGED", requester: "1" }), [
      skipped("security:pin_changed")
    ])
  })

  it("a change with a time in the future is applied at the current time", () => {
    const [item] = readPost(post(entry([change("account_review_update", { decision: "APPROVED" })], now / 1000 + hour)))
    assert(item?._tag === "Number")
    assert.strictEqual(item.at, now)
  })
})

describe("an error outside of any message", () => {
  const error = (code: number, value: object = {}) =>
    read({ ...value, errors: [{ code, title: "No", error_data: { details: "Details" } }] })

  it("an error outside of any message blocks the number or account that it names", () => {
    const blocked = (reason: SenderBlock.SenderBlockReason, code: number, number: object) => ({
      _tag: "Number",
      number,
      at: now,
      change: { block: SenderBlock.of(reason, now, { code: `${code}`, message: "No: Details" }, "send") }
    })
    assert.deepStrictEqual<unknown>(error(131048), [blocked("quality", 131048, { providerNumberId: number })])
    assert.deepStrictEqual<unknown>(error(131042), [blocked("payment", 131042, { providerAccountId: account })])
  })

  it("an error that blocks nothing is ignored and counted by its code", () => {
    for (const code of [130429, 131052, 987654]) assert.deepStrictEqual(error(code), [skipped(`error:${code}`)])
    assert.deepStrictEqual(error(131048, { metadata: null }), [skipped("error:131048")])
    assert.deepStrictEqual(read({ errors: [null, { title: "No code" }] }), [skipped("error"), skipped("error")])
    assert.deepStrictEqual(readPost(post(entry([change("messages", { ...product })]))), [skipped("messages:empty")])
  })
})
