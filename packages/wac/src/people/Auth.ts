/**
 * How people sign in to what is served under `/internal`: by the host's own sessions, or by accounts of ours.
 */
import { SessionApi } from "@wac/api"
import { Authenticator, type Id, LocalAuthenticator, Member, Password, type Session, WorkspaceStore } from "@wac/core"
import { Effect, Layer, Option, type Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import type * as Composition from "../Composition.ts"
import type { During } from "../messages/Provider.ts"
import { badOption } from "../WacError.ts"

/** What a person may do: `member` reads, `developer` also changes, `admin` also manages members, `owner` all. */
export type Role = "owner" | "admin" | "developer" | "member"

/** Who acts. */
export interface HostSession {
  /** The host's own name of the person. */
  readonly userId: string
  readonly email: string
  readonly role: Role
  /** In which workspace; the default one when left out. */
  readonly workspaceId?: string | undefined
}

/** A request whose session is asked for. */
export interface SessionRequest {
  /** By name in lower case. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** What `handler` was called with. */
  readonly web: Request | undefined
  /** What `nodeHandler` was called with: under Express or Fastify with all that they have put on it. */
  readonly node: IncomingMessage | undefined
}

/** Sessions come from the application that embeds us, which signs people in and out itself. */
export interface HostAuth {
  /** Who makes this request; `null` for nobody. What it throws is logged, and answered as an error of the service. */
  readonly session: (
    request: SessionRequest
  ) => HostSession | null | undefined | Promise<HostSession | null | undefined>
}

/** Accounts of ours; see {@link local}. */
export interface LocalAuth {
  readonly type: "local"
  readonly owner: { readonly email: string; readonly password: string }
}

/** Sessions of the host, or {@link local}. */
export type Auth = HostAuth | LocalAuth

/**
 * Accounts of ours: e-mail and password, and a session in a cookie, which is `__Host-` and Secure unless `publicUrl` is
 * http on this machine. `owner` becomes the first workspace's owner, if there is no workspace yet.
 */
export const local = (options: { readonly owner: LocalAuth["owner"] }): LocalAuth => ({ type: "local", ...options })

export const isLocal = (auth: Auth | undefined): auth is LocalAuth => auth !== undefined && "type" in auth

const readEmail = Schema.decodeUnknownOption(SessionApi.SetUp.fields.email)
const readPassword = Schema.decodeUnknownOption(Password.Password)

/** Who owns the first workspace of {@link local}. */
export const ownerOf = ({ owner }: LocalAuth): { readonly email: string; readonly password: Redacted.Redacted } => {
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
          return yield* Effect.die(new TypeError("the host's session has a role that is unknown"))
        }
        const id = found.workspaceId === undefined ? defaultWorkspace() : found.workspaceId as Id.WorkspaceId
        return Option.map(yield* workspaces.get(id), (workspace): Session.Session => ({
          id: null,
          userId: found.userId as Id.UserId,
          email: found.email,
          role: found.role,
          workspaceId: workspace.id,
          workspaceName: workspace.name
        }))
      })))
  )

/** Without any, nobody is signed in: `/internal` is closed, and the API's keys come from `wac.keys`. */
export const layer = (
  auth: Auth | undefined,
  defaultWorkspace: () => Id.WorkspaceId,
  during: During
): Composition.Adapters["authenticator"] => {
  if (isLocal(auth)) return LocalAuthenticator.layer
  if (auth !== undefined && typeof auth.session !== "function") {
    throw badOption("auth", "auth must be local({…}), or an object with the method session")
  }
  return hosted(auth ?? { session: () => null }, defaultWorkspace, during)
}
