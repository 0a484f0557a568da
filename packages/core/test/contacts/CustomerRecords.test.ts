import { assert, describe, it } from "@effect/vitest"
import { inPost, namesOf } from "../../src/contacts/CustomerRecords.ts"

const names = namesOf("+12025550123", [])

/** A change of a post: messages to a number of the business. */
const change = (numberId: string, ...customers: ReadonlyArray<string>) => ({
  field: "messages",
  value: {
    metadata: { display_phone_number: "15550001111", phone_number_id: numberId },
    contacts: customers.map((wa_id) => ({ wa_id, profile: { name: `name of ${wa_id}` } })),
    messages: customers.map((from) => ({
      from,
      id: `wamid.${from}`,
      text: { body: `from ${from} to ${numberId}` },
      order: { product_items: [{ quantity: 1 }] }
    })),
    statuses: customers.map((recipient_id) => ({ recipient_id, errors: [{ code: 131026 }] }))
  }
})

describe("what a provider's post says of a customer", () => {
  it("only what the customer wrote to the workspace's numbers is in it, of the many messages in a post", () => {
    const body = JSON.stringify({
      object: "account",
      entry: [
        { id: "a1", changes: [change("n1", "12025550123", "12025550199"), change("n2", "12025550123")] },
        { id: "a2", changes: [change("n9", "12025550123")] },
        { id: "a3", changes: [change("n1", "12025550199")] }
      ]
    })
    assert.deepStrictEqual(JSON.parse(inPost(body, names, ["n1", "n2"])!), {
      object: "account",
      entry: [{ id: "a1", changes: [change("n1", "12025550123"), change("n2", "12025550123")] }]
    })
    assert.notInclude(inPost(body, names, ["n2"])!, "to n1")
  })

  it("a body that is no JSON, or nests too deep, is left out", () => {
    assert.isNull(inPost("from \"12025550123\"", names, ["n1"]))
    assert.isNull(inPost("[".repeat(100_000) + "]".repeat(100_000), names, ["n1"]))
  })
})
