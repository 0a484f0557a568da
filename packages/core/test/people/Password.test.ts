import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Cost, Password, Passwords } from "../../src/people/Password.ts"

const cheap = { memory: 32, passes: 1, parallelism: 1 }

const passwords = (cost = cheap) =>
  Passwords.layer.pipe(
    Layer.provide([NodeCrypto.layerKdf, SecureRandom.layerWebCrypto]),
    Layer.provide(Layer.succeed(Cost, cost))
  )

const hash = (password: string) => Passwords.use((_) => _.hash(Redacted.make(password)))
const verify = (password: string, stored: string | undefined) =>
  Passwords.use((_) => _.verify(Redacted.make(password), stored))

describe("a password", () => {
  it.effect("a password is stored as argon2id with its parameters and its own salt", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* hash("correct horse"), yield* hash("correct horse")]
      assert.match(one, /^\$argon2id\$v=19\$m=32,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
      assert.notStrictEqual(one, other)
      assert.isTrue(yield* verify("correct horse", one))
      assert.isTrue(yield* verify("correct horse", other))
    }).pipe(Effect.provide(passwords())))

  it.effect("only the right password verifies", () =>
    Effect.gen(function*() {
      const stored = yield* hash("correct horse")
      for (const wrong of ["", "correct hors", "correct horse ", "Correct horse", "correct horsé", stored]) {
        assert.isFalse(yield* verify(wrong, stored), wrong)
      }
      assert.isTrue(yield* verify("olá 👋 senha", yield* hash("olá 👋 senha")))
    }).pipe(Effect.provide(passwords())))

  it.effect("a password is verified with the parameters of its hash, whatever the present cost", () =>
    Effect.gen(function*() {
      const stored = yield* Effect.provide(hash("correct horse"), passwords())
      assert.isTrue(
        yield* Effect.provide(verify("correct horse", stored), passwords({ ...cheap, memory: 64, passes: 2 }))
      )
    }))

  it.effect("verification fails for a missing hash and for a malformed or unsupported one", () =>
    Effect.gen(function*() {
      for (const stored of [undefined, "", "plain", "$argon2i$v=19$m=32,t=1,p=1$AAAA$AAAA", "$2b$10$abc"]) {
        assert.isFalse(yield* verify("plain", stored), stored)
      }
    }).pipe(Effect.provide(passwords())))
})

describe("the rules for passwords", () => {
  const decode = Schema.decodeUnknownResult(Password)
  it.each<[string, boolean]>([
    ["1234567", false],
    ["12345678", true],
    ["x".repeat(256), true],
    ["x".repeat(257), false],
    ["👋".repeat(8), true],
    ["👋".repeat(7), false],
    ["1234567\u0000", false],
    ["        ", true]
  ])("%j: %s", (text, allowed) => {
    const result = decode(text)
    assert.strictEqual(Result.isSuccess(result), allowed)
    if (Result.isSuccess(result)) assert.strictEqual(Redacted.value(result.success), text)
    else assert.notInclude(String(result.failure), text)
  })
})
