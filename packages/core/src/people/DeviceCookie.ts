/**
 * Device cookies (OWASP, *Slow down online guessing attacks with device cookies*). On a device that has signed in to an
 * account, later failures are counted separately from everybody else's. So strangers who guess passwords lock the owner
 * out only on new devices. Pure cryptography; nothing is stored.
 *
 * The value is `<nonce>.<mac>` and reveals nothing about the account. The MAC covers account, password hash and nonce,
 * so a cookie is valid for one account, and a new password invalidates all of them.
 */
import { Duration, Effect, Redacted } from "effect"
import { Mac, type SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import type * as RateLimit from "../limits/RateLimit.ts"
import type { Vault } from "../secrets/Vault.ts"
import type { Person } from "./Member.ts"

/** How long a browser keeps the cookie: the longest that browsers allow. Each sign-in renews it. */
export const lifetime = Duration.days(400)

/** 16 base62 characters: 95 bits, so that no two devices share a bucket. */
const nonceLength = 16

/** The same limit as per account: ten failures, then one a minute. A stolen cookie allows no faster guessing. */
export const policy: RateLimit.Policy = { name: "login", interval: 60_000, capacity: 10 }

/** The key of a device's bucket in storage. */
export const bucket = (nonce: string): string => `login:device:${nonce}`

type Account = Pick<Person, "userId" | "passwordHash">

// no part contains a space; the only other input hashed with the pepper, an API key, has a different prefix
const mac = (vault: Vault["Service"], { passwordHash, userId }: Account, nonce: string) =>
  vault.fingerprint(`device ${userId} ${passwordHash} ${nonce}`)

/**
 * The cookie's value for a device that has signed in. It keeps the nonce, and so the bucket, of a previously valid
 * value.
 */
export const make = Effect.fnUntraced(function*(
  vault: Vault["Service"],
  random: SecureRandom.SecureRandom["Service"],
  account: Account,
  known: string | undefined
) {
  const nonce = known ?? (yield* Base62.random(random, nonceLength))
  return Redacted.make(`${nonce}.${yield* mac(vault, account, nonce)}`)
})

/** The nonce of a well-formed value. The value need not be genuine. */
export const nonceOf = (value: Redacted.Redacted): string | undefined =>
  /^([0-9A-Za-z]{16})\.[0-9a-f]{64}$/.exec(Redacted.value(value))?.[1]

/** Whether the value is a genuine cookie of this account and its present password. */
export const isOf = Effect.fnUntraced(function*(vault: Vault["Service"], account: Account, value: Redacted.Redacted) {
  const nonce = nonceOf(value)
  if (nonce === undefined) return false
  const expected = new TextEncoder().encode(`${nonce}.${yield* mac(vault, account, nonce)}`)
  return Mac.timingSafeEqual(new TextEncoder().encode(Redacted.value(value)), expected)
})
