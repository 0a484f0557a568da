/**
 * The built-in accounts: e-mail and password, with a session in a cookie (contract §5). Writes sessions and spends rate
 * limits.
 */
import { Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import { NotFound, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import type { UserId } from "../Id.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import * as PlainText from "../PlainText.ts"
import { Vault } from "../secrets/Vault.ts"
import { Authenticator, type FactorAttempt, type Opening, type SignIn } from "./Authenticator.ts"
import * as DeviceCookie from "./DeviceCookie.ts"
import * as EmailAddress from "./EmailAddress.ts"
import * as FactorChallenge from "./FactorChallenge.ts"
import { checker, wrongCode } from "./FactorCheck.ts"
import { FactorStore } from "./FactorStore.ts"
import { CurrentIssuer } from "./Issuer.ts"
import * as LoginLimits from "./LoginLimits.ts"
import type { Person } from "./Member.ts"
import { type Account, type Membership, MemberStore } from "./MemberStore.ts"
import * as Passkey from "./Passkey.ts"
import { asserter, challengeEnded, refusedPasskey } from "./PasskeyCheck.ts"
import { PasskeyStore } from "./PasskeyStore.ts"
import { Passwords } from "./Password.ts"
import * as Session from "./Session.ts"
import { SessionStore, type StoredSession } from "./SessionStore.ts"

/** 43 base62 characters: 256 bits. */
const tokenLength = 43

/** How much of `User-Agent` is stored, so that people can recognize their sessions. */
const maxAgentLength = 256

const sessionOf = (
  { id, roles }: Pick<StoredSession, "id" | "roles">,
  { email, userId }: Person,
  { role, workspace }: Membership
): Session.Session => ({
  id,
  userId,
  email,
  role,
  workspaceId: workspace.id,
  workspaceName: workspace.name,
  roles
})

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
    const issuer = yield* CurrentIssuer
    const factors = yield* FactorStore
    const demandFactor = yield* FactorChallenge.demander
    const passkeys = yield* PasskeyStore
    const isRightCode = yield* checker
    const isRightPasskey = yield* asserter

    const hashOf = (token: Redacted.Redacted) =>
      digest.digestHex(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))

    const idleUntil = (now: number) => now + Duration.toMillis(Session.idleTimeout)

    /**
     * Opens a session in a workspace of the person, by default the one that they joined first. Returns `undefined` if
     * their password has changed meanwhile or they are a member of none. Where people sign in at an issuer, every
     * session has roles of its own.
     */
    const begin = Effect.fnUntraced(function*(
      { memberships, person }: Account,
      { address, agent, current, device: present, provenAt, roles: brought, workspaceId }: Opening
    ) {
      const roles = issuer === undefined
        ? null
        : brought ?? new Map(memberships.map(({ role, workspace }) => [workspace.id, role]))
      const membership = Session.membershipsOf({ roles }, memberships).find(({ workspace }) =>
        workspaceId === undefined || workspace.id === workspaceId
      )
      if (membership === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      const token = Redacted.make(yield* Base62.random(random, tokenLength))
      const id = yield* Id.generate(random, "ses")
      const begun = yield* sessions.create({
        id,
        tokenHash: yield* hashOf(token),
        userId: person.userId,
        workspaceId: membership.workspace.id,
        roles,
        address: address ?? null,
        agent: agent === undefined ? null : PlainText.cleaned(agent).slice(0, maxAgentLength),
        createdAt: now,
        idleUntil: idleUntil(now),
        absoluteUntil: now + Duration.toMillis(Session.absoluteTimeout)
      }, {
        of: current === undefined ? undefined : yield* hashOf(current),
        passwordHash: person.passwordHash ?? undefined,
        provenAt
      })
      if (!begun) return undefined
      const isNewDevice = (yield* DeviceCookie.nonceOf(vault, person, present)) === undefined
      const device = yield* DeviceCookie.make(vault, random, person, present)
      return { token, device, isNewDevice, session: sessionOf({ id, roles }, person, membership) }
    })

    const atIssuer = () => new NotFound({ message: "people sign in at the issuer: open /internal/oidc/sign-in" })

    const signIn = Effect.fn("LocalAuthenticator.signIn")(function*(attempt: SignIn) {
      if (issuer !== undefined) return yield* atIssuer()
      const email = EmailAddress.normalize(attempt.email)
      const now = yield* Clock.currentTimeMillis
      const found = Option.getOrUndefined(yield* members.findByEmail(email))
      const nonce = found && (yield* DeviceCookie.nonceOf(vault, found.person, attempt.device))
      // a device that has signed in before has its own bucket, so strangers' failures at any address do not count
      // against it
      const buckets = nonce === undefined
        ? [yield* LoginLimits.ofAccount(vault, email, found?.person), LoginLimits.ofAddress(attempt.address)]
        : [LoginLimits.ofDevice(nonce)]
      yield* LoginLimits.spend(limits, buckets, now)
      const right = yield* passwords.verify(attempt.password, found?.person.passwordHash ?? undefined)
      if (found !== undefined && right) {
        yield* Effect.tapErrorTag(demandFactor(found.person), "Unauthorized", () => limits.giveBack(buckets, now))
      }
      const begun = found === undefined || !right ? undefined : yield* begin(found, attempt)
      if (begun === undefined) {
        return yield* new Unauthorized({
          reason: "invalid_credentials",
          message: "the e-mail address or the password is wrong"
        })
      }
      yield* limits.giveBack(buckets, now)
      return begun
    })

    /** The account of a live challenge. A challenge that is not live is a failure of the address. */
    const challengedAccount = Effect.fnUntraced(function*(tokenHash: string, address: string) {
      const now = yield* Clock.currentTimeMillis
      const challenge = Option.getOrUndefined(yield* factors.findChallenge(tokenHash, now))
      const found = challenge && Option.getOrUndefined(yield* members.findByUserId(challenge.userId))
      if (challenge === undefined || found === undefined) {
        yield* LoginLimits.spend(limits, [LoginLimits.ofAddress(address)], now)
        return yield* challengeEnded("challenge")
      }
      return { challenge, found }
    })

    const requestPasskey = Effect.fn("LocalAuthenticator.requestPasskey")(function*(
      { address, challenge: token, party }: Parameters<Authenticator["Service"]["requestPasskey"]>[0]
    ) {
      if (issuer !== undefined) return yield* atIssuer()
      const { challenge: { userId } } = yield* challengedAccount(
        yield* FactorChallenge.hashOf(digest, token),
        address
      )
      return Passkey.requestOf(party, yield* passkeys.list(userId), token)
    })

    /** The error for a proof that is not right; `undefined` if it is. The proof is used up then. */
    const proofRefusal = Effect.fnUntraced(function*(userId: UserId, { challenge, proof }: FactorAttempt) {
      if ("code" in proof) return (yield* isRightCode(userId, proof.code)) ? undefined : wrongCode()
      const { credential, party } = proof
      const expected = { party, challenge: Passkey.challengeOf(challenge) }
      return (yield* isRightPasskey(userId, credential, expected)) ? undefined : refusedPasskey()
    })

    const endSignIn = Effect.fn("LocalAuthenticator.endSignIn")(function*(attempt: FactorAttempt) {
      if (issuer !== undefined) return yield* atIssuer()
      const now = yield* Clock.currentTimeMillis
      const tokenHash = yield* FactorChallenge.hashOf(digest, attempt.challenge)
      const { challenge, found } = yield* challengedAccount(tokenHash, attempt.address)
      const nonce = yield* DeviceCookie.nonceOf(vault, found.person, attempt.device)
      const buckets = nonce === undefined
        ? [LoginLimits.ofFactor(challenge.userId), LoginLimits.ofAddress(attempt.address)]
        : [LoginLimits.ofDevice(nonce)]
      yield* LoginLimits.spend(limits, buckets, now)
      if (Option.isNone(yield* factors.attempt(tokenHash, now))) return yield* challengeEnded("challenge")
      const refusal = yield* proofRefusal(challenge.userId, attempt)
      if (refusal !== undefined) return yield* refusal
      // a session begins only if the password is still the one that was verified
      const person = { ...found.person, passwordHash: challenge.passwordHash }
      const begun = (yield* factors.redeem(tokenHash)) ? yield* begin({ ...found, person }, attempt) : undefined
      if (begun === undefined) return yield* challengeEnded("challenge")
      yield* limits.giveBack(buckets, now)
      return begun
    })

    const challenged = Effect.fnUntraced(function*(token: Redacted.Redacted) {
      const now = yield* Clock.currentTimeMillis
      const challenge = yield* factors.findChallenge(yield* FactorChallenge.hashOf(digest, token), now)
      const found = Option.isNone(challenge) ? Option.none() : yield* members.findByUserId(challenge.value.userId)
      return Option.map(found, ({ person }) => person.email)
    })

    const open = Effect.fn("LocalAuthenticator.open")(function*(userId: UserId, opening: Opening = {}) {
      const found = Option.getOrUndefined(yield* members.findByUserId(userId))
      const begun = found === undefined ? undefined : yield* begin(found, opening)
      return begun ?? (yield* new NotFound({ message: "there is no such member" }))
    })

    const session = Effect.fnUntraced(function*(token: Redacted.Redacted) {
      const now = yield* Clock.currentTimeMillis
      const stored = yield* sessions.use(yield* hashOf(token), now, idleUntil(now))
      if (Option.isNone(stored)) return Option.none()
      const { roles, userId, workspaceId } = stored.value
      // of a version that did not store them, or of a time when people had passwords here: whose roles these would be
      // is unknown
      if (issuer !== undefined && roles === null) return Option.none()
      // the role is looked up at every use, so that lowering it needs no new sign-in
      return Option.flatMap(yield* members.findByUserId(userId), ({ memberships, person }) => {
        const membership = Session.membershipsOf(stored.value, memberships).find(({ workspace }) =>
          workspace.id === workspaceId
        )
        return Option.map(
          Option.fromUndefinedOr(membership),
          (membership) => sessionOf(stored.value, person, membership)
        )
      })
    })

    return Authenticator.of({
      signIn,
      requestPasskey,
      endSignIn,
      challenged,
      open,
      session: ({ token }) => token === undefined ? Effect.succeedNone : session(token),
      isFresh: Effect.fnUntraced(function*({ token }) {
        if (token === undefined) return false
        return yield* sessions.isFresh(yield* hashOf(token), yield* Clock.currentTimeMillis)
      }),
      signOut: (token) => Effect.flatMap(hashOf(token), sessions.remove)
    })
  })
)
