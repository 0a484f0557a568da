/**
 * Members: people who sign in to a workspace's dashboard, and their roles (contract §5).
 */
import { Schema } from "effect"
import { Forbidden } from "../Errors.ts"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** From least to most: `member` reads, `developer` also changes keys and webhook, `admin` also members, `owner` all. */
export const Role = Schema.Literals(["member", "developer", "admin", "owner"])
export type Role = typeof Role.Type

export interface Member {
  readonly userId: UserId
  readonly workspaceId: WorkspaceId
  /** In lower case; unique. */
  readonly email: string
  /** PHC string of an argon2id hash. */
  readonly passwordHash: string
  readonly role: Role
  readonly createdAt: Instant
}

/** The error for a role below `needed`, or nothing. */
export const roleRefusal = (role: Role, needed: Role): Forbidden | undefined =>
  Role.literals.indexOf(role) >= Role.literals.indexOf(needed)
    ? undefined
    : new Forbidden({ reason: "role_not_allowed", message: `this needs the role ${needed}; yours is ${role}` })
