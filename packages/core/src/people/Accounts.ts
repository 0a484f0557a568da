/**
 * The service for a person's own account: workspaces, sessions, password and proofs of presence (contract §12
 * *Members*). Writes sessions and passwords, and sends reset mail.
 */
import { Clock, Context, Duration, Effect, FiberSet, Layer, Option, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { type InvalidBody, NotFound, type RateLimited, type ServerError, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { FactorProof } from "./Authenticator.ts"
import * as DeviceCookie from "./DeviceCookie.ts"
import * as EmailAddress from "./EmailAddress.ts"
import { codeConsumer, wrongCode } from "./FactorCheck.ts"
import * as Invitation from "./Invitation.ts"
import { InvitationStore } from "./InvitationStore.ts"
import { CurrentIssuer } from "./Issuer.ts"
import * as LoginLimits from "./LoginLimits.ts"
import * as Mailer from "./Mailer.ts"
import * as MailTexts from "./MailTexts.ts"
import { type Account, type Membership, MemberStore } from "./MemberStore.ts"
import * as Passkey from "./Passkey.ts"
import { challengeEnded, passkeyConsumer, refusedPasskey } from "./PasskeyCheck.ts"
import { PasskeyStore } from "./PasskeyStore.ts"
import { Passwords } from "./Password.ts"
import * as SecretToken from "./SecretToken.ts"
import { membershipsOf, type Session } from "./Session.ts"
import { SessionStore, type StoredSession } from "./SessionStore.ts"

const elsewhere = () => new NotFound({ message: "people sign in at the application that embeds this service" })

const wrongPassword = (param: string) =>
  new Unauthorized({ reason: "invalid_credentials", param, message: "the current password is wrong" })

const endedMeanwhile = () =>
  new Unauthorized({
    reason: "missing_session",
    message: "the session has ended, or got another cookie, during this request"
  })

const atIssuer = () => new NotFound({ message: "people sign in at the issuer: this service has no passwords" })

/** Limits reset mails per address, whoever requests them: 3 at once, then one per 10 minutes. */
const resetBucket = (email: string) => ({
  key: `reset:account:${email}`,
  policy: { name: "login", interval: 600_000, capacity: 3 } satisfies RateLimit.Policy
})

/**
 * How a person proves that they are present: by their password, or by their second factor. A passkey signs a challenge
 * of `Passkeys.startConfirming`.
 */
export type Proof = { readonly password: Redacted.Redacted } | FactorProof

export class Accounts extends Context.Service<Accounts, {
  /** The workspaces that a session may use. For a host's person, only the current workspace. */
  readonly workspaces: (session: Session) => Effect.Effect<ReadonlyArray<Membership>, StoreError>
  /** The person's live sessions, newest first. */
  readonly sessions: (session: Session) => Effect.Effect<ReadonlyArray<StoredSession>, StoreError>
  /** Ends one of the person's sessions. */
  readonly endSession: (session: Session, id: string) => Effect.Effect<void, NotFound | StoreError>
  /** Ends all of the person's sessions except the token's. */
  readonly endOtherSessions: (
    session: Session,
    token: Redacted.Redacted | undefined
  ) => Effect.Effect<void, NotFound | StoreError>
  /** Moves the token's session to another of the person's workspaces. */
  readonly moveTo: (
    session: Session,
    token: Redacted.Redacted | undefined,
    workspaceId: string
  ) => Effect.Effect<Session, NotFound | StoreError>
  /**
   * Makes the session fresh (`Session.freshFor`) after the person proved their presence by password or second factor.
   * Wrong proofs are limited per session, together with the wrong passwords of `changePassword`. Returns the session's
   * new token; the old one is worth nothing any more.
   */
  readonly confirm: (
    session: Session,
    token: Redacted.Redacted | undefined,
    proof: Proof
  ) => Effect.Effect<Redacted.Redacted, Unauthorized | RateLimited | NotFound | ServerError | StoreError>
  /**
   * Changes the person's password and ends their other sessions. Wrong passwords are limited per session. Returns the
   * session's new token and the device cookie's new value.
   */
  readonly changePassword: (
    session: Session,
    token: Redacted.Redacted | undefined,
    passwords: { readonly current: Redacted.Redacted; readonly next: Redacted.Redacted },
    device: Redacted.Redacted | undefined
  ) => Effect.Effect<
    { readonly token: Redacted.Redacted; readonly device: Redacted.Redacted },
    InvalidBody | Unauthorized | RateLimited | NotFound | ServerError | StoreError
  >
  /**
   * Mails a password reset link if the address has an account. The result does not reveal whether it has. Limited per
   * address and, silently, per account. Fails with {@link NotFound} if no mailer is configured.
   */
  readonly requestReset: (
    email: string,
    address: string,
    linkOf: (token: Redacted.Redacted) => string
  ) => Effect.Effect<void, RateLimited | NotFound | StoreError>
  /**
   * Sets a new password by a reset link, and ends all of the person's sessions. Tokens that are not valid are limited
   * per address. From then on, the device counts as one that has signed in to the account.
   */
  readonly reset: (
    token: Redacted.Redacted,
    password: Redacted.Redacted,
    client: { readonly address: string; readonly device: Redacted.Redacted | undefined }
  ) => Effect.Effect<
    { readonly account: Account; readonly device: Redacted.Redacted },
    InvalidBody | Unauthorized | RateLimited | NotFound | StoreError
  >
}>()("@wac/core/people/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function*() {
      const members = yield* MemberStore
      const sessions = yield* SessionStore
      const invitations = yield* InvitationStore
      const passwords = yield* Passwords
      const limits = yield* RateLimitStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const tokens = yield* SecretToken.make
      const mailer = yield* Mailer.Mailer
      const issuer = yield* CurrentIssuer
      const passkeys = yield* PasskeyStore
      const consumeCode = yield* codeConsumer
      const consumePasskey = yield* passkeyConsumer
      const mailing = yield* FiberSet.make()

      /**
       * The error for a passkey that does not prove a person's presence; `undefined` if it does. Ends its challenge.
       */
      const passkeyRefusal = Effect.fnUntraced(function*(
        userId: Id.UserId,
        credential: Passkey.Assertion,
        party: Passkey.RelyingParty
      ) {
        const token = Passkey.tokenIn(credential.clientDataJSON)
        const isChallenged = token !== undefined && (yield* passkeys.redeem({
          userId,
          purpose: "confirm",
          tokenHash: yield* tokens.hashOf(token),
          now: yield* Clock.currentTimeMillis
        }))
        if (!isChallenged) return challengeEnded("credential")
        const expected = { party, challenge: Passkey.challengeOf(token) }
        return (yield* consumePasskey(userId, credential, expected)) ? undefined : refusedPasskey()
      })

      /** Checks the proof of a session's person. `param` is the password's field, which the error names. */
      const prove = Effect.fnUntraced(function*(
        session: Session,
        token: Redacted.Redacted | undefined,
        proof: Proof,
        param: string
      ) {
        if (issuer !== undefined) return yield* atIssuer()
        const person = Option.getOrUndefined(yield* members.findByUserId(session.userId))?.person
        if (person === undefined || token === undefined || person.passwordHash === null || session.id === null) {
          return yield* elsewhere()
        }
        const now = yield* Clock.currentTimeMillis
        const buckets = [LoginLimits.ofSession(session.id)]
        yield* LoginLimits.spend(limits, buckets, now)
        if ("code" in proof) {
          if (!(yield* consumeCode(person.userId, proof.code))) return yield* wrongCode()
        } else if ("credential" in proof) {
          const refusal = yield* passkeyRefusal(person.userId, proof.credential, proof.party)
          if (refusal !== undefined) return yield* refusal
        } else if (!(yield* passwords.verify(proof.password, person.passwordHash))) {
          return yield* wrongPassword(param)
        }
        yield* limits.giveBack(buckets, now)
        return { person: { ...person, passwordHash: person.passwordHash }, token }
      })

      const requestReset = Effect.fn("Accounts.requestReset")(
        function*(given: string, address: string, linkOf: (token: Redacted.Redacted) => string) {
          if (issuer !== undefined) return yield* atIssuer()
          if (mailer === undefined) {
            return yield* new NotFound({
              message:
                "this service does not send e-mail: ask its operator to reset the password (wac members reset-password)"
            })
          }
          const now = yield* Clock.currentTimeMillis
          yield* LoginLimits.spend(limits, [LoginLimits.ofAddress(address)], now)
          const email = EmailAddress.normalize(given)
          // runs in the background, so that the response takes equally long for an unknown address
          yield* FiberSet.run(
            mailing,
            Effect.gen(function*() {
              const readings = yield* limits.spend([resetBucket(email)], now)
              if (RateLimit.refusal(readings) !== undefined) return
              const found = Option.getOrUndefined(yield* members.findByEmail(email))
              if (found === undefined || found.person.passwordHash === null) return
              const token = yield* tokens.nextForLink
              const { expiresAt } = yield* invitations.createReset({
                tokenHash: yield* tokens.hashOf(token),
                userId: found.person.userId,
                createdAt: now,
                expiresAt: now + Duration.toMillis(Invitation.resetLifetime)
              })
              yield* mailer.send(MailTexts.passwordReset({ to: email, link: linkOf(token), expiresAt }))
            }).pipe(Effect.catch(({ message }) => Effect.logWarning(`a mail could not be sent: ${message}`)))
          )
        }
      )

      return Accounts.of({
        workspaces: (session) =>
          Effect.map(
            members.findByUserId(session.userId),
            Option.match({
              onNone: () => [],
              onSome: ({ memberships }) => membershipsOf(session, memberships)
            })
          ),
        sessions: ({ userId }) => Effect.flatMap(Clock.currentTimeMillis, (now) => sessions.list(userId, now)),
        endSession: Effect.fn("Accounts.endSession")(function*({ userId }, text) {
          const id = Option.getOrUndefined(Id.parse(Id.SessionId, text))
          const isEnded = id !== undefined && (yield* sessions.end(userId, id))
          if (!isEnded) return yield* new NotFound({ message: "you have no such session" })
        }),
        endOtherSessions: Effect.fn("Accounts.endOtherSessions")(function*({ id, userId }, token) {
          if (token === undefined || id === null) return yield* elsewhere()
          yield* sessions.endAll(userId, yield* tokens.hashOf(token))
        }),
        moveTo: Effect.fn("Accounts.moveTo")(function*(session, token, text) {
          if (token === undefined || session.id === null) return yield* elsewhere()
          const found = Option.getOrUndefined(yield* members.findByUserId(session.userId))
          const membership = membershipsOf(session, found?.memberships ?? []).find(({ workspace }) =>
            workspace.id === text
          )
          if (membership === undefined) {
            return yield* new NotFound({ message: "you are not a member of this workspace" })
          }
          const { role, workspace } = membership
          yield* sessions.move(yield* tokens.hashOf(token), workspace.id)
          return { ...session, role, workspaceId: workspace.id, workspaceName: workspace.name }
        }),
        confirm: Effect.fn("Accounts.confirm")(function*(session, token, proof) {
          const proven = yield* prove(session, token, proof, "password")
          const next = yield* tokens.next
          const now = yield* Clock.currentTimeMillis
          const isProven = yield* sessions.prove(
            yield* tokens.hashOf(proven.token),
            now,
            yield* tokens.hashOf(next)
          )
          return isProven ? next : yield* endedMeanwhile()
        }),
        changePassword: Effect.fn("Accounts.changePassword")(function*(session, given, { current, next }, device) {
          const { person, token } = yield* prove(session, given, { password: current }, "current")
          const hash = yield* passwords.choose(next, { email: person.email, param: "new" })
          const renewed = yield* tokens.next
          const ended = yield* members.setPassword(person.userId, hash, {
            verified: person.passwordHash,
            keep: yield* tokens.hashOf(token),
            next: yield* tokens.hashOf(renewed)
          })
          // meanwhile, the password was changed in another way, or the session was ended
          if (Option.isNone(ended)) return yield* wrongPassword("current")
          return { token: renewed, device: yield* DeviceCookie.make(vault, random, person, device) }
        }),
        requestReset,
        reset: Effect.fn("Accounts.reset")(function*(token, password, { address, device }) {
          if (issuer !== undefined) return yield* atIssuer()
          const now = yield* Clock.currentTimeMillis
          const tokenHash = yield* tokens.hashOf(token)
          // a valid link is never limited: nobody can guess it
          const userId = yield* invitations.findReset(tokenHash, now)
          const known = Option.isNone(userId) ? Option.none() : yield* members.findByUserId(userId.value)
          if (Option.isNone(known)) yield* LoginLimits.spend(limits, [LoginLimits.ofAddress(address)], now)
          const redeemed = Option.isNone(known) ? Option.none() : yield* invitations.redeemReset(
            tokenHash,
            yield* passwords.choose(password, { email: known.value.person.email, param: "password" }),
            now
          )
          if (Option.isNone(known) || Option.isNone(redeemed)) {
            return yield* new Unauthorized({
              reason: "invalid_credentials",
              param: "token",
              message: "the link is no longer valid: ask for another"
            })
          }
          // nothing may fail once the password is set, or the change would be recorded nowhere
          return { account: known.value, device: yield* DeviceCookie.make(vault, random, known.value.person, device) }
        })
      })
    })
  )
}
