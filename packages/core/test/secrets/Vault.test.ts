import { assert, describe, it } from "@effect/vitest"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Exit, Layer, Redacted, type Scope } from "effect"
import { Aead } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as OpenedSecrets from "../../src/secrets/OpenedSecrets.ts"
import { PepperStore } from "../../src/secrets/PepperStore.ts"
import { type MasterKeys, openedFor, Vault } from "../../src/secrets/Vault.ts"
import { crypto } from "../world.ts"

const masterKey = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const [one, two] = [masterKey(1), masterKey(2)]

/** A vault of another process over the storage at hand. */
const vault = (keys: MasterKeys) =>
  Effect.map(Layer.build(Layer.fresh(Vault.layer(keys))), (context) => Context.get(context, Vault))

const storage = Layer.merge(MemoryStorage.layer, crypto)
const run = <A, E>(test: Effect.Effect<A, E, Layer.Success<typeof storage> | Scope.Scope>) =>
  Effect.provide(test, storage)

describe("a sealed secret", () => {
  it.effect("a sealed secret opens for its row, and looks different every time", () =>
    run(Effect.gen(function*() {
      const { open, seal } = yield* vault({ current: one })
      for (const secret of ["", "whsec_abc", "olá 👋", "x".repeat(10_000)]) {
        const [first, second] = [yield* seal(secret, "key_1"), yield* seal(secret, "key_1")]
        assert.strictEqual(yield* open(first, "key_1"), secret)
        assert.strictEqual(yield* open(second, "key_1"), secret)
        assert.notDeepEqual(first.nonce, second.nonce)
        assert.notDeepEqual(first.ciphertext, second.ciphertext)
        assert.deepStrictEqual([first.nonce.length, first.ciphertext.length], [
          12,
          new TextEncoder().encode(secret).length + 16
        ])
      }
    })))

  it.effect("a sealed secret does not open for another row", () =>
    run(Effect.gen(function*() {
      const { open, seal } = yield* vault({ current: one })
      const sealed = yield* seal("secret", "key_1")
      for (const row of ["key_2", "key_", "key_11", "", "pepper"]) {
        const error = yield* Effect.flip(open(sealed, row))
        assert.deepStrictEqual([error._tag, error.row], ["UnreadableSecret", row])
        assert.notInclude(error.message, "secret\"")
      }
    })))

  it.effect("a sealed secret does not open if a bit was changed", () =>
    run(Effect.gen(function*() {
      const { open, seal } = yield* vault({ current: one })
      const sealed = yield* seal("secret", "key_1")
      for (const part of ["nonce", "ciphertext"] as const) {
        for (let i = 0; i < sealed[part].length; i++) {
          const changed = Uint8Array.from(sealed[part], (byte, j) => i === j ? byte ^ 1 : byte)
          assert.isTrue(Exit.isFailure(yield* Effect.exit(open({ ...sealed, [part]: changed }, "key_1"))))
        }
      }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(open({ ...sealed, ciphertext: new Uint8Array(0) }, "key_1"))))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(open({ ...sealed, keyId: "00000000" }, "key_1"))))
    })))
})

/** A vault that counts its decryptions. */
const counting = Effect.gen(function*() {
  const aead = yield* Aead.Aead
  let decrypted = 0
  const counted = Aead.Aead.of({
    ...aead,
    decrypt: (...given) => {
      decrypted++
      return aead.decrypt(...given)
    }
  })
  const opening = yield* Effect.provideService(vault({ current: one }), Aead.Aead, counted)
  decrypted = 0
  return { ...opening, decrypted: () => decrypted }
})

