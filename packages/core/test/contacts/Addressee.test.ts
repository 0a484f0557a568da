import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Addressee, countryOf, customerOf, isUserId } from "../../src/contacts/Addressee.ts"
import { keyFor, keyOf } from "../../src/contacts/Contact.ts"
import { E164 } from "../../src/numbers/PhoneNumber.ts"
import { checks } from "../checks.ts"

const userIds = ["US.13491208655302741918", "US.ENT.11815799212886844830", "BR.a", `DE.${"9".repeat(128)}`]

const UserId = Schema.String.check(Schema.isPattern(/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/))
const Number = Schema.String.check(Schema.isPattern(/^\+1[2-9][0-9]{9}$/))

describe("the addressee of a send", () => {
  it.each(["+12025550123", ...userIds])("is a possible number or a user id: %s", (to) => {
    assert.isTrue(Schema.is(Addressee)(to))
  })

  it.each([
    "",
    "12025550123",
    "+1202",
    "us.1",
    "USA.1",
    "US1",
    "US.",
    "US.ENT.",
    "US. 1",
    "US.1\n",
    "US.1-2",
    "US.ENT.1.2",
    `US.${"9".repeat(129)}`,
    "+US.1"
  ])("is nothing else: %j", (to) => {
    assert.isFalse(Schema.is(Addressee)(to))
  })

  it("what is wrong is said about what was meant", () => {
    const said = (to: string) => String(Schema.decodeUnknownResult(Addressee)(to))
    assert.include(said("+1202"), "possible in its country")
    assert.include(said("1202"), "or the provider's user id of a customer")
  })

  it.prop("a number is never a user id, and every number is still accepted", { number: Number }, ({ number }) => {
    assert.isFalse(isUserId(number))
    assert.strictEqual(Schema.is(Addressee)(number), Schema.is(E164)(number))
    assert.deepStrictEqual(customerOf(number), { phone: number, userId: null })
    assert.isUndefined(countryOf(number))
  }, checks)

  it.prop("a user id is its own key, and begins with its country", { userId: UserId }, ({ userId }) => {
    assert.isTrue(isUserId(userId))
    assert.deepStrictEqual(customerOf(userId), { phone: null, userId })
    assert.strictEqual(keyOf(userId), userId)
    assert.strictEqual(keyFor(customerOf(userId)), userId)
    assert.strictEqual(countryOf(userId), userId.slice(0, 2))
  }, checks)
})
