/**
 * The models of invitations to a workspace and of password reset links (contract §12 *Members*), which are single-use
 * secrets that expire; and the rules for who may make, replace and withdraw an invitation.
 */
import { Duration } from "effect"
import { Forbidden } from "../Errors.ts"
import type { InvitationId, UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import { invitationRefusal, type Member, type Role } from "./Member.ts"

/** How long an invitation's link is valid. */
export const lifetime = Duration.days(7)

/** The maker of an invitation. */
export interface Maker {
  /** `null` if the operator made it by a command. */
  readonly person: Pick<Member, "userId" | "email"> | null
  /**
   * The role of a maker who is not a member: the operator, or a host's person. `null` if the maker must be a member.
   */
  readonly role: Role | null
}

/** An invitation to a workspace. Only the hash of its link's token is stored. */
export interface Invitation {
  readonly id: InvitationId
  readonly workspaceId: WorkspaceId
  /** In lower case. */
  readonly email: string
  readonly role: Role
  /** `null` in rows of older versions, which did not store it. */
  readonly by: Maker | null
  readonly tokenHash: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** The present role of a member of the invitation's workspace; `undefined` if they are not a member. */
export type RoleOf = (userId: UserId) => Role | undefined

/** The role that the maker has now; `null` if they are not a member any more, or unknown. Pure. */
export const authority = (by: Maker | null, roleOf: RoleOf): Role | null =>
  by === null ? null : by.role ?? (by.person === null ? null : roleOf(by.person.userId) ?? null)

/** Whether the maker may still give the invitation's role. If not, the invitation is void. Pure. */
export const stands = ({ by, role }: Pick<Invitation, "by" | "role">, roleOf: RoleOf): boolean =>
  invitationRefusal(authority(by, roleOf), role) === undefined

/** Whether it can be accepted: it has not expired, and it {@link stands}. Pure. */
export const isValid = (
  invitation: Pick<Invitation, "by" | "expiresAt" | "role">,
  roleOf: RoleOf,
  now: Instant
): boolean => now < invitation.expiresAt && stands(invitation, roleOf)

/**
 * The error for withdrawing or replacing an invitation; `undefined` if allowed. Only owners manage invitations for
 * owners and invitations that an owner or the operator made. `by` is the role of the person who asks, `null` if they are
 * not a member (any more). Pure.
 */
export const managementRefusal = (
  by: Role | null,
  invitation: Pick<Invitation, "by" | "role">,
  roleOf: RoleOf
): Forbidden | undefined => {
  const refusal = invitationRefusal(by, "member")
  if (refusal !== undefined || by === "owner") return refusal
  return invitation.role === "owner" || authority(invitation.by, roleOf) === "owner"
    ? new Forbidden({
      reason: "role_not_allowed",
      message: "only an owner can withdraw or replace an owner's invitation"
    })
    : undefined
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
