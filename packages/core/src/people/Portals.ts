/**
 * The service for portal links and sessions (contract §12): the host creates a link, which a browser opens once. Writes
 * through `PortalStore`.
 */
import { Clock, Context, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { NotFound, type RateLimited, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import * as LoginLimits from "./LoginLimits.ts"
import type { Role } from "./Member.ts"
import * as Portal from "./Portal.ts"
import { PortalStore } from "./PortalStore.ts"
import * as SecretToken from "./SecretToken.ts"
import type { Session } from "./Session.ts"

/** A new link. */
export interface Linked {
  /** The audit identifies the link and its visitor by this id. */
  readonly id: Id.SessionId
  readonly token: Redacted.Redacted
  readonly expiresAt: Instant
}

/** The properties of a new link. */
export interface NewLink {
  readonly workspaceId: Id.WorkspaceId
  readonly role: Role
  /** The visitor's name in the pages and the audit. */
  readonly visitor: string
  readonly lifetime: Duration.Duration
}

export class Portals extends Context.Service<Portals, {
  /** Creates a link's token, valid once and until it expires. */
  readonly link: (
    link: NewLink
  ) => Effect.Effect<Linked, NotFound | StoreError>
  /** Opens a session with a link's token. Wrong tokens are limited per address. */
  readonly open: (
    token: Redacted.Redacted,
    address: string
  ) => Effect.Effect<
    { readonly session: Session; readonly token: Redacted.Redacted },
    Unauthorized | RateLimited | StoreError
  >
  /** The token's live session. */
  readonly session: (token: Redacted.Redacted) => Effect.Effect<Option.Option<Session>, StoreError>
  /** Ends a session. An unknown one is ignored. */
  readonly close: (token: Redacted.Redacted) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/Portals") {
  static readonly layer = Layer.effect(
    Portals,
    Effect.gen(function*() {
      const store = yield* PortalStore
      const workspaces = yield* WorkspaceStore
      const limits = yield* RateLimitStore
      const random = yield* SecureRandom.SecureRandom
      const tokens = yield* SecretToken.make

      const newToken = tokens.nextForLink

      /** The session of a visitor. A visitor has no account, so the audit identifies them by the link's id. */
      const sessionOf = Effect.fnUntraced(function*({ id, role, visitor, workspaceId }: Portal.Portal) {
        return Option.map(yield* workspaces.get(workspaceId), (workspace): Session => ({
          id: null,
          userId: id as string as Id.UserId,
          email: visitor,
          role,
          workspaceId,
          workspaceName: workspace.name,
          roles: null
        }))
      })

      return Portals.of({
        link: Effect.fn("Portals.link")(function*({ lifetime, ...given }) {
          if (Option.isNone(yield* workspaces.get(given.workspaceId))) {
            return yield* new NotFound({ message: "there is no such workspace" })
          }
          const token = yield* newToken
          const createdAt = yield* Clock.currentTimeMillis
          const { expiresAt, id } = yield* store.create({
            ...given,
            id: yield* Id.generate(random, "ses"),
            tokenHash: yield* tokens.hashOf(token),
            createdAt,
            expiresAt: createdAt + Duration.toMillis(lifetime)
          })
          return { id, token, expiresAt }
        }),
        open: Effect.fn("Portals.open")(function*(link, address) {
          const now = yield* Clock.currentTimeMillis
          const token = yield* newToken
          const opened = yield* store.open({
            now,
            tokenHash: yield* tokens.hashOf(link),
            sessionHash: yield* tokens.hashOf(token),
            expiresAt: now + Duration.toMillis(Portal.sessionLifetime)
          })
          const session = Option.isNone(opened) ? Option.none<Session>() : yield* sessionOf(opened.value)
          if (Option.isNone(session)) {
            // a valid link is never limited: nobody can guess it
            yield* LoginLimits.spend(limits, [LoginLimits.ofAddress(address)], now)
            return yield* new Unauthorized({
              reason: "invalid_credentials",
              param: "token",
              message: "the link has already been used or has expired: ask for another"
            })
          }
          return { session: session.value, token }
        }),
        session: Effect.fnUntraced(function*(token) {
          const found = yield* store.find(yield* tokens.hashOf(token), yield* Clock.currentTimeMillis)
          return Option.isNone(found) ? Option.none() : yield* sessionOf(found.value)
        }),
        close: (token) => Effect.flatMap(tokens.hashOf(token), store.end)
      })
    })
  )
}
