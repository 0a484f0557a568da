import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import { Kdf, SecureRandom } from "effect/crypto"
import { commonPasswords } from "../../src/people/CommonPasswords.ts"
import { Cost, Password, Passwords, refusal } from "../../src/people/Password.ts"

const cheap = { memory: 32, passes: 1, parallelism: 1 }

const passwords = (cost = cheap) =>
  Passwords.layer.pipe(
    Layer.provide([NodeCrypto.layerKdf, SecureRandom.layerWebCrypto]),
    Layer.provide(Layer.succeed(Cost, cost))
  )

const hash = (password: string) =>
  Passwords.use((_) => _.choose(Redacted.make(password), { email: "ada@example.com", param: "password" }))
/** A hash of exactly this text, without the rules. */
const oldHash = (password: string) =>
  Effect.gen(function*() {
    const kdf = yield* Kdf.Kdf
    const salt = new Uint8Array(16).fill(1)
    const made = yield* kdf.derive(Kdf.argon2id(cheap), new TextEncoder().encode(password), { salt, length: 32 })
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replace(/=+$/, "")
    return `$argon2id$v=19$m=32,t=1,p=1$${text(salt)}$${text(made)}`
  })
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

  it.effect("a password verifies however its characters are composed", () =>
    Effect.gen(function*() {
      const [composed, decomposed] = ["olá mundo".normalize("NFC"), "olá mundo".normalize("NFD")]
      assert.isTrue(yield* verify(decomposed, yield* hash(composed)))
      assert.isTrue(yield* verify(composed, yield* hash(decomposed)))
      assert.isFalse(yield* verify("ola mundo", yield* hash(composed)))
    }).pipe(Effect.provide(passwords())))

  it.effect("a password verifies if its hash was made of decomposed text", () =>
    Effect.gen(function*() {
      const decomposed = "olá mundo".normalize("NFD")
      const stored = yield* oldHash(decomposed)
      assert.isTrue(yield* verify(decomposed, stored))
    }).pipe(Effect.provide([passwords(), NodeCrypto.layerKdf])))

  it.effect("a common password is refused when it is chosen, and verifies at a sign-in", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(hash("password"))).reason, "invalid_field")
      assert.isTrue(yield* verify("password", yield* oldHash("password")))
    }).pipe(Effect.provide([passwords(), NodeCrypto.layerKdf])))

  it.effect("verification fails for a missing hash and for a malformed or unsupported one", () =>
    Effect.gen(function*() {
      for (const stored of [undefined, "", "plain", "$argon2i$v=19$m=32,t=1,p=1$AAAA$AAAA", "$2b$10$abc"]) {
        assert.isFalse(yield* verify("plain", stored), stored)
      }
    }).pipe(Effect.provide(passwords())))
})

describe("a password that somebody chooses", () => {
  const refused = (password: string) => refusal(Redacted.make(password), { email: "josé@example.com", param: "new" })

  it("the 3,000 most common passwords are refused, by their exact text", () => {
    assert.strictEqual(commonPasswords.size, 3000)
    for (const common of commonPasswords) {
      assert.include(refused(common), { reason: "invalid_field", param: "new" })
      assert.notInclude(refused(common)!.message, `"${common}"`)
    }
    for (const other of ["Password", " password", "password and more"]) assert.isUndefined(refused(other), other)
  })

  it("the person's own address is refused, however it is written", () => {
    assert.include(refused("José@Example.COM"), { param: "new" })
    for (const form of ["NFC", "NFD"]) assert.include(refused("josé@example.com".normalize(form)), { param: "new" })
    assert.isUndefined(refused("josé@example.com."))
  })

  it("the length counts composed characters", () => {
    assert.isDefined(refused("áéíóúàè".normalize("NFD")))
    assert.isUndefined(refused("áéíóúàèì".normalize("NFD")))
  })
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
