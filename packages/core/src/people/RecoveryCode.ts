/**
 * Recovery codes: each replaces a code of the authenticator app once. Only their fingerprints are stored.
 */
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { UserId } from "../Id.ts"
import type { Vault } from "../secrets/Vault.ts"

/** The number of recovery codes in a set. */
export const count = 10

/** 32 characters without those that people confuse. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/** 60 bits: the pepper keeps even a reader of the storage from guessing them. */
const length = 12

/** A code as people type it, without the differences that do not matter: case, spaces and hyphens. */
const normalized = (code: string): string => code.replaceAll(/[\s-]/g, "").toLowerCase()

const one = (random: SecureRandom.SecureRandom["Service"]) =>
  Effect.map(random.randomBytes(length), (bytes) => {
    const text = Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join("")
    return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`
  })

/** A new set of codes. */
export const make = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<ReadonlyArray<string>> =>
  Effect.replicateEffect(one(random), count)

/** The fingerprint of a person's code, which is stored instead of the code. */
export const fingerprint = (vault: Vault["Service"], userId: UserId, code: string): Effect.Effect<string> =>
  vault.fingerprint(`recovery ${userId} ${normalized(code)}`)
