import { assert, describe, it } from "@effect/vitest"
import type { InboundItem } from "@wac/core"
import * as Customers from "../src/Customers.ts"
import { ana, change, entry, type Json, message, now, number, post, product, read, readPost, skipped } from "./posts.ts"

describe("a number", () => {
  it("a number becomes E.164 from each of Meta's notations", () => {
    for (const json of ["15557020011", "+15557020011", " +1 555-702-0011", "+1 (555) 702.0011", 15557020011]) {
      assert.strictEqual(Customers.phone(json), "+15557020011")
    }
    for (const json of [null, "", "+", "0155", "WHATSAPP_ID", "US.1", "1".repeat(16), 1.5, {}]) {
      assert.isUndefined(Customers.phone(json))
    }
  })
})

describe("a user id", () => {
  it("a user id is a word that cannot be read as a number", () => {
    for (const json of ["US.13491208655302741918", "IN.ENT.9081726354"]) {
      assert.strictEqual(Customers.userId(json), json)
    }
    for (const json of ["+15557020011", "15557020011", "", "US 1", "U".repeat(201), null]) {
      assert.isUndefined(Customers.userId(json))
    }
  })
})

describe("a customer who moves", () => {
  const moved = (system: Json, fields: { readonly [name: string]: Json } = {}) =>
    read({ messages: [message({ type: "system", system, ...fields })] })
  const item = (from: object, to: object): InboundItem.InboundItem =>
    ({ _tag: "CustomerMoved", providerNumberId: number, from, to, at: now - 60_000 }) as InboundItem.InboundItem
  const before = { phone: `+${ana.wa_id}`, userId: null }

  it("a change of number is read under each of Meta's names for it", () => {
    const after = { phone: "+15557020099", userId: null }
    for (
      const system of [
        { type: "user_changed_number", wa_id: "15557020099", body: "User Ana changed from 15557020011 to 15557020099" },
        { type: "customer_changed_number", new_wa_id: "15557020099" }
      ]
    ) assert.deepStrictEqual(moved(system), [item(before, after)])
    assert.deepStrictEqual(
      moved({ type: "user_changed_number", wa_id: "15557020099", customer: ana.wa_id }, { from: null }),
      [item(before, after)]
    )
  })

  it("a change of user id is read with a change of number and without one", () => {
    assert.deepStrictEqual(
      moved({ type: "user_changed_number", wa_id: "15557020099", user_id: "US.2", previous_user_id: ana.user_id }),
      [item({ ...before, userId: ana.user_id }, { phone: "+15557020099", userId: "US.2" })]
    )
    assert.deepStrictEqual(
      moved({ type: "user_changed_user_id", user_id: "US.2", previous_user_id: ana.user_id }, { from: null }),
      [item({ phone: null, userId: ana.user_id }, { phone: null, userId: "US.2" })]
    )
  })

  it("a move without a customer before or after, or of no name, is ignored", () => {
    for (const system of [{ type: "user_changed_number" }, { type: "user_changed_number", wa_id: "?" }]) {
      assert.deepStrictEqual(moved(system), [skipped("system:incomplete")])
    }
    assert.deepStrictEqual(moved({ type: "user_changed_number", wa_id: "15557020099" }, { from: null }), [
      skipped("system:incomplete")
    ])
    assert.deepStrictEqual(moved({ type: "customer_identity_changed", body: "x" }), [
      skipped("system:customer_identity_changed")
    ])
    for (const system of [null, 7, []]) assert.deepStrictEqual(moved(system), [skipped("system")])
  })
})

describe("a preference", () => {
  const told = (preference: Json, contacts: ReadonlyArray<Json> = []) =>
    readPost(post(entry([change("user_preferences", { ...product, contacts, user_preferences: [preference] })])))
  const item = (preference: string, customer: object = { phone: `+${ana.wa_id}`, userId: null }) => ({
    _tag: "Preference",
    providerNumberId: number,
    customer,
    preference,
    at: now - 60_000
  })
  const given = { wa_id: ana.wa_id, category: "marketing_messages", timestamp: now / 1000 - 60, detail: "User …" }

  it("a marketing preference is applied as an opt-out or an opt-in", () => {
    for (const [value, wish] of [["stop", "opt_out"], ["resume", "opt_in"], ["signup", "opt_in"]] as const) {
      assert.deepStrictEqual<unknown>(told({ ...given, value }), [item(wish)])
    }
  })

  it("a preference applies to a customer without a number", () => {
    assert.deepStrictEqual<unknown>(told({ ...given, wa_id: null, user_id: ana.user_id, value: "stop" }), [
      item("opt_out", { phone: null, userId: ana.user_id })
    ])
    assert.deepStrictEqual<unknown>(told({ ...given, value: "stop" }, [ana]), [
      item("opt_out", { phone: `+${ana.wa_id}`, userId: ana.user_id })
    ])
  })

  it("a preference is ignored if it has no customer, an unknown value or an unknown subject", () => {
    assert.deepStrictEqual(told({ ...given, value: "stop", category: "calls" }), [skipped("preference:calls")])
    assert.deepStrictEqual(told({ ...given, value: "pause" }), [skipped("preference:pause")])
    assert.deepStrictEqual(told({ ...given, value: "stop", wa_id: null }), [skipped("preference:incomplete")])
    assert.deepStrictEqual(told(null), [skipped("preference")])
    assert.deepStrictEqual(
      readPost(post(entry([change("user_preferences", { user_preferences: [{ ...given, value: "stop" }] })]))),
      [skipped("preference:incomplete")]
    )
  })
})
