/**
 * Verifies that a person used one of their stored passkeys, and records the use (contract §17).
 */
import { Clock, Effect, Option } from "effect"
import { Unauthorized } from "../Errors.ts"
import type { UserId } from "../Id.ts"
import * as FactorChallenge from "./FactorChallenge.ts"
import { type Assertion, lasts, type RelyingParty } from "./Passkey.ts"
import { PasskeyStore } from "./PasskeyStore.ts"
import { PasskeyVerifier } from "./PasskeyVerifier.ts"

/** The error for a passkey that was not accepted, whatever the reason. */
export const refusedPasskey = () =>
  new Unauthorized({
    reason: "invalid_passkey",
    param: "credential",
    message: "the passkey was not accepted: use one that is listed on the page Your account, on a page of this service"
  })

/** The error for a challenge that has ended. */
export const challengeEnded = (param: "challenge" | "credential") =>
  new Unauthorized({
    reason: "challenge_ended",
    param,
    message: param === "challenge"
      ? FactorChallenge.ended
      : `the challenge was used, has ended after ${lasts}, or is not yours: ask for another`
  })

/** Makes the function that verifies an assertion by a person's passkey, records it, and returns whether it is valid. */
export const passkeyConsumer = Effect.gen(function*() {
  const store = yield* PasskeyStore
  const verifier = yield* PasskeyVerifier
  return Effect.fnUntraced(function*(
    userId: UserId,
    assertion: Assertion,
    expected: { readonly party: RelyingParty; readonly challenge: string }
  ) {
    const passkey = (yield* store.list(userId)).find(({ credentialId }) => credentialId === assertion.id)
    if (passkey === undefined) return false
    const counter = Option.getOrUndefined(yield* Effect.option(verifier.assert(assertion, passkey, expected)))
    if (counter === undefined) return false
    return yield* store.use({ userId, id: passkey.id, counter, now: yield* Clock.currentTimeMillis })
  })
})
