import { assert, describe, it } from "@effect/vitest"
import { type Customer, idOf, keyFor, keysOf, named } from "../../src/contacts/Contact.ts"
import { resolve } from "../../src/contacts/ContactMerge.ts"
import { id } from "../samples.ts"

describe("the key of a contact", () => {
  it("a contact's key is the user id if no number is known, else the key of the number", () => {
    assert.strictEqual(keyFor({ phone: null, userId: "US.1" }), "US.1")
    assert.strictEqual(keyFor({ phone: "+551187654321", userId: "BR.1" }), "+5511987654321")
    assert.strictEqual(keyFor({ phone: "+551187654321", userId: null }), "+5511987654321")
  })
})

const number = { id: id("pn"), workspaceId: id("ws") }
const phone = "+12025550123"
const userId = "US.1"
const byPhone: Customer = { phone, userId: null }
const byUser: Customer = { phone: null, userId }
const byBoth: Customer = { phone, userId }

/** The contact that a customer who is named so for the first time gets. */
const newContact = (customer: Customer) => resolve(number, customer, () => undefined, 5).contact

describe("a new contact", () => {
  it("an id leads back to the number's id and the customer's name", () => {
    for (const customer of [byPhone, byUser, byBoth]) {
      const one = newContact(customer)
      assert.deepStrictEqual(named(idOf(one)), { phoneNumberId: number.id, name: one.key })
    }
  })

  it("a contact has the same keys whichever name a send uses", () => {
    const both = newContact(byBoth)
    assert.deepStrictEqual([keysOf(phone, both), keysOf(userId, both)], [[phone, userId], [phone, userId]])
    assert.deepStrictEqual(keysOf(userId, newContact(byUser)), [userId])
    assert.deepStrictEqual([keysOf(phone, undefined), keysOf(userId, undefined)], [[phone], [userId]])
  })
})
