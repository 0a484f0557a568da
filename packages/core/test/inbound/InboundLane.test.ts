import { assert, describe, it } from "@effect/vitest"
import type { Customer } from "../../src/contacts/Contact.ts"
import type { MessageId } from "../../src/Id.ts"
import type { InboundItem } from "../../src/inbound/InboundItem.ts"
import * as InboundLane from "../../src/inbound/InboundLane.ts"
import { message } from "../posting.ts"

/** The items' indexes by lane, in the order of each lane's first. */
const lanes = (...items: ReadonlyArray<InboundItem>) =>
  InboundLane.divide(items.map((item, i) => ({ item, i })), ({ item }) => item)
    .map((lane) => lane.map(({ i }) => i))
    .sort((a, b) => a[0]! - b[0]!)

const status = (reference: string | null, providerMessageId: string | null): InboundItem => ({
  _tag: "Status",
  providerNumberId: "number",
  reference: reference as MessageId | null,
  report: { status: "sent", at: 0, providerMessageId, error: null }
})

const preference = (customer: Customer, providerNumberId = "number"): InboundItem => ({
  _tag: "Preference",
  providerNumberId,
  customer,
  preference: "opt_out",
  at: 0
})

const moved = (from: Customer, to: Customer): InboundItem => ({
  _tag: "CustomerMoved",
  providerNumberId: "number",
  from,
  to,
  at: 0
})

describe("lanes", () => {
  it("nothing has no lanes", () => assert.deepStrictEqual(lanes(), []))

  it("a lane holds the items about one message, by any of its names", () => {
    assert.deepStrictEqual(
      lanes(
        status("msg_1", null),
        status("msg_2", "wamid.2"),
        status(null, "wamid.1"),
        status(null, "wamid.2"),
        status("msg_1", "wamid.1"),
        status("msg_1", null)
      ),
      [[0, 2, 4, 5], [1, 3]]
    )
  })

  it("a lane holds the items about one customer of one number, by any of their names", () => {
    const known = { phone: "+5511999990000", userId: "BR.1" }
    assert.deepStrictEqual(
      lanes(
        message(1, "+551199990000"),
        preference({ phone: null, userId: "BR.1" }),
        message(2, "+12025550124"),
        preference(known),
        preference(known, "another number"),
        message(3, "+5511999990000")
      ),
      [[0, 1, 3, 5], [2], [4]]
    )
  })

  it("a lane holds both numbers of a moved customer", () => {
    const [a, b, c] = ["+12025550101", "+12025550102", "+12025550103"].map((phone) => ({ phone, userId: null }))
    assert.deepStrictEqual(
      lanes(message(1, a!.phone), message(2, c!.phone), moved(a!, b!), message(3, b!.phone), moved(b!, c!)),
      [[0, 1, 2, 3, 4]]
    )
  })

  it("templates, numbers and skipped items have lanes of their own", () => {
    const template = (name: string, language = "en"): InboundItem => ({
      _tag: "Template",
      providerAccountId: "account",
      name,
      language,
      at: 0,
      change: {}
    })
    const number = (providerNumberId: string): InboundItem => ({
      _tag: "Number",
      number: { providerNumberId },
      at: 0,
      change: {}
    })
    const skipped: InboundItem = { _tag: "Skipped", kind: "calls" }
    assert.deepStrictEqual(
      lanes(
        template("a"),
        template("b"),
        template("a", "de"),
        template("a"),
        number("1"),
        number("2"),
        number("1"),
        skipped,
        skipped,
        { _tag: "TemplatesChanged", providerAccountId: "account" }
      ),
      [[0, 3], [1], [2], [4, 6], [5], [7], [8], [9]]
    )
  })

  it("a thousand unrelated items have a thousand lanes", () => {
    const items = Array.from({ length: 3000 }, (_, i) => status(null, `wamid.${i % 1000}`))
    assert.deepStrictEqual(lanes(...items), Array.from({ length: 1000 }, (_, i) => [i, i + 1000, i + 2000]))
  })
})
