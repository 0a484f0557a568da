import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { provenAt, verifiedEmail } from "../../src/people/Issuer.ts"
import * as IssuerState from "../../src/people/IssuerState.ts"
import { Vault } from "../../src/secrets/Vault.ts"
import { foundation } from "../world.ts"

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

describe("the state of a sign-in", () => {
  const now = 1_000_000
  const state = { state: "s", nonce: "n", codeVerifier: "v", page: "/dashboard/“é”", until: now + 1 }

  it.effect("a sign-in's state opens as it was sealed, until it expires", () =>
    Effect.gen(function*() {
      const vault = yield* Vault
      const sealed = yield* IssuerState.seal(vault, state)
      // as a cookie's value, unquoted
      assert.match(sealed, /^[\w.-]+$/)
      assert.deepStrictEqual(yield* IssuerState.open(vault, sealed, now), state)
      assert.isUndefined(yield* IssuerState.open(vault, sealed, now + 1))
      assert.strictEqual(Duration.toMinutes(IssuerState.lifetime), 10)
    }).pipe(Effect.provide(foundation)))

  it.effect("a sign-in's state does not open with a changed character, without its MAC, or under another pepper", () =>
    Effect.gen(function*() {
      const vault = yield* Vault
      const sealed = yield* IssuerState.seal(vault, state)
      for (let i = 0; i < sealed.length; i++) {
        const changed = `${sealed.slice(0, i)}${sealed[i] === "a" ? "b" : "a"}${sealed.slice(i + 1)}`
        assert.isUndefined(yield* IssuerState.open(vault, changed, now), changed)
      }
      for (const value of ["", ".", sealed.split(".")[0]!, `${sealed}0`, `.${sealed.split(".")[1]!}`]) {
        assert.isUndefined(yield* IssuerState.open(vault, value, now), value)
      }
      const other = yield* Vault.pipe(Effect.provide(Layer.fresh(foundation)))
      assert.isUndefined(yield* IssuerState.open(other, sealed, now))
    }).pipe(Effect.provide(foundation)))

  it.effect("a sign-in's state does not open if its body is none, even with a valid MAC", () =>
    Effect.gen(function*() {
      const vault = yield* Vault
      for (const body of ["e30", "bnVsbA", "AAAA", "a"]) {
        const sealed = `${body}.${yield* vault.fingerprint(`issuer ${body}`)}`
        assert.isUndefined(yield* IssuerState.open(vault, sealed, now), body)
      }
    }).pipe(Effect.provide(foundation)))
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
