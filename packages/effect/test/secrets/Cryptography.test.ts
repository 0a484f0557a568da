import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Digest, Mac, SecureRandom } from "effect/crypto"
import * as Cryptography from "../../src/secrets/Cryptography.ts"

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i * 7 % 256)

/** The outputs of every algorithm for a few keys and texts, computed twice. */
const outputs = Effect.gen(function*() {
  const digest = yield* Digest.Digest
  const mac = yield* Mac.Mac
  const all: Array<unknown> = []
  for (const hash of [Digest.md5, Digest.sha1, Digest.sha256, Digest.sha384, Digest.sha512]) {
    for (const length of [0, 1, 64, 1000]) {
      all.push(yield* digest.digest(hash, bytes(length)), yield* digest.digestHex(hash, bytes(length)))
    }
  }
  for (const algorithm of [Mac.hmacSha1, Mac.hmacSha256, Mac.hmacSha384, Mac.hmacSha512]) {
    for (const length of [1, 32, 200]) {
      const key = yield* Mac.key(algorithm, bytes(length))
      const other = yield* Mac.key(algorithm, bytes(length + 1))
      for (const data of [bytes(0), bytes(45), bytes(0)]) {
        const tag = yield* mac.sign(key, data)
        all.push(
          tag,
          yield* mac.sign(other, data),
          yield* mac.verify(key, tag, data),
          yield* mac.verify(other, tag, data)
        )
      }
    }
  }
  return all
})

describe("the process's cryptography", () => {
  it.effect("it computes the same as NodeCrypto", () =>
    Effect.gen(function*() {
      const ours = yield* Effect.provide(outputs, Cryptography.layer)
      assert.deepStrictEqual(ours, yield* Effect.provide(outputs, NodeCrypto.layer))
    }))

  it.effect("random bytes of any size are never the same twice, and none are kept", () =>
    Effect.gen(function*() {
      const random = yield* SecureRandom.SecureRandom
      const seen = new Set<string>()
      for (let i = 0; i < 2000; i++) {
        const given = yield* random.randomBytes(16)
        assert.strictEqual(given.length, 16)
        assert.strictEqual(given.buffer.byteLength, 16)
        seen.add(given.join())
      }
      assert.strictEqual(seen.size, 2000)
      for (const size of [0, 1, 4096, 4097, 100_000]) {
        const given = yield* random.randomBytes(size)
        assert.strictEqual(given.length, size)
        if (size > 1000) assert.isAbove(new Set(given).size, 200)
      }
    }).pipe(Effect.provide(Cryptography.layer)))
})
