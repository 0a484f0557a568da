/**
 * How people sign in under `/internal`: by the host's own sessions, or by built-in accounts.
 */
import { SessionApi } from "@wac/api"
import { Authenticator, type Id, LocalAuthenticator, Member, Password, type Session, WorkspaceStore } from "@wac/core"
import { Effect, Layer, Option, Predicate, type Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import type * as Composition from "../Composition.ts"
import type { Role } from "../generated/Resources.ts"
import * as KnownOptions from "../KnownOptions.ts"
import type { During } from "../provider/Provider.ts"
import { badOption } from "../WacError.ts"

/** The acting person. */
export interface HostSession {
  /** The host's id of the person. */
  readonly userId: string
  readonly email: string
  readonly role: Role
  /** The workspace. Defaults to the default workspace. */
  readonly workspaceId?: string | undefined
}

/** A request whose session is needed. */
export interface SessionRequest {
  /** By name, in lower case. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** The request that `handler` was called with. */
  readonly web: Request | undefined
  /** The request that `nodeHandler` was called with, with everything that Express or Fastify has added to it. */
  readonly node: IncomingMessage | undefined
}

/** Sessions of the host, which signs people in and out itself. */
export interface HostAuth {
  /**
   * Returns the person who makes this request, or `null` if nobody is signed in. If it throws, the error is logged and
   * the response is a server error.
   */
  readonly session: (
    request: SessionRequest
  ) => HostSession | null | undefined | Promise<HostSession | null | undefined>
}

/** Built-in accounts; see {@link local}. */
export interface LocalAuth {
  readonly type: "local"
  readonly owner: { readonly email: string; readonly password: string }
}

/** Sessions of the host, or {@link local}. */
export type Auth = HostAuth | LocalAuth

/**
 * Built-in accounts: e-mail and password, with a session in a cookie, which is `__Host-` and Secure unless `publicUrl`
 * is http on this machine. `owner` becomes the first workspace's owner if there is no workspace yet.
 */
export const local = (options: { readonly owner: LocalAuth["owner"] }): LocalAuth => ({ type: "local", ...options })

/** Whether accounts are built in. */
export const isLocal = (auth: Auth | undefined): auth is LocalAuth => Predicate.hasProperty(auth, "type")

const readEmail = Schema.decodeUnknownOption(SessionApi.SetUp.fields.email)
const readPassword = Schema.decodeUnknownOption(Password.Password)

/** Validates the first workspace's owner in {@link local}. */
export const ownerOf = (auth: LocalAuth): { readonly email: string; readonly password: Redacted.Redacted } => {
  KnownOptions.check(auth, { type: true, owner: true } satisfies Record<keyof LocalAuth, true>, "auth.")
  const { owner } = auth
  KnownOptions.check(
    owner ?? {},
    { email: true, password: true } satisfies Record<keyof LocalAuth["owner"], true>,
    "auth.owner."
  )
  const email = readEmail(owner?.email)
  if (Option.isNone(email)) throw badOption("auth.owner.email", "auth.owner.email must be an e-mail address")
  const password = readPassword(owner.password)
  if (Option.isNone(password)) {
    throw badOption("auth.owner.password", "auth.owner.password must have 8 to 256 characters")
  }
  return { email: email.value, password: password.value }
}

const requestOf = (headers: Authenticator.Credentials["headers"]) =>
  Effect.map(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request): SessionRequest => {
    const source: unknown = Option.isSome(request) ? request.value.source : undefined
    return {
      headers,
      web: source instanceof Request ? source : undefined,
      node: source instanceof IncomingMessage ? source : undefined
    }
  })

const isRole: (role: string) => boolean = (role) => (Member.Role.literals as ReadonlyArray<string>).includes(role)

const hosted = ({ session }: HostAuth, defaultWorkspace: () => Id.WorkspaceId, during: During) =>
  Layer.unwrap(
    Effect.map(WorkspaceStore.WorkspaceStore, (workspaces) =>
      Authenticator.layerHost(Effect.fnUntraced(function*(headers) {
        const request = yield* requestOf(headers)
        const found = yield* Effect.promise(() =>
          during(
            Promise.resolve().then(() =>
              session(request)
            )
          )
        )
        if (found === null || found === undefined) return Option.none()
        if (!isRole(found.role)) {
          return yield* Effect.die(new TypeError("the host's session has an unknown role"))
        }
        const id = found.workspaceId === undefined ? defaultWorkspace() : found.workspaceId as Id.WorkspaceId
        return Option.map(yield* workspaces.get(id), (workspace): Session.Session => ({
          id: null,
          userId: found.userId as Id.UserId,
          email: found.email,
          role: found.role,
          workspaceId: workspace.id,
          workspaceName: workspace.name,
          roles: null
        }))
      })))
  )

/**
 * Builds the authenticator. Without `auth`, nobody is signed in: `/internal` is closed, and API keys come from
 * `wac.keys`.
 */
export const layer = (
  auth: Auth | undefined,
  defaultWorkspace: () => Id.WorkspaceId,
  during: During
): Composition.Adapters["authenticator"] => {
  if (isLocal(auth)) return LocalAuthenticator.layer
  if (auth !== undefined && typeof auth?.session !== "function") {
    throw badOption("auth", "auth must be local({…}), or an object with the method session")
  }
  return hosted(auth ?? { session: () => null }, defaultWorkspace, during)
}
