/**
 * Issues the challenge of a sign-in that needs a second factor (contract §17): a token, with which a code or a passkey
 * then completes the sign-in.
 */
import { Clock, Duration, Effect, Redacted } from "effect"
import { Unauthorized } from "../Errors.ts"
import { FactorStore } from "./FactorStore.ts"
import type { Person } from "./Member.ts"
import * as SecretToken from "./SecretToken.ts"

/** How long a person has to give a code. */
export const lifetime = Duration.minutes(5)

/** How many codes may be tried with a challenge. */
export const maxTries = 5

/** {@link lifetime} in words. */
export const lasts = `${Duration.toMinutes(lifetime)} minutes`

/** The error message for a challenge that has ended. */
export const ended =
  `this sign-in was completed, or has ended after ${lasts} or ${maxTries} codes: begin again with the password`

/** Where the proof goes that completes a sign-in, for error messages. */
const toSignIn = "send a code of its authenticator app, a recovery code or a passkey with this challenge to POST " +
  `/internal/session/factor within ${lasts}`

/** Where the proof goes that accepts an invitation, for error messages. */
export const toInvitation =
  "repeat the request with a code of its authenticator app or a recovery code as `code`, or " +
  `with a passkey that has signed this challenge as \`credential\`, within ${lasts}`

/**
 * Makes the function that is called when a person's password was right. It fails with a new challenge if the person has
 * a second factor. `next` says where the proof goes.
 */
export const demander = Effect.gen(function*() {
  const store = yield* FactorStore
  const tokens = yield* SecretToken.make
  return Effect.fnUntraced(function*(
    { passwordHash, userId }: Pick<Person, "userId" | "passwordHash">,
    next: string = toSignIn
  ) {
    if (passwordHash === null) return
    const now = yield* Clock.currentTimeMillis
    const token = yield* tokens.next
    const isDemanded = yield* store.challenge({
      tokenHash: yield* tokens.hashOf(token),
      userId,
      passwordHash,
      triesLeft: maxTries,
      createdAt: now,
      expiresAt: now + Duration.toMillis(lifetime)
    })
    if (!isDemanded) return
    return yield* new Unauthorized({
      reason: "second_factor_required",
      challenge: Redacted.value(token),
      message: `the password is right, and this account has a second factor: ${next}`
    })
  })
})
