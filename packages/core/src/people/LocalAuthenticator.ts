/**
 * Our own accounts: e-mail and password, and a session in a cookie (contract §5).
 */
import { Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import { NotFound, Unauthorized } from "../Errors.ts"
import type { UserId } from "../Id.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import { Vault } from "../secrets/Vault.ts"
import { Authenticator, type SignIn } from "./Authenticator.ts"
import * as DeviceCookie from "./DeviceCookie.ts"
import { type Membership, MemberStore } from "./MemberStore.ts"
import { Passwords } from "./Password.ts"
import * as Session from "./Session.ts"
import { SessionStore } from "./SessionStore.ts"

/** 43 base62 characters: 256 bits. */
const tokenLength = 43

/** Failures per account: 10 at once, then one a minute; a person who mistypes never meets it, a guesser does. */
const accountPolicy: RateLimit.Policy = { name: "login", interval: 60_000, capacity: 10 }

/** Failures per address, behind which many people may sit. */
const addressPolicy: RateLimit.Policy = { name: "login", interval: 6_000, capacity: 50 }

/** The bucket of an address: wrong passwords spend from it, and wrong set-up tokens. */
export const addressBucket = (address: string) => ({ key: `login:address:${address}`, policy: addressPolicy })

const sessionOf = ({ member, workspace }: Membership): Session.Session => ({
  userId: member.userId,
  email: member.email,
  role: member.role,
  workspaceId: workspace.id,
  workspaceName: workspace.name
})

/** E-mail addresses are compared without regard to case and surrounding space. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase()

export const layer = Layer.effect(
  Authenticator,
  Effect.gen(function*() {
    const sessions = yield* SessionStore
    const members = yield* MemberStore
    const limits = yield* RateLimitStore
    const passwords = yield* Passwords
    const vault = yield* Vault
    const random = yield* SecureRandom.SecureRandom
    const digest = yield* Digest.Digest

    const hashOf = (token: Redacted.Redacted) =>
      digest.digestHex(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))

    const idleUntil = (now: number) => now + Duration.toMillis(Session.idleTimeout)

    /** Opens a session; nothing once the member has another password than `membership` says. */
    const begin = Effect.fnUntraced(function*(
      membership: Membership,
      { current, nonce }: { readonly current: Redacted.Redacted | undefined; readonly nonce: string | undefined }
    ) {
      const { passwordHash, userId } = membership.member
      const now = yield* Clock.currentTimeMillis
      const token = Redacted.make(yield* Base62.random(random, tokenLength))
      const begun = yield* sessions.create({
        tokenHash: yield* hashOf(token),
        userId,
        createdAt: now,
        idleUntil: idleUntil(now),
        absoluteUntil: now + Duration.toMillis(Session.absoluteTimeout)
      }, { of: current === undefined ? undefined : yield* hashOf(current), passwordHash })
      if (!begun) return undefined
      const device = yield* DeviceCookie.make(vault, random, membership.member, nonce)
      return { token, device, session: sessionOf(membership) }
    })

    /** The nonce of a device that signed in to the account before, under the password that it has. */
    const trusted = Effect.fnUntraced(function*(email: string, device: Redacted.Redacted | undefined) {
      const nonce = device === undefined ? undefined : DeviceCookie.nonceOf(device)
      if (device === undefined || nonce === undefined) return undefined
      const found = Option.getOrUndefined(yield* members.findByEmail(email))
      return found !== undefined && (yield* DeviceCookie.isOf(vault, found.member, device)) ? nonce : undefined
    })

    const signIn = Effect.fn("LocalAuthenticator.signIn")(function*(attempt: SignIn) {
      const email = normalizeEmail(attempt.email)
      const now = yield* Clock.currentTimeMillis
      const nonce = yield* trusted(email, attempt.device)
      // a device of the account's own answers for itself alone: what strangers spend, at whatever address, is not its
      const buckets = nonce === undefined
        ? [{ key: `login:account:${email}`, policy: accountPolicy }, addressBucket(attempt.address)]
        : [{ key: DeviceCookie.bucket(nonce), policy: DeviceCookie.policy }]
      // spent before the password is looked at, given back when it was right: racing guesses cannot slip through
      const readings = yield* limits.spend(buckets, now)
      yield* RateLimit.observe(readings)
      const refusal = RateLimit.refusal(readings)
      if (refusal !== undefined) return yield* refusal
      const found = Option.getOrUndefined(yield* members.findByEmail(email))
      const right = yield* passwords.verify(attempt.password, found?.member.passwordHash)
      const begun = found === undefined || !right ? undefined : yield* begin(found, { nonce, current: attempt.current })
      if (begun === undefined) {
        return yield* new Unauthorized({
          reason: "invalid_credentials",
          message: "the e-mail address or the password is not right"
        })
      }
      yield* limits.giveBack(buckets, now)
      return begun
    })

    const open = Effect.fn("LocalAuthenticator.open")(function*(userId: UserId, current?: Redacted.Redacted) {
      const found = Option.getOrUndefined(yield* members.findByUserId(userId))
      const begun = found === undefined ? undefined : yield* begin(found, { nonce: undefined, current })
      return begun ?? (yield* new NotFound({ message: "there is no such member" }))
    })

    const session = Effect.fnUntraced(function*(token: Redacted.Redacted) {
      const now = yield* Clock.currentTimeMillis
      const stored = yield* sessions.use(yield* hashOf(token), now, idleUntil(now))
      if (Option.isNone(stored)) return Option.none()
      // the role is looked up at every use, so that lowering it needs no new sign-in
      return Option.map(yield* members.findByUserId(stored.value.userId), sessionOf)
    })

    return Authenticator.of({
      signIn,
      open,
      session: ({ token }) => token === undefined ? Effect.succeedNone : session(token),
      signOut: (token) => Effect.flatMap(hashOf(token), sessions.remove)
    })
  })
)
