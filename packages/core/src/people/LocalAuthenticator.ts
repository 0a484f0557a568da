/**
 * The `Authenticator` for the built-in accounts: people sign in by e-mail, password and second factor (contract §5 and
 * §17). Where an issuer signs people in, it only opens, finds and ends their sessions. Spends rate limits.
 */
import { Clock, Effect, Layer, Option, type Redacted } from "effect"
import { Forbidden, NotFound, Unauthorized } from "../Errors.ts"
import type { UserId } from "../Id.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import { Vault } from "../secrets/Vault.ts"
import { Authenticator, type FactorAttempt, type Opening, type SignIn } from "./Authenticator.ts"
import * as DeviceCookie from "./DeviceCookie.ts"
import * as EmailAddress from "./EmailAddress.ts"
import * as FactorChallenge from "./FactorChallenge.ts"
import { codeConsumer, wrongCode } from "./FactorCheck.ts"
import { FactorStore } from "./FactorStore.ts"
import { CurrentIssuer } from "./Issuer.ts"
import * as LocalSessions from "./LocalSessions.ts"
import * as LoginLimits from "./LoginLimits.ts"
import { MemberStore } from "./MemberStore.ts"
import * as Passkey from "./Passkey.ts"
import { challengeEnded, passkeyConsumer, refusedPasskey } from "./PasskeyCheck.ts"
import { PasskeyStore } from "./PasskeyStore.ts"
import { Passwords } from "./Password.ts"
import * as SecretToken from "./SecretToken.ts"

const atIssuer = () => new NotFound({ message: "people sign in at the issuer: open /internal/oidc/sign-in" })

/** The refusal of a person who has proven who they are, but is in no workspace. It does not count as a failure. */
const withoutWorkspace = () =>
  new Forbidden({
    reason: "role_not_allowed",
    message: "you are not a member of any workspace any more: ask for an invitation"
  })

const overtaken = () =>
  new Unauthorized({
    reason: "invalid_credentials",
    message: "the account was changed during this request, by which its proof became invalid: sign in again"
  })

/** The sign-in by e-mail and password. */
const passwordSignIn = Effect.gen(function*() {
  const sessions = yield* LocalSessions.make
  const members = yield* MemberStore
  const limits = yield* RateLimitStore
  const passwords = yield* Passwords
  const vault = yield* Vault
  const demandFactor = yield* FactorChallenge.demander

  return Effect.fnUntraced(function*(attempt: SignIn) {
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
    const hash = found?.person.passwordHash ?? undefined
    const isRight = nonce === undefined
      // a password that was not checked is no failure
      ? yield* Effect.tapError(passwords.verifyStranger(attempt.password, hash), () => limits.giveBack(buckets, now))
      : yield* passwords.verify(attempt.password, hash)
    if (found !== undefined && isRight) {
      if (found.memberships.length === 0) {
        yield* limits.giveBack(buckets, now)
        return yield* withoutWorkspace()
      }
      yield* Effect.tapErrorTag(demandFactor(found.person), "Unauthorized", () => limits.giveBack(buckets, now))
    }
    const opened = found === undefined || !isRight ? undefined : yield* sessions.open(found, attempt)
    if (opened === undefined) {
      return yield* new Unauthorized({
        reason: "invalid_credentials",
        message: "the e-mail address or the password is wrong"
      })
    }
    yield* limits.giveBack(buckets, now)
    return opened
  })
})

