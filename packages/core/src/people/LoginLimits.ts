/**
 * The limits on failed proofs of identity: wrong passwords, codes and tokens (contract §5). Strangers spend from the
 * buckets of the account and of their address. A session, a valid invitation and a known device have buckets of their own,
 * which nobody else can empty.
 */
import { Effect, type Redacted } from "effect"
import type { SessionId, UserId } from "../Id.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import type { RateLimitStore } from "../limits/RateLimitStore.ts"
import type { Vault } from "../secrets/Vault.ts"
import { networkOf } from "../SourceAddress.ts"
import * as DeviceCookie from "./DeviceCookie.ts"
import type { Person } from "./Member.ts"

/** Ten failures, then one a minute. A person who mistypes never reaches this limit; a guesser does. */
const policy: RateLimit.Policy = { name: "login", interval: 60_000, capacity: 10 }

/** Failures per address, which many people may share. */
const addressPolicy: RateLimit.Policy = { name: "login", interval: 6_000, capacity: 50 }

/** A bucket of failures. */
export interface Bucket {
  readonly key: string
  readonly policy: RateLimit.Policy
}

/** The failures of an address, or of its network (`networkOf`): wrong passwords and codes, and tokens that are not valid. */
export const ofAddress = (address: string): Bucket => ({
  key: `login:address:${networkOf(address)}`,
  policy: addressPolicy
})

/**
 * The failures of strangers at an account, whether or not it exists. A new password begins with a full bucket, so that
 * a person who resets it can sign in.
 */
export const ofAccount = Effect.fnUntraced(function*(
  vault: Vault["Service"],
  email: string,
  person: Pick<Person, "passwordHash"> | undefined
) {
  const hash = person?.passwordHash ?? null
  // keys of buckets are stored as they are, so the password hash must not be in one
  const key = hash === null ? email : `${email} ${(yield* vault.fingerprint(`account ${hash}`)).slice(0, 16)}`
  return { key: `login:account:${key}`, policy } satisfies Bucket
})

/** The failures on a device that has signed in to the account. */
export const ofDevice = (nonce: string): Bucket => ({ key: `login:device:${nonce}`, policy })

/** The failures in a session: wrong proofs of the signed-in person. */
export const ofSession = (id: SessionId): Bucket => ({ key: `login:session:${id}`, policy })

/** The failures of strangers at a person's second factor; the strangers know the person's password. */
const ofFactor = (userId: UserId): Bucket => ({ key: `login:factor:${userId}`, policy })

/**
 * The failures at a person's second factor from a client. A device that has signed in before has its own bucket, so
 * strangers' failures at any address do not count against it.
 */
export const ofFactorFrom = Effect.fnUntraced(function*(
  vault: Vault["Service"],
  person: Pick<Person, "userId">,
  { address, device }: { readonly address: string; readonly device?: Redacted.Redacted | undefined }
) {
  const nonce = yield* DeviceCookie.nonceOf(vault, person, device)
  return nonce === undefined ? [ofFactor(person.userId), ofAddress(address)] : [ofDevice(nonce)]
})

/** The failures of the holders of valid invitations for an address. */
export const ofInvited = (email: string): Bucket => ({ key: `login:invited:${email}`, policy })

/**
 * Counts a failure in each bucket, or fails if one is empty. Callers spend before they check anything, and give back
 * if all was right, so that concurrent guesses cannot exceed the limit.
 */
export const spend = Effect.fnUntraced(function*(
  limits: RateLimitStore["Service"],
  buckets: ReadonlyArray<Bucket>,
  now: number
) {
  const readings = yield* limits.spend(buckets, now)
  yield* RateLimit.observe(readings)
  const refusal = RateLimit.refusal(readings)
  if (refusal !== undefined) return yield* refusal
})
