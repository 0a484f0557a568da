/**
 * The models of invitations to a workspace and of password reset links (contract §12 *Members*): single-use secrets
 * that expire.
 */
import { Duration } from "effect"
import type { InvitationId, UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { Role } from "./Member.ts"

/** How long an invitation's link is valid. */
export const lifetime = Duration.days(7)

/** An invitation to a workspace. Only the hash of its link's token is stored. */
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

/** How long a password reset link is valid. */
export const resetLifetime = Duration.hours(1)

/** A single-use right to set a person's password. */
export interface PasswordReset {
  readonly tokenHash: string
  readonly userId: UserId
  readonly createdAt: Instant
  readonly expiresAt: Instant
}
