/**
 * Secret tokens of sessions, links and challenges. A token alone grants access, so storages keep only its hash.
 */
import { Effect, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"

/** The length of a session's or a challenge's token: 256 bits. */
const length = 43

/** The length of a token in a link: 190 bits. */
const lengthInLink = 32

/** Makes new tokens, and the hashes by which storages find them. */
export interface SecretTokens {
  /** A token for a session or a challenge. */
  readonly next: Effect.Effect<Redacted.Redacted>
  /** A token for a link. */
  readonly nextForLink: Effect.Effect<Redacted.Redacted>
  readonly hashOf: (token: Redacted.Redacted) => Effect.Effect<string>
}

/** {@link SecretTokens} with the random numbers and digests of the context. */
export const make: Effect.Effect<SecretTokens, never, Digest.Digest | SecureRandom.SecureRandom> = Effect.gen(
  function*() {
    const random = yield* SecureRandom.SecureRandom
    const digest = yield* Digest.Digest
    const ofLength = (length: number) => Effect.map(Base62.random(random, length), (text) => Redacted.make(text))
    return {
      next: ofLength(length),
      nextForLink: ofLength(lengthInLink),
      hashOf: (token) => digest.digestHex(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))
    }
  }
)
