/**
 * Completes a sign-in at an issuer: verifies the browser's return and writes the person's roles as the issuer's claims
 * state them.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Forbidden, NotFound, type ServerError, type Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import { CurrentIssuer, type Kept, rolesOf } from "./Issuer.ts"
import { normalizeEmail } from "./LocalAuthenticator.ts"
import { MemberStore } from "./MemberStore.ts"

const refused = (message: string) => new Forbidden({ reason: "role_not_allowed", message })

export class IssuerSignIn extends Context.Service<IssuerSignIn, {
  /** `Issuer.begin`; fails with {@link NotFound} if people sign in elsewhere. */
  readonly begin: (
    redirectUri: string
  ) => Effect.Effect<{ readonly url: URL; readonly kept: Kept }, ServerError | NotFound>
  /**
   * Verifies the browser's return and replaces the person's roles by those that the issuer states. Returns the person.
   */
  readonly complete: (
    callback: URL,
    kept: Kept
  ) => Effect.Effect<Id.UserId, Forbidden | Unauthorized | ServerError | NotFound | StoreError>
}>()("@wac/core/people/IssuerSignIn") {
  static readonly layer = Layer.effect(
    IssuerSignIn,
    Effect.gen(function*() {
      const issuer = yield* CurrentIssuer
      const members = yield* MemberStore
      const workspaces = yield* WorkspaceStore
      const random = yield* SecureRandom.SecureRandom
      const given = Effect.mapError(
        Effect.fromOption(Option.fromUndefinedOr(issuer)),
        () => new NotFound({ message: "this service has no sign-in at an issuer" })
      )
      return IssuerSignIn.of({
        begin: (redirectUri) => Effect.flatMap(given, ({ begin }) => begin(redirectUri)),
        complete: Effect.fn("IssuerSignIn.complete")(function*(callback, kept) {
          const { complete } = yield* given
          const { email, emailVerified, roles } = yield* complete(callback, kept)
          if (email === undefined || emailVerified === false) {
            return yield* refused("the issuer does not confirm your e-mail address")
          }
          const all = yield* workspaces.list
          const assigned = rolesOf(roles, all.map(({ id }) => id))
          if (assigned.length === 0) return yield* refused("the issuer does not assign you a role in any workspace")
          return yield* members.assign({
            userId: yield* Id.generate(random, "usr"),
            email: normalizeEmail(email),
            now: yield* Clock.currentTimeMillis,
            roles: assigned
          })
        })
      })
    })
  )
}
