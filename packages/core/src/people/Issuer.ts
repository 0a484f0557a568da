/**
 * Signing in at an OpenID Connect issuer (contract §12 `AUTH=oidc`): who somebody is and what they may do is for the issuer
 * to say, anew at each sign-in.
 */
import { Context, type Effect } from "effect"
import type { ServerError, Unauthorized } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import { Role } from "./Member.ts"

/** What a browser keeps while its person is at the issuer; of no use to anybody else. */
export interface Kept {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** What the issuer says of a person. */
export interface Claims {
  readonly email: string | undefined
  /** `false`: the issuer does not vouch for the address. */
  readonly emailVerified: boolean | undefined
  /** The role claim, whatever it is. */
  readonly roles: unknown
}

/** An issuer: the code flow with PKCE, state and nonce. */
export interface Issuer {
  /** Where the browser is sent, and what it keeps meanwhile. */
  readonly begin: (redirectUri: string) => Effect.Effect<{ readonly url: URL; readonly kept: Kept }, ServerError>
  /** Who has come back to `callback`, our address with what the issuer has added. */
  readonly complete: (callback: URL, kept: Kept) => Effect.Effect<Claims, Unauthorized | ServerError>
}

/** The issuer at which people sign in; `undefined`: they do elsewhere. */
export const CurrentIssuer = Context.Reference<Issuer | undefined>("@wac/core/people/Issuer/CurrentIssuer", {
  defaultValue: () => undefined
})

/** A person's role in a workspace. */
export interface Assigned {
  readonly workspaceId: WorkspaceId
  readonly role: Role
}

const isRole = (value: unknown): value is Role => (Role.literals as ReadonlyArray<unknown>).includes(value)

/**
 * What a role claim says: an object of workspaces and roles, or one role for the first workspace. What is neither, or
 * names no workspace that there is, says nothing. Pure.
 */
export const rolesOf = (claim: unknown, workspaces: ReadonlyArray<WorkspaceId>): ReadonlyArray<Assigned> => {
  if (isRole(claim)) return workspaces.slice(0, 1).map((workspaceId) => ({ workspaceId, role: claim }))
  if (typeof claim !== "object" || claim === null) return []
  return workspaces.flatMap((workspaceId) => {
    const role: unknown = Object.hasOwn(claim, workspaceId) ? Reflect.get(claim, workspaceId) : undefined
    return isRole(role) ? [{ workspaceId, role }] : []
  })
}