describe("a decrypted secret", () => {
  it.effect("a secret is decrypted once, until the cache forgets it", () =>
    run(Effect.gen(function*() {
      const { decrypted, open, seal } = yield* counting
      const sealed = yield* seal("secret", "key_1")
      // as if read again from a storage
      const again = () =>
        open({ ...sealed, nonce: sealed.nonce.slice(), ciphertext: sealed.ciphertext.slice() }, "key_1")
      for (let i = 0; i < 10; i++) assert.strictEqual(yield* again(), "secret")
      assert.strictEqual(decrypted(), 1)
      yield* TestClock.adjust(openedFor)
      assert.strictEqual(yield* again(), "secret")
      assert.strictEqual(decrypted(), 2)
    })))

  it.effect("a cached secret is not returned for another row or ciphertext", () =>
    run(Effect.gen(function*() {
      const { open, seal } = yield* counting
      const sealed = yield* seal("secret", "key_1")
      assert.strictEqual(yield* open(sealed, "key_1"), "secret")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(open(sealed, "key_2"))))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(open({ ...sealed, keyId: "00000000" }, "key_1"))))
      const ciphertext = sealed.ciphertext.with(0, sealed.ciphertext[0]! ^ 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(open({ ...sealed, ciphertext }, "key_1"))))
      assert.strictEqual(yield* open(yield* seal("another", "key_1"), "key_1"), "another")
    })))

  it.effect("the number of cached secrets is bounded, and the oldest are evicted", () =>
    Effect.gen(function*() {
      const kept = yield* OpenedSecrets.make({ maxCount: 10, maxAge: openedFor })
      const sealed = { keyId: "0", nonce: new Uint8Array(12), ciphertext: new Uint8Array(16) }
      for (let i = 0; i < 100; i++) {
        yield* kept.keep(sealed, `key_${i}`, `secret ${i}`)
        const found = Array.from({ length: i + 1 }, (_, row) => kept.find(sealed, `key_${row}`))
        const held = found.filter((secret) => secret !== undefined)
        assert.isAtMost(held.length, 10)
        assert.deepStrictEqual(held, found.slice(-held.length))
        assert.strictEqual(held.at(-1), `secret ${i}`)
      }
    }))
})

describe("a change of the master key", () => {
  it.effect("after a change of the master key, old secrets can be opened, and new ones use the new key", () =>
    run(Effect.gen(function*() {
      const before = yield* vault({ current: one })
      const sealed = yield* before.seal("secret", "key_1")
      const after = yield* vault({ current: two, previous: one })
      assert.strictEqual(yield* after.open(sealed, "key_1"), "secret")
      const again = yield* after.seal("secret", "key_1")
      assert.notStrictEqual(again.keyId, sealed.keyId)
      assert.strictEqual((yield* Effect.flip(before.open(again, "key_1")))._tag, "UnreadableSecret")
    })))

  it.effect("a change of the master key keeps the fingerprints of API keys", () =>
    run(Effect.gen(function*() {
      const before = yield* (yield* vault({ current: one })).fingerprint("wac_live_x")
      const after = yield* (yield* vault({ current: two, previous: one })).fingerprint("wac_live_x")
      assert.strictEqual(after, before)
      assert.match(before, /^[0-9a-f]{64}$/)
    })))

  it.effect("a change to a wrong master key stops the start", () =>
    run(Effect.gen(function*() {
      yield* vault({ current: one })
      const exit = yield* Effect.exit(vault({ current: two }))
      assert.strictEqual(Exit.isFailure(exit) && Exit.hasDies(exit), false)
      assert.include(String(Exit.isFailure(exit) && exit.cause), "pepper")
    })))

  it.effect("a change from a wrong master key to the right one works", () =>
    run(Effect.gen(function*() {
      const before = yield* (yield* vault({ current: one })).fingerprint("x")
      yield* Effect.exit(vault({ current: two }))
      assert.strictEqual(yield* (yield* vault({ current: one })).fingerprint("x"), before)
      assert.strictEqual(yield* (yield* vault({ current: one, previous: two })).fingerprint("x"), before)
    })))
})

describe("the pepper", () => {
  it.effect("all processes that start concurrently get the same pepper, and another storage has another", () =>
    run(Effect.gen(function*() {
      const vaults = yield* Effect.all(Array.from({ length: 10 }, () => vault({ current: one })), {
        concurrency: "unbounded"
      })
      const prints = yield* Effect.forEach(vaults, ({ fingerprint }) => fingerprint("x"))
      assert.strictEqual(new Set(prints).size, 1)
      const elsewhere = yield* Effect.flatMap(vault({ current: one }), ({ fingerprint }) => fingerprint("x")).pipe(
        Effect.provide(Layer.fresh(storage))
      )
      assert.notStrictEqual(elsewhere, prints[0])
      assert.notStrictEqual(yield* vaults[0]!.fingerprint("y"), prints[0])
    })))

  it.effect("the pepper is never stored in the clear", () =>
    run(Effect.gen(function*() {
      const { open } = yield* vault({ current: one })
      const kept = yield* PepperStore.use((store) =>
        store.adopt({ keyId: "x", nonce: new Uint8Array(12), ciphertext: new Uint8Array(0) })
      )
      assert.strictEqual(kept.ciphertext.length, 48)
      // and cannot be read as if it were a secret of a row
      assert.strictEqual((yield* Effect.flip(open(kept, "key_1")))._tag, "UnreadableSecret")
    })))
})
