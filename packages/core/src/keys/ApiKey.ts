/**
 * API keys (specification §2 and §5, contract §5): the stored model, the token format and the check that a key is
 * usable. Pure, except that new tokens are random.
 */
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import { Unauthorized } from "../Errors.ts"
import type { ApiKeyId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Instant } from "../Time.ts"
import type { ApiScope } from "./ApiScope.ts"
import type { KeyBinding } from "./KeyBinding.ts"

/** An API key as it is stored. */
export interface ApiKey extends KeyBinding {
  readonly id: ApiKeyId
  readonly workspaceId: WorkspaceId
  readonly name: string
  /** `wac_live_` and the next four characters: enough to recognize a key, useless for guessing it. */
  readonly prefix: string
  readonly scopes: ReadonlyArray<ApiScope>
  /** HMAC of the whole token under the pepper. The token itself is never stored. */
  readonly tokenHash: string
  /** The secret that signs requests, sealed for the row `id`. */
  readonly signingSecret: Sealed
  /** Whether mutating requests must be signed. */
  readonly requireSignature: boolean
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
  readonly lastUsedAt: Instant | null
}

/** The prefix of every token, so that secret scanners find it. */
export const tokenPrefix = "wac_live_"

/**
 * 30 base62 characters hold 178 bits, and six hold a CRC-32. Secret scanners know these lengths from GitHub's tokens.
 */
const entropyLength = 30
const checksumLength = 6

/** How many characters after {@link tokenPrefix} are shown in lists. */
const shownLength = 4

/** Generates a token: `wac_live_`, 30 random base62 characters and a 6-character checksum. */
export const generateToken = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<string> =>
  Effect.map(Base62.random(random, entropyLength), (entropy) => tokenPrefix + entropy + checksum(entropy))

/** The part of a token that may be shown. */
export const prefixOf = (token: string): string => token.slice(0, tokenPrefix.length + shownLength)

/**
 * Whether a text has the format and checksum of a token. This check saves a lookup for invalid texts. The key need not
 * exist.
 */
export const isWellFormed = (token: string): boolean => {
  const match = /^wac_live_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/.exec(token)
  return match !== null && checksum(match[1]!) === match[2]
}

/** The error for a token that matches no key. It does not reveal which part of the token is wrong. */
export const invalid = (): Unauthorized =>
  new Unauthorized({ reason: "invalid_key", message: "the API key is not valid" })

/** The error for a revoked or expired key; `undefined` if the key is usable now. Checked at every use. */
export const refusal = (key: Pick<ApiKey, "revokedAt" | "expiresAt">, now: Instant): Unauthorized | undefined =>
  key.revokedAt !== null
    ? new Unauthorized({ reason: "revoked_key", message: "the API key was revoked" })
    : key.expiresAt !== null && key.expiresAt <= now
    ? new Unauthorized({ reason: "expired_key", message: "the API key has expired" })
    : undefined

const checksum = (entropy: string): string => Base62.encode(crc32(entropy), checksumLength)

const crc32 = (ascii: string): number => {
  let crc = 0xffffffff
  for (let i = 0; i < ascii.length; i++) {
    crc ^= ascii.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
