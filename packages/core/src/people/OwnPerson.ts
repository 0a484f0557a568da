/**
 * Finds the person of a session, if they have a password in this service and so may have a second factor.
 */
import { Effect, Option } from "effect"
import { NotFound } from "../Errors.ts"
import { CurrentIssuer } from "./Issuer.ts"
import { MemberStore } from "./MemberStore.ts"
import type { Session } from "./Session.ts"

const elsewhere = () => new NotFound({ message: "people sign in elsewhere: this service has no passwords for them" })

/** Makes the function that finds the person of a session. It fails if the person signs in elsewhere. */
export const finder = Effect.gen(function*() {
  const members = yield* MemberStore
  const issuer = yield* CurrentIssuer
  return Effect.fnUntraced(function*({ id, userId }: Pick<Session, "id" | "userId">) {
    const person = Option.getOrUndefined(yield* members.findByUserId(userId))?.person
    if (issuer !== undefined || id === null || person === undefined || person.passwordHash === null) {
      return yield* elsewhere()
    }
    return { ...person, sessionId: id }
  })
})
