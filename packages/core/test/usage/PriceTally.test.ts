import { assert, describe, it } from "@effect/vitest"
import { erase } from "../../src/contacts/MessageErasure.ts"
import type { Message, Pricing } from "../../src/messages/Message.ts"
import { changes } from "../../src/usage/PriceTally.ts"
import * as samples from "../samples.ts"

const paid: Pricing = { billable: true, model: "PMP", category: "marketing", type: "regular" }
const free: Pricing = { ...paid, billable: false }

/** The message after its customer was erased. */
const erased = (message: Message): Message =>
  erase([{ message, binding: null, quotaMonth: null, returnedMonth: null }]).writes.sends[0]!.message

/** How the counts change when the price is told. */
const told = (before: Message, pricing: Pricing) =>
  changes([{ before, after: { ...before, pricing } }])
    .map(({ billable, market, messages }) => [market, billable, messages])

describe("changes", () => {
  const sent = samples.message({ status: "sent", sentAt: samples.start })

  it("a message counts under the price that was told last", () => {
    assert.deepStrictEqual(told(sent, paid), [["US", true, 1]])
    assert.deepStrictEqual(told({ ...sent, pricing: paid }, free), [["US", true, -1], ["US", false, 1]])
    assert.deepStrictEqual(told({ ...sent, pricing: paid }, paid), [])
  })

  it("a message counts in the hour in which it was sent, even if that is reported after its price", () => {
    const hour = 3_600_000
    const waited = samples.message({ status: "sending", createdAt: samples.start - 30 * 24 * hour, pricing: paid })
    const hoursOf = (before: Message, after: Message) =>
      changes([{ before, after }]).map(({ hour, messages }) => [hour, messages])
    const startOf = (at: number) => at - at % hour
    const accepted = { ...waited, pricing: null }
    assert.deepStrictEqual(hoursOf({ ...accepted, sentAt: samples.start }, { ...waited, sentAt: samples.start }), [
      [startOf(samples.start), 1]
    ])
    assert.deepStrictEqual(hoursOf(accepted, waited), [[startOf(waited.createdAt), 1]])
    assert.deepStrictEqual(hoursOf(waited, { ...waited, sentAt: samples.start }), [
      [startOf(waited.createdAt), -1],
      [startOf(samples.start), 1]
    ])
  })

  it("after its customer was erased, a message stays counted as it was", () => {
    assert.deepStrictEqual(told(erased({ ...sent, pricing: paid }), free), [])
  })

  it("a price that is first told after the customer was erased counts under no market", () => {
    assert.deepStrictEqual(told(erased(sent), paid), [["ZZ", true, 1]])
  })
})
