/**
 * Members: people who sign in to a workspace's dashboard, and the rules for their roles (contract §5). Pure.
 */
import { Schema } from "effect"
import { Forbidden } from "../Errors.ts"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** The roles of members, from the least to the most powerful. */
export const Role = Schema.Literals(["member", "developer", "admin", "owner"]).annotate({
  identifier: "Role",
  embedded: true,
  description:
    "The roles, from the fewest to the most permissions: `member` reads, `developer` also changes keys and " +
    "the webhook, `admin` also members, `owner` everything."
})
export type Role = typeof Role.Type

/** A person who can sign in, whatever workspaces they are a member of. */
export interface Person {
  readonly userId: UserId
  /** Normalized; unique. */
  readonly email: string
  /** PHC string of an argon2id hash; `null` if the person signs in at an issuer (OpenID Connect). */
  readonly passwordHash: string | null
  readonly createdAt: Instant
}

/** A person in a workspace. */
export interface Member extends Pick<Person, "userId" | "email"> {
  readonly workspaceId: WorkspaceId
  readonly role: Role
  /** When the person became a member. */
  readonly createdAt: Instant
}

/** The lower one of two roles. Pure. */
export const lower = (one: Role, other: Role): Role =>
  Role.literals.indexOf(one) < Role.literals.indexOf(other) ? one : other

/** The error for a role below `needed`; `undefined` if the role is enough. */
export const roleRefusal = (role: Role, needed: Role): Forbidden | undefined =>
  Role.literals.indexOf(role) >= Role.literals.indexOf(needed)
    ? undefined
    : new Forbidden({ reason: "role_not_allowed", message: `this requires the role ${needed}; yours is ${role}` })

/** The roles that manage members. */
export const managers = Role.literals.filter((role) => roleRefusal(role, "admin") === undefined)

/** The error for managing members with a role, `null` if the person is not a member (any more). */
const managerRefusal = (by: Role | null): Forbidden | undefined =>
  by === null
    ? new Forbidden({ reason: "role_not_allowed", message: "you are not a member any more" })
    : roleRefusal(by, "admin")

/** The error for acting on owners without being one: as a member, or as the role that somebody would get. */
const ownersRefusal = (by: Role, ...roles: ReadonlyArray<Role | null>): Forbidden | undefined =>
  by !== "owner" && roles.includes("owner")
    ? new Forbidden({ reason: "role_not_allowed", message: "only an owner can manage owners" })
    : undefined

/**
 * The error for changing a member's role or, with `null`, removing them; `undefined` if allowed. Only owners manage
 * owners, and the last owner stays one. `by` is the role of the person who asks, `null` if they are not a member (any
 * more). `owners` is the number of owners in the workspace. Pure.
 */
export const changeRefusal = (
  by: Role | null,
  member: Pick<Member, "role">,
  role: Role | null,
  owners: number
): Forbidden | undefined => {
  const refusal = managerRefusal(by)
  if (by === null || refusal !== undefined) return refusal
  return ownersRefusal(by, member.role, role) ?? (member.role === "owner" && role !== "owner" && owners <= 1
    ? new Forbidden({ reason: "role_not_allowed", message: "a workspace must keep at least one owner" })
    : undefined)
}

/**
 * The error for ending a member's sessions; `undefined` if allowed. Only owners end owners' sessions. `by` is the role
 * of the person who asks. Pure.
 */
export const sessionsRefusal = (by: Role, member: Pick<Member, "role">): Forbidden | undefined =>
  managerRefusal(by) ?? ownersRefusal(by, member.role)

/**
 * The error for inviting somebody to a role; `undefined` if allowed. `by` is the role of the person who invites, `null`
 * if they are not a member (any more). Pure.
 */
export const invitationRefusal = (by: Role | null, role: Role): Forbidden | undefined =>
  managerRefusal(by) ?? (by !== "owner" && role === "owner"
    ? new Forbidden({ reason: "role_not_allowed", message: "only an owner can invite owners" })
    : undefined)