/** The second step of a sign-in, by a challenge and a proof. */
const factorSignIn = Effect.gen(function*() {
  const sessions = yield* LocalSessions.make
  const members = yield* MemberStore
  const limits = yield* RateLimitStore
  const vault = yield* Vault
  const factors = yield* FactorStore
  const passkeys = yield* PasskeyStore
  const tokens = yield* SecretToken.make
  const consumeCode = yield* codeConsumer
  const consumePasskey = yield* passkeyConsumer

  /** The account of a live challenge, by its hash. */
  const find = Effect.fnUntraced(function*(tokenHash: string) {
    const challenge = Option.getOrUndefined(yield* factors.findChallenge(tokenHash, yield* Clock.currentTimeMillis))
    const account = challenge && Option.getOrUndefined(yield* members.findByUserId(challenge.userId))
    return challenge === undefined || account === undefined ? undefined : { challenge, account }
  })

  /** Like {@link find}, but an unknown or expired challenge counts as a failed attempt of the client's address. */
  const challenged = Effect.fnUntraced(function*(tokenHash: string, address: string) {
    const found = yield* find(tokenHash)
    if (found !== undefined) return found
    yield* LoginLimits.spend(limits, [LoginLimits.ofAddress(address)], yield* Clock.currentTimeMillis)
    return yield* challengeEnded("challenge")
  })

  /** Verifies a proof and uses it up if it is right. Returns the error if it is wrong. */
  const consumeProof = Effect.fnUntraced(function*(userId: UserId, { challenge, proof }: FactorAttempt) {
    if ("code" in proof) return (yield* consumeCode(userId, proof.code)) ? undefined : wrongCode()
    const { credential, party } = proof
    const expected = { party, challenge: Passkey.challengeOf(challenge) }
    return (yield* consumePasskey(userId, credential, expected)) ? undefined : refusedPasskey()
  })

  return {
    email: Effect.fnUntraced(function*(token: Redacted.Redacted) {
      const found = yield* find(yield* tokens.hashOf(token))
      return Option.fromUndefinedOr(found?.account.person.email)
    }),
    requestPasskey: Effect.fnUntraced(function*(
      { address, challenge: token, party }: Parameters<Authenticator["Service"]["requestPasskey"]>[0]
    ) {
      const { challenge: { userId } } = yield* challenged(yield* tokens.hashOf(token), address)
      return Passkey.requestOf(party, yield* passkeys.list(userId), token)
    }),
    complete: Effect.fnUntraced(function*(attempt: FactorAttempt) {
      const now = yield* Clock.currentTimeMillis
      const tokenHash = yield* tokens.hashOf(attempt.challenge)
      const { account, challenge } = yield* challenged(tokenHash, attempt.address)
      // before the proof, of which a recovery code would be used up
      if (account.memberships.length === 0) return yield* withoutWorkspace()
      const buckets = yield* LoginLimits.ofFactorFrom(vault, account.person, attempt)
      yield* LoginLimits.spend(limits, buckets, now)
      if (Option.isNone(yield* factors.attempt(tokenHash, now))) return yield* challengeEnded("challenge")
      const refusal = yield* consumeProof(challenge.userId, attempt)
      if (refusal !== undefined) return yield* refusal
      // a session begins only if the password is still the one that was verified
      const person = { ...account.person, passwordHash: challenge.passwordHash }
      const opened = (yield* factors.redeem(tokenHash))
        ? yield* sessions.open({ ...account, person }, attempt)
        : undefined
      if (opened === undefined) return yield* challengeEnded("challenge")
      yield* limits.giveBack(buckets, now)
      return opened
    })
  }
})

export const layer = Layer.effect(
  Authenticator,
  Effect.gen(function*() {
    const sessions = yield* LocalSessions.make
    const members = yield* MemberStore
    const issuer = yield* CurrentIssuer
    const signIn = yield* passwordSignIn
    const factor = yield* factorSignIn

    /** Makes a function fail if people sign in at an issuer. */
    const ofPasswords = <Argument, A, E>(act: (argument: Argument) => Effect.Effect<A, E>) => (argument: Argument) =>
      issuer === undefined ? act(argument) : Effect.fail(atIssuer())

    return Authenticator.of({
      hasAccounts: true,
      signIn: ofPasswords(Effect.fn("LocalAuthenticator.signIn")(signIn)),
      requestPasskey: ofPasswords(Effect.fn("LocalAuthenticator.requestPasskey")(factor.requestPasskey)),
      completeSignIn: ofPasswords(Effect.fn("LocalAuthenticator.completeSignIn")(factor.complete)),
      challengedEmail: factor.email,
      open: Effect.fn("LocalAuthenticator.open")(function*(userId: UserId, opening: Opening = {}) {
        const account = Option.getOrUndefined(yield* members.findByUserId(userId))
        const { isContinuing = false, passwordHash } = opening
        // a session begins only if the password is still the one that was verified
        const opened = account && (yield* sessions.open(
          passwordHash === undefined ? account : { ...account, person: { ...account.person, passwordHash } },
          opening
        ))
        if (opened !== undefined) return opened
        return yield* isContinuing || passwordHash !== undefined
          ? overtaken()
          : new NotFound({ message: "there is no such member" })
      }),
      session: ({ token }) => token === undefined ? Effect.succeedNone : sessions.use(token),
      isFresh: ({ token }) => token === undefined ? Effect.succeed(false) : sessions.isFresh(token),
      signOut: sessions.end
    })
  })
)
