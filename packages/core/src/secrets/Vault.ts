/**
 * The service that protects stored secrets (contract §5). Secrets that must be read again are encrypted under the
 * master key. Secrets that must only be recognized are hashed with the pepper.
 */
import { Context, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { Aead, Digest, Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Elapsed from "../Elapsed.ts"
import * as OpenedSecrets from "./OpenedSecrets.ts"
import { PepperStore } from "./PepperStore.ts"
import type { Sealed } from "./Sealed.ts"
import { pepperRow } from "./SealedSecretStore.ts"

/** The current master key, and the previous one during a change: 32 bytes each. */
export interface MasterKeys {
  readonly current: Redacted.Redacted<Uint8Array>
  readonly previous?: Redacted.Redacted<Uint8Array>
}

/** A secret that no configured master key can open, or that was moved to another row. */
export class UnreadableSecret extends Schema.TaggedError<UnreadableSecret>()("UnreadableSecret", {
  row: Schema.String,
  /** The first 8 hexadecimal digits of the SHA-256 of the master key that sealed it. */
  keyId: Schema.String
}) {
  override get message() {
    return `the secret of ${this.row}, sealed under master key ${this.keyId}, cannot be opened with the keys at hand`
  }
}

/** A row's failure is logged at most this often, since the code that needs the secret retries. */
export const reportEvery = Duration.minutes(10)

/** The number of rows whose last log time is remembered. Beyond it the log may repeat itself. */
const reportedRows = 10_000

/** The capacity of the cache of opened secrets. Beyond it the oldest are evicted. */
export const maxOpened = 10_000

/** How long an opened secret is cached. */
export const openedFor = Duration.minutes(5)

const bytes = (text: string) => new TextEncoder().encode(text)

export class Vault extends Context.Service<Vault, {
  /** Identifiers of the configured master keys, which reveal nothing about the keys. */
  readonly keyIds: { readonly current: string; readonly previous: string | undefined }
  /** Encrypts a secret for one row. It cannot be opened for another row. */
  readonly seal: (secret: string, row: string) => Effect.Effect<Sealed>
  /**
   * Opens a secret, or returns it from the cache ({@link openedFor}). Failure means a configuration error (a lost or
   * wrong master key), never a caller's mistake. It is logged for the operator, once per row every {@link reportEvery}.
   */
  readonly open: (sealed: Sealed, row: string) => Effect.Effect<string, UnreadableSecret>
  /** Seals the same secret for the same row under the current master key. Fails and logs as `open` does. */
  readonly rewrap: (sealed: Sealed, row: string) => Effect.Effect<Sealed, UnreadableSecret>
  /** HMAC-SHA-256 with the pepper, in hexadecimal. An API key, for example, is stored only as its fingerprint. */
  readonly fingerprint: (secret: string) => Effect.Effect<string>
}>()("@wac/core/secrets/Vault") {
  /** Reads the pepper, or creates one on first use. Fails if no configured master key opens it. */
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
          if (entry === undefined) return yield* new UnreadableSecret({ row, keyId: sealed.keyId })
          return yield* aead.decrypt(entry.key, sealed.ciphertext, { nonce: sealed.nonce, aad: bytes(row) }).pipe(
            Effect.mapError(() => new UnreadableSecret({ row, keyId: sealed.keyId }))
          )
        })

        const stored = yield* store.adopt(yield* sealBytes(yield* random.randomBytes(32), pepperRow))
        const pepper = yield* Effect.orDie(Mac.key(Mac.hmacSha256, yield* openBytes(stored, pepperRow)))

        const reported = new Map<string, number>()
        const report = Effect.fnUntraced(function*(error: UnreadableSecret) {
          const now = yield* Elapsed.now
          const before = reported.get(error.row)
          if (before !== undefined && now - before < Duration.toMillis(reportEvery)) return
          if (reported.size >= reportedRows) reported.clear()
          reported.set(error.row, now)
          yield* Effect.logError(error.message)
        })
        const opened = (sealed: Sealed, row: string) => Effect.tapError(openBytes(sealed, row), report)

        const kept = yield* OpenedSecrets.make({ maxCount: maxOpened, maxAge: openedFor })
        const openKept = (sealed: Sealed, row: string): Effect.Effect<string, UnreadableSecret> => {
          const secret = kept.find(sealed, row)
          return secret !== undefined ? Effect.succeed(secret) : Effect.flatMap(opened(sealed, row), (bytes) => {
            const secret = new TextDecoder().decode(bytes)
            return Effect.as(kept.keep(sealed, row, secret), secret)
          })
        }

        return Vault.of({
          keyIds: { current: current.id, previous: ring[1]?.id },
          seal: (secret, row) => sealBytes(bytes(secret), row),
          open: openKept,
          rewrap: (sealed, row) => Effect.flatMap(opened(sealed, row), (secret) => sealBytes(secret, row)),
          fingerprint: (secret) => Effect.map(Effect.orDie(mac.sign(pepper, bytes(secret))), Hex.encode)
        })
      })
    )
}
