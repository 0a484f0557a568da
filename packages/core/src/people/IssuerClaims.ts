/**
 * What an OpenID Connect issuer states about a person, and the rules for the claims about e-mail, roles and time of
 * proof. Pure.
 */
import { Schema } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as EmailAddress from "./EmailAddress.ts"
import { Role } from "./Member.ts"

/**
 * Identifies a person at an issuer. No other claim, such as the e-mail address, does (OpenID Connect Core 1.0, §5.7).
 */
export interface Identity {
  /** The claim `iss`. */
  readonly issuer: string
  /** The claim `sub`: at most 255 characters. */
  readonly subject: string
}

/** The issuer's claims about a person. Only the identity is checked; the types of the other claims are not. */
export interface IssuerClaims {
  readonly identity: Identity
  readonly email: unknown
  /** The claim `email_verified` from the same token or response as `email`. */
  readonly emailVerified: unknown
  readonly roles: unknown
  /** When the person proved who they are at the issuer: the claim `auth_time` of the ID token. */
  readonly authTime: unknown
}

const isEmail = Schema.is(EmailAddress.EmailAddress)

/**
 * The normalized address by which an issuer's person may be recognized at their first sign-in; `null` unless the issuer
 * states, as a boolean, that it has verified the address, and the address has no characters that could be taken for
 * others (`EmailAddress`).
 */
export const verifiedEmail = ({ email, emailVerified }: Pick<IssuerClaims, "email" | "emailVerified">): string | null =>
  emailVerified === true && isEmail(email) ? EmailAddress.normalize(email) : null

/**
 * When an issuer's person proved who they are; never later than `now`. A missing or invalid `auth_time` counts as long
 * ago (0), because the sign-in may rest on an old session at the issuer.
 */
export const provenAt = ({ authTime }: Pick<IssuerClaims, "authTime">, now: Instant): Instant =>
  typeof authTime === "number" && authTime >= 0 ? Math.min(Math.floor(authTime * 1000), now) : 0

/** A person's role in a workspace. */
export interface RoleGrant {
  readonly workspaceId: WorkspaceId
  readonly role: Role
}

const isRole = (value: unknown): value is Role => (Role.literals as ReadonlyArray<unknown>).includes(value)

/**
 * The roles that a claim grants: an object from workspaces to roles, or one role for the first workspace. Any other
 * claim, and an unknown workspace, grants nothing.
 */
export const rolesOf = (claim: unknown, workspaces: ReadonlyArray<WorkspaceId>): ReadonlyArray<RoleGrant> => {
  if (isRole(claim)) return workspaces.slice(0, 1).map((workspaceId) => ({ workspaceId, role: claim }))
  if (typeof claim !== "object" || claim === null) return []
  return workspaces.flatMap((workspaceId) => {
    const role: unknown = Object.hasOwn(claim, workspaceId) ? Reflect.get(claim, workspaceId) : undefined
    return isRole(role) ? [{ workspaceId, role }] : []
  })
}
