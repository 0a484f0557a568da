/**
 * Device cookies (OWASP, *Slow down online guessing attacks with device cookies*). On a device that has signed in to an
 * account, later failures are counted separately from everybody else's. So strangers who guess passwords lock the owner
 * out only on new devices. Pure cryptography; nothing is stored.
 *
 * The value is `<nonce>.<mac>` and reveals nothing about the account. The MAC covers account and nonce, so a cookie is
 * valid for one account, whatever its password is: a person who changes or resets it is not a stranger on their devices.
 */
import { Duration, Effect, Redacted } from "effect"
import { Mac, type SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import type { Vault } from "../secrets/Vault.ts"
import type { Person } from "./Member.ts"

/** How long a browser keeps the cookie: the longest that browsers allow. Each sign-in renews it. */
export const lifetime = Duration.days(400)

/** 16 base62 characters: 95 bits, so that no two devices share a bucket. */
const nonceLength = 16

type Account = Pick<Person, "userId">

// no part contains a space; the only other input hashed with the pepper, an API key, has a different prefix
const mac = (vault: Vault["Service"], { userId }: Account, nonce: string) =>
  vault.fingerprint(`device ${userId} ${nonce}`)

/** The nonce of a genuine cookie of this account; `undefined` for any other value. */
export const nonceOf = Effect.fnUntraced(function*(
  vault: Vault["Service"],
  account: Account,
  value: Redacted.Redacted | undefined
) {
  const nonce = value && /^([0-9A-Za-z]{16})\.[0-9a-f]{64}$/.exec(Redacted.value(value))?.[1]
  if (value === undefined || nonce === undefined) return undefined
  const expected = new TextEncoder().encode(`${nonce}.${yield* mac(vault, account, nonce)}`)
  return Mac.timingSafeEqual(new TextEncoder().encode(Redacted.value(value)), expected) ? nonce : undefined
})

/**
 * The cookie's value for a device on which a person has proven who they are. It keeps the nonce, and so the bucket, of
 * a genuine present value.
 */
export const make = Effect.fnUntraced(function*(
  vault: Vault["Service"],
  random: SecureRandom.SecureRandom["Service"],
  account: Account,
  present: Redacted.Redacted | undefined
) {
  const nonce = (yield* nonceOf(vault, account, present)) ?? (yield* Base62.random(random, nonceLength))
  return Redacted.make(`${nonce}.${yield* mac(vault, account, nonce)}`)
})
