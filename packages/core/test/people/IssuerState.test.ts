import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as IssuerState from "../../src/people/IssuerState.ts"
import { Vault } from "../../src/secrets/Vault.ts"
import { foundation } from "../world.ts"

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
