/**
 * Checks a code of a person's second factor, from the authenticator app or a recovery code, and uses it up (contract
 * §17).
 */
import { Clock, Effect, Option, Redacted } from "effect"
import { ServerError, Unauthorized } from "../Errors.ts"
import type { UserId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import { Vault } from "../secrets/Vault.ts"
import { type Factor, FactorStore } from "./FactorStore.ts"
import * as RecoveryCode from "./RecoveryCode.ts"
import * as Totp from "./Totp.ts"

/** The error for a code that is wrong or was used before. */
export const wrongCode = () =>
  new Unauthorized({
    reason: "invalid_code",
    param: "code",
    message:
      "the code is wrong or was used before: give the next one that your authenticator app shows, or an unused " +
      "recovery code"
  })

/** The time step of an app's code, whether or not it was used before; `undefined` if the code is wrong (`Totp`). */
export const stepOf = Effect.fnUntraced(function*(
  vault: Vault["Service"],
  { secret, userId }: Pick<Factor, "userId"> & { readonly secret: Sealed },
  code: Redacted.Redacted
) {
  const opened = yield* Effect.catchTag(vault.open(secret, userId), "UnreadableSecret", () =>
    Effect.fail(
      new ServerError({
        reason: "internal",
        message: "the secret of the second factor cannot be read: the operator finds the reason in the log"
      })
    ))
  return Totp.stepOf(Redacted.make(opened), Redacted.value(code), yield* Clock.currentTimeMillis)
})

/**
 * Makes the function that checks a code of the app or a recovery code, uses it up, and returns whether it was right.
 */
export const codeConsumer = Effect.gen(function*() {
  const store = yield* FactorStore
  const vault = yield* Vault
  return Effect.fnUntraced(function*(userId: UserId, code: Redacted.Redacted) {
    const factor = Option.getOrUndefined(yield* store.find(userId))
    if (factor === undefined) return false
    if (!Totp.isCode(Redacted.value(code))) {
      return yield* store.useRecoveryCode(
        userId,
        yield* RecoveryCode.fingerprint(vault, userId, Redacted.value(code))
      )
    }
    if (factor.app === null || !factor.app.isOn) return false
    const step = yield* stepOf(vault, { userId, secret: factor.app.secret }, code)
    return step !== undefined && (yield* store.useStep(userId, step))
  })
})
