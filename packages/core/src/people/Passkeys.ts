/**
 * The service for a person's passkeys (contract §17): lists, adds and removes them, and asks for one as a proof of
 * presence.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { InvalidBody, NotFound, type Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import * as OwnPerson from "./OwnPerson.ts"
import * as Passkey from "./Passkey.ts"
import { challengeEnded, refusedPasskey } from "./PasskeyCheck.ts"
import { PasskeyStore, type Purpose } from "./PasskeyStore.ts"
import { PasskeyVerifier } from "./PasskeyVerifier.ts"
import * as RecoveryCode from "./RecoveryCode.ts"
import * as SecretToken from "./SecretToken.ts"
import type { Session } from "./Session.ts"

/** A passkey that was added. */
export interface Added {
  readonly passkey: Passkey.Passkey
  /** The recovery codes, which are shown only once; none if the person already has recovery codes. */
  readonly recoveryCodes: ReadonlyArray<string>
}

const notAdded = () =>
  new InvalidBody({
    reason: "invalid_field",
    param: "credential",
    message: `this passkey was added already, or you have ${Passkey.maxPerPerson} passkeys: remove one first`
  })

export class Passkeys extends Context.Service<Passkeys, {
  /** The person's passkeys, the oldest first. */
  readonly list: (session: Session) => Effect.Effect<ReadonlyArray<Passkey.Passkey>, NotFound | StoreError>
  /** The options with which a browser makes a passkey, with a challenge for `add`. */
  readonly start: (
    session: Session,
    party: Passkey.RelyingParty
  ) => Effect.Effect<Passkey.Creation, NotFound | StoreError>
  /** Adds the passkey that a browser has made. A first one switches the second factor on. */
  readonly add: (
    session: Session,
    party: Passkey.RelyingParty,
    made: { readonly name: string; readonly registration: Passkey.Registration }
  ) => Effect.Effect<Added, InvalidBody | Unauthorized | NotFound | StoreError>
  /** Removes a passkey. If it was the last part of the second factor, the second factor is off. */
  readonly remove: (
    session: Session,
    id: string
  ) => Effect.Effect<{ readonly name: string; readonly isLast: boolean }, NotFound | StoreError>
  /**
   * The options with which a browser uses a passkey as a proof of presence (`Accounts.confirm`). They allow no
   * credential if the person has no passkey.
   */
  readonly startConfirming: (
    session: Session,
    party: Passkey.RelyingParty
  ) => Effect.Effect<Passkey.Request, NotFound | StoreError>
}>()("@wac/core/people/Passkeys") {
  static readonly layer = Layer.effect(
    Passkeys,
    Effect.gen(function*() {
      const store = yield* PasskeyStore
      const verifier = yield* PasskeyVerifier
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const tokens = yield* SecretToken.make
      const own = yield* OwnPerson.finder

      const challenge = Effect.fnUntraced(function*(userId: Id.UserId, purpose: Purpose) {
        const token = yield* tokens.next
        const now = yield* Clock.currentTimeMillis
        yield* store.challenge({
          userId,
          purpose,
          tokenHash: yield* tokens.hashOf(token),
          createdAt: now,
          expiresAt: now + Duration.toMillis(Passkey.lifetime)
        })
        return token
      })

      return Passkeys.of({
        list: Effect.fnUntraced(function*(session) {
          const { userId } = yield* own(session)
          return yield* store.list(userId)
        }),
        start: Effect.fn("Passkeys.start")(function*(session, party) {
          const person = yield* own(session)
          const token = yield* challenge(person.userId, "add")
          return Passkey.creationOf(party, person, yield* store.list(person.userId), token)
        }),
        add: Effect.fn("Passkeys.add")(function*(session, party, { name, registration }) {
          const { userId } = yield* own(session)
          const now = yield* Clock.currentTimeMillis
          const token = Passkey.tokenIn(registration.clientDataJSON)
          const isChallenged = token !== undefined && (yield* store.redeem({
            userId,
            purpose: "add",
            tokenHash: yield* tokens.hashOf(token),
            now
          }))
          if (!isChallenged) return yield* challengeEnded("credential")
          const expected = { party, challenge: Passkey.challengeOf(token) }
          const credential = Option.getOrUndefined(yield* Effect.option(verifier.register(registration, expected)))
          if (credential === undefined) return yield* refusedPasskey()
          const passkey = {
            ...credential,
            id: yield* Id.generate(random, "psk"),
            userId,
            name,
            transports: registration.transports,
            createdAt: now
          }
          const codes = yield* RecoveryCode.make(random)
          const added = yield* store.add({
            passkey,
            recoveryCodes: yield* Effect.forEach(codes, (code) => RecoveryCode.fingerprint(vault, userId, code)),
            most: Passkey.maxPerPerson
          })
          if (Option.isNone(added)) return yield* notAdded()
          return { passkey: { ...passkey, lastUsedAt: null }, recoveryCodes: added.value.isFirst ? codes : [] }
        }),
        remove: Effect.fn("Passkeys.remove")(function*(session, text) {
          const { userId } = yield* own(session)
          const id = Option.getOrUndefined(Id.parse(Id.PasskeyId, text))
          const removed = id === undefined ? Option.none() : yield* store.remove(userId, id)
          if (Option.isNone(removed)) return yield* new NotFound({ message: "you have no such passkey" })
          return removed.value
        }),
        startConfirming: Effect.fn("Passkeys.startConfirming")(function*(session, party) {
          const { userId } = yield* own(session)
          const token = yield* challenge(userId, "confirm")
          return Passkey.requestOf(party, yield* store.list(userId), token)
        })
      })
    })
  )
}
