/**
 * The service for second factors (contract §17): a person switches their own on and off, and an owner resets another
 * person's.
 */
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Forbidden, InvalidBody, NotFound, type RateLimited, type ServerError, type Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { FactorProof } from "./Authenticator.ts"
import { codeConsumer, stepOf, wrongCode } from "./FactorCheck.ts"
import { FactorStore } from "./FactorStore.ts"
import * as LoginLimits from "./LoginLimits.ts"
import * as Member from "./Member.ts"
import { type Membership, MemberStore } from "./MemberStore.ts"
import * as OwnPerson from "./OwnPerson.ts"
import * as Passkey from "./Passkey.ts"
import { challengeEnded, passkeyConsumer, refusedPasskey } from "./PasskeyCheck.ts"
import * as RecoveryCode from "./RecoveryCode.ts"
import * as SecretToken from "./SecretToken.ts"
import { membershipsOf, type Session } from "./Session.ts"
import * as Totp from "./Totp.ts"

const none = () => new NotFound({ message: "there is no second factor" })

const isOn = () =>
  new InvalidBody({
    reason: "invalid_field",
    message: "your authenticator app is on: switch the second factor off before you set up another"
  })

/** The state of a person's second factor. */
export interface Status {
  readonly isOn: boolean
  /** Whether an authenticator app is a part of it. */
  readonly hasApp: boolean
  /** Unused recovery codes. */
  readonly recoveryCodesLeft: number
}

/** What an authenticator app needs. It is shown only once. */
export interface Enrolment {
  readonly secret: Redacted.Redacted
  /** The `otpauth://` address of the secret, for a QR code. */
  readonly uri: Redacted.Redacted
}

/**
 * The error for resetting the second factor of a person; `undefined` if allowed. The second factor protects all of the
 * person's workspaces, so only an owner of every one of them may reset it. Pure.
 */
export const resetRefusal = (
  by: ReadonlyArray<Membership>,
  of: ReadonlyArray<Membership>
): Forbidden | undefined => {
  const owned = new Set(by.flatMap(({ role, workspace }) => role === "owner" ? [workspace.id] : []))
  return of.every(({ workspace }) => owned.has(workspace.id)) ? undefined : new Forbidden({
    reason: "role_not_allowed",
    message: "this person is also a member of workspaces that you do not own: ask the operator to reset their second " +
      "factor (wac members reset-factor)"
  })
}

