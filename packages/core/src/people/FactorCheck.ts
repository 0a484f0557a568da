/**
 * Checks a code of a person's second factor, and uses it up (contract §17).
 */
import { Clock, Effect, Option, Redacted } from "effect"
import { ServerError, Unauthorized } from "../Errors.ts"
import type { UserId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import { Vault } from "../secrets/Vault.ts"
import { type Factor, FactorStore } from "./FactorStore.ts"
import * as RecoveryCode from "./RecoveryCode.ts"
import * as Totp from "./Totp.ts"

/** The error for a code that is wrong or was used. */
export const wrongCode = () =>
  new Unauthorized({
    reason: "invalid_code",
    param: "code",
    message:
      "the code is wrong or was used before: give the next one that your authenticator app shows, or an unused " +
      "recovery code"
  })

/** The step of a right code of a factor, whether or not it was used before. */
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

/** Makes the function that uses a code up, of the app or for recovery, and returns whether it was right. */
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
