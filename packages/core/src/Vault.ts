/**
 * Secrets at rest (contract §5): what must be usable again is encrypted under the master key, what must only be
 * recognised is hashed with the pepper.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Aead, Digest, Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { PepperStore } from "./PepperStore.ts"
import type { Sealed } from "./Sealed.ts"

/** The master key in force, and the one before while it is being changed: 32 bytes each. */
export interface MasterKeys {
  readonly current: Redacted.Redacted<Uint8Array>
  readonly previous?: Redacted.Redacted<Uint8Array>
}

/** A secret that none of the master keys at hand can open, or that was moved to another row. */
export class UnreadableSecret extends Schema.TaggedError<UnreadableSecret>()("UnreadableSecret", {
  row: Schema.String
}) {
  override get message() {
    return `the secret of ${this.row} cannot be opened with the master key at hand`
  }
}

/** The row that the pepper belongs to, as the associated data of its encryption. */
const pepperRow = "pepper"

const bytes = (text: string) => new TextEncoder().encode(text)

export class Vault extends Context.Service<Vault, {
  /** Encrypts a secret for one row; moved to another row it cannot be opened. */
  readonly seal: (secret: string, row: string) => Effect.Effect<Sealed>
  /** Opens a secret. Failing is a defect of the set-up (a wrong master key), never a caller's mistake. */
  readonly open: (sealed: Sealed, row: string) => Effect.Effect<string, UnreadableSecret>
  /** HMAC-SHA-256 with the pepper, in hex: what is kept of an API key. */
  readonly fingerprint: (secret: string) => Effect.Effect<string>
}>()("@wac/core/Vault") {
  /**
   * Reads the pepper, or makes one on first use. One that is under the previous master key is wrapped anew under the
   * current one, so that every API key stays good; fails when neither opens it.
   */
  static readonly layer = (keys: MasterKeys) =>
    Layer.effect(
      Vault,
      Effect.gen(function*() {
        const aead = yield* Aead.Aead
        const mac = yield* Mac.Mac
        const random = yield* SecureRandom.SecureRandom
        const digest = yield* Digest.Digest
        const store = yield* PepperStore

        const ring = yield* Effect.forEach(
          keys.previous === undefined ? [keys.current] : [keys.current, keys.previous],
          Effect.fnUntraced(function*(key) {
            const material = Redacted.value(key)
            return {
              id: (yield* digest.digestHex(Digest.sha256, material)).slice(0, 8),
              key: yield* Effect.orDie(Aead.key(Aead.aes256Gcm, material))
            }
          })
        )
        const current = ring[0]!

        const sealBytes = Effect.fnUntraced(function*(secret: Uint8Array, row: string) {
          const nonce = yield* random.randomBytes(12)
          const ciphertext = yield* Effect.orDie(aead.encrypt(current.key, secret, { nonce, aad: bytes(row) }))
          return { keyId: current.id, nonce, ciphertext }
        })
        const openBytes = Effect.fnUntraced(function*(sealed: Sealed, row: string) {
          const entry = ring.find(({ id }) => id === sealed.keyId)
          if (entry === undefined) return yield* new UnreadableSecret({ row })
          return yield* aead.decrypt(entry.key, sealed.ciphertext, { nonce: sealed.nonce, aad: bytes(row) }).pipe(
            Effect.mapError(() => new UnreadableSecret({ row }))
          )
        })

        const stored = yield* store.adopt(yield* sealBytes(yield* random.randomBytes(32), pepperRow))
        const material = yield* openBytes(stored, pepperRow)
        if (stored.keyId !== current.id) yield* store.rewrap(stored, yield* sealBytes(material, pepperRow))
        const pepper = yield* Effect.orDie(Mac.key(Mac.hmacSha256, material))

        return Vault.of({
          seal: (secret, row) => sealBytes(bytes(secret), row),
          open: (sealed, row) => Effect.map(openBytes(sealed, row), (secret) => new TextDecoder().decode(secret)),
          fingerprint: (secret) => Effect.map(Effect.orDie(mac.sign(pepper, bytes(secret))), Hex.encode)
        })
      })
    )
}
