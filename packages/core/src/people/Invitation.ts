/**
 * Invitations to a workspace, and links that reset a password (contract §12 *Members*): secrets of one use that end.
 */
import { Duration } from "effect"
import type { InvitationId, UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { Role } from "./Member.ts"

/** How long an invitation's link is good for. */
export const lifetime = Duration.days(7)

/** Somebody is invited to a workspace. Only the hash of the link's token is kept. */
export interface Invitation {
  readonly id: InvitationId
  readonly workspaceId: WorkspaceId
  /** In lower case. */
  readonly email: string
  readonly role: Role
  readonly tokenHash: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** How long a link that resets a password is good for. */
export const resetLifetime = Duration.hours(1)

/** A person may give themselves another password, once. */
export interface PasswordReset {
  readonly tokenHash: string
  readonly userId: UserId
  readonly createdAt: Instant
  readonly expiresAt: Instant
}
