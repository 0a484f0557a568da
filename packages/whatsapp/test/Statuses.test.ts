import { assert, describe, it } from "@effect/vitest"
import type { InboundItem, Message } from "@wac/core"
import { account, ana, type Json, now, number, read, secondsAgo, skipped, status } from "./posts.ts"

const messageId = "msg_01JQ8M6Z0V7QK3X9D2RS4TB5CN"
const minute = 60_000

const told = (fields: { readonly [name: string]: Json }) => read({ statuses: [status(fields)] })

const item = (
  report: Partial<Message.Report>,
  reference: string | null = null,
  more: Pick<Extract<InboundItem.InboundItem, { readonly _tag: "Status" }>, "preference" | "recipient"> = {}
): InboundItem.InboundItem =>
  ({
    _tag: "Status",
    providerNumberId: number,
    reference,
    report: { status: "delivered", at: now - minute, providerMessageId: "wamid.out.1", error: null, ...report },
    recipient: { phone: `+${ana.wa_id}`, userId: null },
    ...more
  }) as InboundItem.InboundItem

describe("a status", () => {
  it("a status is reported by its word, whatever the other fields are", () => {
    for (const word of ["sent", "delivered", "read"] as const) {
      assert.deepStrictEqual(
        told({
          status: word,
          conversation: { id: "c", expiration_timestamp: 5, origin: { type: "service" } },
          pricing: { billable: true, pricing_model: "PMP", category: "service" },
          payment: null
        }),
        [item({ status: word, pricing: { billable: true, model: "PMP", type: "regular", category: "service" } })]
      )
    }
    assert.deepStrictEqual(told({ status: "played" }), [item({ status: "read", isPlayed: true })])
    assert.deepStrictEqual(told({ status: "READ" }), [item({ status: "read" })])
  })

  it("a status has Meta's price, and none without a category", () => {
    const pricing = { billable: false, pricing_model: "PMP", type: "free_customer_service", category: "utility" }
    assert.deepStrictEqual(told({ pricing }), [
      item({ pricing: { billable: false, model: "PMP", type: "free_customer_service", category: "utility" } })
    ])
    assert.deepStrictEqual(told({ pricing: { billable: false, pricing_model: null, category: "marketing" } }), [
      item({ pricing: { billable: false, model: "CBP", type: "regular", category: "marketing" } })
    ])
    for (const none of [null, 7, [], {}, { billable: true }]) {
      assert.deepStrictEqual(told({ pricing: none }), [item({})])
    }
  })

  it.each<[billable: Json | undefined, type: string | undefined, expected: boolean | null]>([
    [undefined, "regular", true],
    [undefined, "REGULAR", true],
    [undefined, "free_customer_service", false],
    [undefined, "free_entry_point", false],
    [undefined, "unheard_of", null],
    [undefined, undefined, null],
    [null, "regular", true],
    [1, "unheard_of", null],
    ["true", "unheard_of", true],
    ["false", "regular", false],
    [false, "regular", false],
    [true, "free_entry_point", true]
  ])("a price with the billable %j and the type %j is billable: %j", (billable, type, expected) => {
    const category = "marketing"
    const given = { ...(billable === undefined ? {} : { billable }), ...(type === undefined ? {} : { type }) }
    assert.deepStrictEqual(told({ pricing: { ...given, pricing_model: "PMP", category } }), [
      item({ pricing: { billable: expected, model: "PMP", type: type ?? "regular", category } })
    ])
  })

  it("a status with an unknown word is ignored", () => {
    assert.deepStrictEqual(told({ status: "deleted" }), [skipped("status:deleted")])
    assert.deepStrictEqual(told({ status: "not a word <b>" }), [skipped("status:other")])
    assert.deepStrictEqual(told({ status: null }), [skipped("status")])
    assert.deepStrictEqual(read({ statuses: [null, 7, "sent", []] }), Array(4).fill(skipped("status")))
  })

  it("a status has the opaque reference if that is the id of a message", () => {
    assert.deepStrictEqual(told({ biz_opaque_callback_data: messageId }), [item({}, messageId)])
    for (
      const other of ["some data", `${messageId}1`, messageId.toLowerCase(), "evt_01JQ8M6Z0V7QK3X9D2RS4TB5CN", 7, null]
    ) {
      assert.deepStrictEqual(told({ biz_opaque_callback_data: other }), [item({})])
    }
  })

  it("without an id counts by the reference, and without both for nothing", () => {
    assert.deepStrictEqual(told({ id: null, biz_opaque_callback_data: messageId }), [
      item({ providerMessageId: null }, messageId)
    ])
    assert.deepStrictEqual(told({ id: "" }), [skipped("status:unnamed")])
  })

  it("a status has Meta's time, or the current time if that is missing or in the future", () => {
    const times: ReadonlyArray<readonly [Json, number]> = [
      [Number(secondsAgo(60)), now - minute],
      [`${now - minute}`, now - minute],
      [secondsAgo(-3600), now],
      ["soon", now],
      [null, now]
    ]
    for (const [timestamp, at] of times) assert.deepStrictEqual(told({ timestamp }), [item({ at })])
  })
})

