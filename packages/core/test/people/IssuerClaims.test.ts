import { assert, describe, it } from "@effect/vitest"
import { provenAt, verifiedEmail } from "../../src/people/IssuerClaims.ts"

describe("an address at an issuer", () => {
  it("an address counts only if the issuer states with a boolean that it has verified the address", () => {
    assert.strictEqual(verifiedEmail({ email: "Ada@Example.com", emailVerified: true }), "ada@example.com")
    for (const emailVerified of [undefined, null, false, 0, 1, "", "false", "true", [], {}]) {
      assert.isNull(verifiedEmail({ email: "ada@example.com", emailVerified }))
    }
  })

  it("text that is no address, or that looks like another address, does not count", () => {
    for (const email of [undefined, null, 1, "", "ada", "a@b@c", "ada\u0000@example.com", "\u212Aate@example.com"]) {
      assert.isNull(verifiedEmail({ email, emailVerified: true }))
    }
  })
})

describe("the time at which an issuer's person proved who they are", () => {
  it("the time of the proof is the issuer's, never later than now, and long ago if the issuer has none", () => {
    assert.strictEqual(provenAt({ authTime: 100 }, 500_000), 100_000)
    assert.strictEqual(provenAt({ authTime: 900 }, 500_000), 500_000)
    for (const authTime of [undefined, null, "100", -1, Number.NaN, true, {}]) {
      assert.strictEqual(provenAt({ authTime }, 500_000), 0)
    }
  })
})
