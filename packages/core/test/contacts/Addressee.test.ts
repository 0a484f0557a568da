import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Addressee, countryOf } from "../../src/contacts/Addressee.ts"
import { keyFor } from "../../src/contacts/Contact.ts"
import { customerOf, isUserId, keyOf } from "../../src/contacts/CustomerNames.ts"
import { checks } from "../checks.ts"

const userIds = ["US.13491208655302741918", "US.ENT.11815799212886844830", "BR.a", `DE.${"9".repeat(128)}`]

const UserId = Schema.String.check(Schema.isPattern(/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/))
const Number = Schema.String.check(Schema.isPattern(/^\+1[2-9][0-9]{9}$/))

describe("the addressee of a send", () => {
  it.each(["+12025550123", "+5215512345678", "+22997123456", "+4407123456789", "foo_bar", ...userIds])(
    "an addressee may be a number in any form, or a user id: %s",
    (to) => {
      assert.isTrue(Schema.is(Addressee)(to))
    }
  )

  it.each([
    "",
    "12025550123",
    "+1202",
    "+1234567890123456",
    "+0123456789",
    "+1 202 555 0123",
    "U",
    "US. 1",
    "US.1\n",
    `US.${"9".repeat(198)}`,
    "+US.1"
  ])("an addressee is refused: %j", (to) => {
    assert.isFalse(Schema.is(Addressee)(to))
  })

  it("what is wrong is said about what was meant", () => {
    const said = (to: string) => String(Schema.decodeUnknownResult(Addressee)(to))
    assert.include(said("+1202"), "E.164")
    assert.include(said("1202"), "or the provider's user id of a customer")
  })

  it.prop("a number is never a user id", { number: Number }, ({ number }) => {
    assert.isFalse(isUserId(number))
    assert.isTrue(Schema.is(Addressee)(number))
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