describe("a failure", () => {
  const failed = (...errors: ReadonlyArray<Json>) => told({ status: "failed", errors })

  it("a failure has the code's meaning and Meta's words, in each of the shapes that errors had", () => {
    const shapes: ReadonlyArray<Json> = [
      {
        code: 131026,
        title: "Message undeliverable",
        message: "Message undeliverable",
        error_data: { details: "Not on it." }
      },
      { code: 131026, title: "Message undeliverable", details: "Not on it." },
      { code: "131026", message: "(#131026) Message undeliverable", error_data: "Not on it." }
    ]
    for (const shape of shapes) {
      assert.deepStrictEqual(failed(shape), [
        item({
          status: "failed",
          error: {
            code: "invalid_body",
            reason: "undeliverable",
            message: "the message cannot be delivered to this recipient",
            provider: { code: "131026", message: "Message undeliverable: Not on it." }
          }
        })
      ])
    }
  })

  it("a failure without a reason is reported as a failure", () => {
    for (const errors of [null, "x", [], [null], [{ title: "no code" }]]) {
      const [only, ...more] = told({ status: "failed", errors })
      assert.lengthOf(more, 0)
      assert.deepStrictEqual(
        only,
        item({
          status: "failed",
          error: {
            code: "server_error",
            reason: "provider_error",
            message: "the provider reported that the message failed but gave no reason"
          }
        })
      )
    }
  })

  it("a failure with an undocumented code is forbidden with the reason provider_policy, and keeps Meta's code and words", () => {
    const [only] = failed({ code: 987654, title: "Something new" })
    assert(only?._tag === "Status")
    assert.deepInclude(only.report.error, { code: "forbidden", reason: "provider_policy" })
    assert.deepStrictEqual(only.report.error?.provider, { code: "987654", message: "Something new" })
  })

  it("a failure because marketing was stopped opts the recipient out, by number or user id", () => {
    const error = { code: 131050, title: "User has stopped marketing messages" }
    const optOut = (fields: { readonly [name: string]: Json }, errors: Json = [error]) => {
      const [status, ...more] = told({ status: "failed", errors, ...fields })
      assert(status?._tag === "Status")
      assert.deepStrictEqual(more, [])
      return [status.preference, status.recipient]
    }
    const phone = `+${ana.wa_id}`
    assert.deepStrictEqual(optOut({}), ["opt_out", { phone, userId: null }])
    assert.deepStrictEqual(optOut({ recipient_user_id: ana.user_id }), ["opt_out", { phone, userId: ana.user_id }])
    assert.deepStrictEqual(optOut({ recipient_id: null, recipient_user_id: ana.user_id }), [
      "opt_out",
      { phone: null, userId: ana.user_id }
    ])
    // the message says whose it is
    assert.deepStrictEqual(optOut({ recipient_id: null }), ["opt_out", undefined])
    assert.deepStrictEqual(optOut({}, [{ code: 131026 }, error])[0], "opt_out")
    assert.deepStrictEqual(optOut({ recipient_type: "group" }), [undefined, undefined])
  })

  it("a failure because of the number or its account blocks it from the time of the failure", () => {
    const blocked = (code: number) => {
      const [, second] = failed({ code, title: "No" })
      assert(second?._tag === "Number" && second.change.block)
      assert.deepStrictEqual([second.at, second.change.block.since], [now - minute, now - minute])
      return [second.number, second.change.block.reason, second.change.block.provider]
    }
    assert.deepStrictEqual(blocked(131048), [{ providerNumberId: number }, "quality", {
      code: "131048",
      message: "No"
    }])
    assert.deepStrictEqual(blocked(131031), [{ providerAccountId: account }, "restricted", {
      code: "131031",
      message: "No"
    }])
  })

  it("a failure because of a template has the templates listed again", () => {
    for (const code of [132001, 132015]) {
      assert.deepStrictEqual(failed({ code })[1], { _tag: "TemplatesChanged", providerAccountId: account })
    }
  })

  it("errors of a status other than failed are no failure, but an opt-out in them counts", () => {
    assert.deepStrictEqual(told({ errors: [{ code: 131026 }] }), [item({})])
    assert.deepStrictEqual(told({ errors: [{ code: 131050 }] }), [item({}, null, { preference: "opt_out" })])
  })
})
