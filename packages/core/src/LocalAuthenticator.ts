/**
 * Our own accounts: e-mail and password, and a session in a cookie (contract §5).
 */
import { Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Authenticator, type SignIn } from "./Authenticator.ts"
import * as Base62 from "./Base62.ts"
import { Unauthorized } from "./Errors.ts"
import { type Membership, MemberStore } from "./MemberStore.ts"
import { Passwords } from "./Password.ts"
import * as RateLimit from "./RateLimit.ts"
import { RateLimitStore } from "./RateLimitStore.ts"
import * as Session from "./Session.ts"
import { SessionStore } from "./SessionStore.ts"

/** 43 base62 characters: 256 bits. */
const tokenLength = 43

/** Failures per account: 10 at once, then one a minute; a person who mistypes never meets it, a guesser does. */
const accountPolicy: RateLimit.Policy = { name: "login", interval: 60_000, capacity: 10 }

/** Failures per address, behind which many people may sit. */
const addressPolicy: RateLimit.Policy = { name: "login", interval: 6_000, capacity: 50 }

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
    const random = yield* SecureRandom.SecureRandom
    const digest = yield* Digest.Digest

    const hashOf = (token: Redacted.Redacted) =>
      digest.digestHex(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))

    const idleUntil = (now: number) => now + Duration.toMillis(Session.idleTimeout)

    const signIn = Effect.fn("LocalAuthenticator.signIn")(function*(attempt: SignIn) {
      const email = normalizeEmail(attempt.email)
      const now = yield* Clock.currentTimeMillis
      const buckets = [
        { key: `login:account:${email}`, policy: accountPolicy },
        { key: `login:address:${attempt.address}`, policy: addressPolicy }
      ]
      // spent before the password is looked at, given back when it was right: racing guesses cannot slip through
      const readings = yield* limits.spend(buckets, now)
      yield* RateLimit.observe(readings)
      const refusal = RateLimit.refusal(readings)
      if (refusal !== undefined) return yield* refusal
      const found = Option.getOrUndefined(yield* members.findByEmail(email))
      const right = yield* passwords.verify(attempt.password, found?.member.passwordHash)
      if (found === undefined || !right) {
        return yield* new Unauthorized({
          reason: "invalid_credentials",
          message: "the e-mail address or the password is not right"
        })
      }
      yield* limits.giveBack(buckets, now)
      const token = Redacted.make(yield* Base62.random(random, tokenLength))
      yield* sessions.create({
        tokenHash: yield* hashOf(token),
        userId: found.member.userId,
        createdAt: now,
        idleUntil: idleUntil(now),
        absoluteUntil: now + Duration.toMillis(Session.absoluteTimeout)
      })
      return { token, session: sessionOf(found) }
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
      session: ({ token }) => token === undefined ? Effect.succeedNone : session(token),
      signOut: (token) => Effect.flatMap(hashOf(token), sessions.remove)
    })
  })
)
