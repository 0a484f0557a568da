/**
 * The service for signing in at an issuer: sends the browser there, verifies its return, recognizes the person, and
 * writes their roles as the issuer's claims state them. Spends rate limits.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { NotFound, type RateLimited, type ServerError, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import { CurrentIssuer } from "./Issuer.ts"
import { provenAt, rolesOf, verifiedEmail } from "./IssuerClaims.ts"
import * as IssuerState from "./IssuerState.ts"
import * as LoginLimits from "./LoginLimits.ts"
import type { Recognized } from "./MemberStep.ts"
import { MemberStore } from "./MemberStore.ts"
import { isFresh as isFreshSession, type Roles } from "./Session.ts"

/** A browser's return from the issuer. */
export interface Returned {
  /** Our address, with the issuer's parameters. */
  readonly callback: URL
  /** The value that `begin` gave the browser to keep. */
  readonly kept: string | undefined
  /** The client's address, by which failures are limited. */
  readonly address: string
}

/** A person whom the issuer has confirmed. */
export interface Confirmed {
  readonly _tag: "Confirmed"
  readonly userId: Id.UserId
  /** The roles of this sign-in. They belong to the session that it opens. */
  readonly roles: Roles
  /** When the person proved who they are at the issuer. */
  readonly provenAt: Instant
  /** The page to which the person returns, as `begin` got it. */
  readonly page: string
  /** The workspace that `begin` got. The person may have no role in it. */
  readonly workspaceId: Id.WorkspaceId | undefined
}

/** A person whom the issuer has confirmed, but who may not sign in here. */
export type Refused = Extract<Recognized, { readonly _tag: "Refused" }>

const notFresh = () =>
  new Unauthorized({
    reason: "invalid_credentials",
    message: "the issuer did not confirm that you have just proved who you are: start again"
  })

const expired = () =>
  new Unauthorized({
    reason: "invalid_credentials",
    message: "the sign-in took too long or was started in another browser: start again"
  })

export class IssuerSignIn extends Context.Service<IssuerSignIn, {
  /**
   * The URL to send the browser to, and the value that it keeps meanwhile, for {@link IssuerState.lifetime}. With
   * `isFresh`, the person proves again who they are. Fails with {@link NotFound} if people sign in elsewhere.
   */
  readonly begin: (
    redirectUri: string,
    page: string,
    isFresh: boolean,
    workspaceId?: Id.WorkspaceId
  ) => Effect.Effect<{ readonly url: URL; readonly kept: string }, ServerError | NotFound>
  /**
   * Verifies the browser's return and replaces the person's roles by the roles that the issuer states. If the issuer
   * states none, the person's sessions end, and the sign-in is refused. Calls the issuer only for sign-ins that this
   * service began. Refusals are limited per address, together with wrong passwords; failures of the issuer are not.
   */
  readonly complete: (
    returned: Returned
  ) => Effect.Effect<Confirmed | Refused, Unauthorized | RateLimited | ServerError | NotFound | StoreError>
}>()("@wac/core/people/IssuerSignIn") {
  static readonly layer = Layer.effect(
    IssuerSignIn,
    Effect.gen(function*() {
      const issuer = yield* CurrentIssuer
      const members = yield* MemberStore
      const workspaces = yield* WorkspaceStore
      const limits = yield* RateLimitStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const given = Effect.mapError(
        Effect.fromOption(Option.fromUndefinedOr(issuer)),
        () => new NotFound({ message: "this service has no sign-in at an issuer" })
      )
      return IssuerSignIn.of({
        begin: Effect.fn("IssuerSignIn.begin")(function*(redirectUri, page, isFresh, workspaceId) {
          const { kept, url } = yield* Effect.flatMap(given, ({ begin }) => begin(redirectUri, isFresh))
          const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(IssuerState.lifetime)
          return {
            url,
            kept: yield* IssuerState.seal(vault, {
              ...kept,
              page,
              ...(workspaceId === undefined ? {} : { workspaceId }),
              isFresh,
              until
            })
          }
        }),
        complete: Effect.fn("IssuerSignIn.complete")(function*({ address, callback, kept }) {
          const { complete } = yield* given
          const now = yield* Clock.currentTimeMillis
          const state = yield* IssuerState.open(vault, kept ?? "", now)
          if (state === undefined) return yield* expired()
          const buckets = [LoginLimits.ofAddress(address)]
          yield* LoginLimits.spend(limits, buckets, now)
          // a failure of the issuer is not the person's
          const claims = yield* Effect.tapErrorTag(
            complete(callback, state),
            "ServerError",
            () => limits.giveBack(buckets, now)
          )
          yield* limits.giveBack(buckets, now)
          const returnedAt = yield* Clock.currentTimeMillis
          const proven = provenAt(claims, returnedAt)
          if (state.isFresh === true && !isFreshSession(proven, returnedAt)) return yield* notFresh()
          const all = yield* workspaces.list
          const roles = rolesOf(claims.roles, all.map(({ id }) => id))
          const recognized = yield* members.assign({
            identity: claims.identity,
            userId: yield* Id.generate(random, "usr"),
            email: verifiedEmail(claims),
            now: returnedAt,
            roles
          })
          if (recognized._tag === "Refused") return recognized
          return {
            _tag: "Confirmed",
            userId: recognized.userId,
            roles: new Map(roles.map(({ role, workspaceId }) => [workspaceId, role])),
            provenAt: proven,
            page: state.page,
            workspaceId: state.workspaceId
          }
        })
      })
    })
  )
}
