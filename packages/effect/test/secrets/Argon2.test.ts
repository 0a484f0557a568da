import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { CryptoError, Kdf } from "effect/crypto"
import * as Argon2 from "../../src/secrets/Argon2.ts"

/** As on a Node before 24.7. */
const without = Layer.effect(
  Kdf.Kdf,
  Effect.map(Kdf.Kdf, ({ derive }) =>
    Kdf.Kdf.of({
      derive: (algorithm, secret, options) =>
        algorithm._tag !== "Argon2id" ? derive(algorithm, secret, options) : Effect.fail(
          new CryptoError.CryptoError({
            module: "Kdf",
            method: "derive",
            reason: new CryptoError.Unsupported({ description: "no argon2id" })
          })
        )
    }))
).pipe(Layer.provide(NodeCrypto.layerKdf))

const text = (length: number) => Uint8Array.from({ length }, (_, i) => i * 7 % 256)

/** What is derived with several costs, from several secrets. */
const derived = Effect.gen(function*() {
  const kdf = yield* Kdf.Kdf
  const costs = [
    { memory: 32, passes: 1, parallelism: 1 },
    { memory: 64, passes: 3, parallelism: 2 },
    { memory: 19_456, passes: 2, parallelism: 1 }
  ]
  return yield* Effect.forEach(
    costs,
    (cost) =>
      Effect.forEach(
        [0, 8, 256],
        (length) => kdf.derive(Kdf.argon2id(cost), text(length), { salt: text(16), length: 32 })
      )
  )
})

describe("argon2id", () => {
  it.effect("a Node without it derives the same as one with it", () =>
    Effect.gen(function*() {
      const portable = yield* Effect.provide(derived, Argon2.layerOver(without))
      assert.deepStrictEqual(portable, yield* Effect.provide(derived, Argon2.layer))
      assert.deepStrictEqual(portable, yield* Effect.provide(derived, NodeCrypto.layerKdf))
    }))

  it.effect("other algorithms and invalid parameters are the given Kdf's", () =>
    Effect.gen(function*() {
      const kdf = yield* Kdf.Kdf
      const error = yield* Effect.flip(
        kdf.derive(Kdf.argon2id({ memory: 0, passes: 1, parallelism: 1 }), text(8), { salt: text(16), length: 32 })
      )
      assert.strictEqual(error.reason._tag, "InvalidArgument")
    }).pipe(Effect.provide(Argon2.layerOver(NodeCrypto.layerKdf))))
})
