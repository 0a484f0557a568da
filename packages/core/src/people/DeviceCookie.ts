/**
 * Device cookies (OWASP, *Slow down online guessing attacks with device cookies*): where somebody has signed in to an
 * account, later failures there are counted apart from everybody else's, so that strangers who guess at the account keep
 * its owner out nowhere but on devices that are new.
 *
 * The value is `<nonce>.<mac>`: nothing of it is stored, and it says nothing of the account. The MAC is over account,
 * password hash and nonce, so it is good for one account alone, and a new password ends the trust in every device.
 */
import { Duration, Effect, Redacted } from "effect"
import { Mac, type SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import type * as RateLimit from "../limits/RateLimit.ts"
import type { Vault } from "../secrets/Vault.ts"
import type { Person } from "./Member.ts"

/** How long a browser keeps it: as long as the longest that browsers keep any; each sign-in begins it anew. */
export const lifetime = Duration.days(400)

/** 16 base62 characters: 95 bits, so that no two devices share a bucket. */
const nonceLength = 16

/** As per account: ten failures at once, then one a minute. Who stole the cookie guesses no faster than a stranger. */
export const policy: RateLimit.Policy = { name: "login", interval: 60_000, capacity: 10 }

/** The name in storage of a device's bucket. */
export const bucket = (nonce: string): string => `login:device:${nonce}`

type Account = Pick<Person, "userId" | "passwordHash">

// neither of the parts holds a space; what else is hashed with the pepper are API keys, which begin otherwise
const mac = (vault: Vault["Service"], { passwordHash, userId }: Account, nonce: string) =>
  vault.fingerprint(`device ${userId} ${passwordHash} ${nonce}`)

/** A value for a device that has signed in. It keeps the nonce of a value that was good, and with it the bucket. */
export const make = Effect.fnUntraced(function*(
  vault: Vault["Service"],
  random: SecureRandom.SecureRandom["Service"],
  account: Account,
  known: string | undefined
) {
  const nonce = known ?? (yield* Base62.random(random, nonceLength))
  return Redacted.make(`${nonce}.${yield* mac(vault, account, nonce)}`)
})

/** The nonce of a value that has the right shape, which says nothing of whether it is genuine. */
export const nonceOf = (value: Redacted.Redacted): string | undefined =>
  /^([0-9A-Za-z]{16})\.[0-9a-f]{64}$/.exec(Redacted.value(value))?.[1]

/** Whether we made this value for this account, under its present password. */
export const isOf = Effect.fnUntraced(function*(vault: Vault["Service"], account: Account, value: Redacted.Redacted) {
  const nonce = nonceOf(value)
  if (nonce === undefined) return false
  const expected = new TextEncoder().encode(`${nonce}.${yield* mac(vault, account, nonce)}`)
  return Mac.timingSafeEqual(new TextEncoder().encode(Redacted.value(value)), expected)
})