export class Factors extends Context.Service<Factors, {
  readonly status: (session: Session) => Effect.Effect<Status, NotFound | StoreError>
  /** Makes the secret of an app that is off until `confirm`. It replaces an earlier secret that was not confirmed. */
  readonly start: (session: Session) => Effect.Effect<Enrolment, InvalidBody | NotFound | StoreError>
  /**
   * Switches on the app, and with it the second factor, by a first right code. Returns the recovery codes, which are
   * shown only once; none if the person already has recovery codes. Wrong codes are limited per session.
   */
  readonly confirm: (
    session: Session,
    code: Redacted.Redacted
  ) => Effect.Effect<
    ReadonlyArray<string>,
    InvalidBody | Unauthorized | RateLimited | NotFound | ServerError | StoreError
  >
  /** Makes new recovery codes, which are shown only once. The previous codes are no longer valid. */
  readonly renewRecoveryCodes: (session: Session) => Effect.Effect<ReadonlyArray<string>, NotFound | StoreError>
  /** Switches the second factor off, and removes the passkeys. */
  readonly remove: (session: Session) => Effect.Effect<void, NotFound | StoreError>
  /**
   * Checks the second factor of a person whose password was verified, and uses the proof up. A passkey signs the
   * challenge that the right password got. Wrong proofs are limited per person and per address. On a device that has
   * signed in to the account before, they are limited for that device only.
   */
  readonly prove: (
    person: Pick<Member.Person, "userId" | "passwordHash">,
    proof: FactorProof,
    client: { readonly address: string; readonly device?: Redacted.Redacted | undefined }
  ) => Effect.Effect<void, Unauthorized | RateLimited | ServerError | StoreError>
  /** Removes the second factor of a member. Returns the member. */
  readonly reset: (by: Session, id: string) => Effect.Effect<Member.Member, Forbidden | NotFound | StoreError>
}>()("@wac/core/people/Factors") {
  static readonly layer = Layer.effect(
    Factors,
    Effect.gen(function*() {
      const store = yield* FactorStore
      const members = yield* MemberStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const limits = yield* RateLimitStore
      const own = yield* OwnPerson.finder
      const tokens = yield* SecretToken.make
      const consumeCode = yield* codeConsumer
      const consumePasskey = yield* passkeyConsumer

      /**
       * The error for a passkey that did not sign the challenge of this person and password; `undefined` if it did.
       * Ends the challenge if so.
       */
      const passkeyRefusal = Effect.fnUntraced(function*(
        { passwordHash, userId }: Pick<Member.Person, "userId" | "passwordHash">,
        { credential, party }: Extract<FactorProof, { readonly credential: unknown }>,
        now: Instant
      ) {
        const token = Passkey.tokenIn(credential.clientDataJSON)
        if (token === undefined) return challengeEnded("credential")
        const tokenHash = yield* tokens.hashOf(token)
        const challenge = Option.getOrUndefined(yield* store.attempt(tokenHash, now))
        if (challenge?.userId !== userId || challenge.passwordHash !== passwordHash) return challengeEnded("credential")
        const expected = { party, challenge: Passkey.challengeOf(token) }
        if (!(yield* consumePasskey(userId, credential, expected))) return refusedPasskey()
        return (yield* store.redeem(tokenHash)) ? undefined : challengeEnded("credential")
      })

      const newCodes = Effect.fnUntraced(function*(userId: Id.UserId) {
        const codes = yield* RecoveryCode.make(random)
        const fingerprints = yield* Effect.forEach(codes, (code) => RecoveryCode.fingerprint(vault, userId, code))
        return { codes, fingerprints }
      })

      return Factors.of({
        prove: Effect.fn("Factors.prove")(function*(person, proof, { address, device }) {
          const now = yield* Clock.currentTimeMillis
          const buckets = yield* LoginLimits.ofFactorFrom(vault, person, { address, device })
          yield* LoginLimits.spend(limits, buckets, now)
          if ("code" in proof) {
            if (!(yield* consumeCode(person.userId, proof.code))) return yield* wrongCode()
          } else {
            const refusal = yield* passkeyRefusal(person, proof, now)
            if (refusal !== undefined) return yield* refusal
          }
          yield* limits.giveBack(buckets, now)
        }),
        status: Effect.fnUntraced(function*(session) {
          const { userId } = yield* own(session)
          const factor = Option.getOrUndefined(yield* store.find(userId))
          return factor === undefined || factor.confirmedAt === null
            ? { isOn: false, hasApp: false, recoveryCodesLeft: 0 }
            : { isOn: true, hasApp: factor.app?.isOn === true, recoveryCodesLeft: factor.recoveryCodesLeft }
        }),
        start: Effect.fn("Factors.start")(function*(session) {
          const { email, userId } = yield* own(session)
          const secret = Totp.secretOf(yield* random.randomBytes(Totp.secretLength))
          const isStarted = yield* store.start({
            userId,
            secret: yield* vault.seal(Redacted.value(secret), userId),
            createdAt: yield* Clock.currentTimeMillis
          })
          if (!isStarted) return yield* isOn()
          return { secret, uri: Redacted.make(Totp.uriOf(secret, email)) }
        }),
        confirm: Effect.fn("Factors.confirm")(function*(session, code) {
          const { sessionId, userId } = yield* own(session)
          const app = Option.getOrUndefined(yield* store.find(userId))?.app ?? undefined
          if (app === undefined) return yield* none()
          if (app.isOn) return yield* isOn()
          const now = yield* Clock.currentTimeMillis
          const buckets = [LoginLimits.ofSession(sessionId)]
          yield* LoginLimits.spend(limits, buckets, now)
          const step = yield* stepOf(vault, { userId, secret: app.secret }, code)
          if (step === undefined) return yield* wrongCode()
          const { codes, fingerprints } = yield* newCodes(userId)
          const confirmed = yield* store.confirm({
            userId,
            secret: app.secret,
            step,
            recoveryCodes: fingerprints,
            now
          })
          if (Option.isNone(confirmed)) return yield* wrongCode()
          yield* limits.giveBack(buckets, now)
          return confirmed.value.isFirst ? codes : []
        }),
        renewRecoveryCodes: Effect.fn("Factors.renewRecoveryCodes")(function*(session) {
          const { userId } = yield* own(session)
          const { codes, fingerprints } = yield* newCodes(userId)
          return (yield* store.replaceRecoveryCodes(userId, fingerprints)) ? codes : yield* none()
        }),
        remove: Effect.fn("Factors.remove")(function*(session) {
          const { userId } = yield* own(session)
          if (!(yield* store.remove(userId))) return yield* none()
        }),
        reset: Effect.fn("Factors.reset")(function*(by, text) {
          const userId = Option.getOrUndefined(Id.parse(Id.UserId, text))
          const member = (yield* members.ofWorkspace(by.workspaceId)).find((member) => member.userId === userId)
          if (member === undefined) return yield* new NotFound({ message: "the workspace has no such member" })
          const membershipsIn = (found: Option.Option<{ readonly memberships: ReadonlyArray<Membership> }>) =>
            Option.match(found, { onNone: () => [], onSome: ({ memberships }) => memberships })
          const refusal = Member.roleRefusal(by.role, "owner") ?? resetRefusal(
            membershipsOf(by, membershipsIn(yield* members.findByUserId(by.userId))),
            membershipsIn(yield* members.findByUserId(member.userId))
          )
          if (refusal !== undefined) return yield* refusal
          return (yield* store.remove(member.userId)) ? member : yield* none()
        })
      })
    })
  )
}
