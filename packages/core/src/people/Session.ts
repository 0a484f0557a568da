/**
 * The model of dashboard sessions (specification §5, contract §5): who acts, in which workspace, with which role.
 */
import { Duration } from "effect"
import type { SessionId, UserId, WorkspaceId } from "../Id.ts"
import type { Role } from "./Member.ts"

export interface Session {
  /** `null` if the host or an issuer keeps the session. */
  readonly id: SessionId | null
  readonly userId: UserId
  readonly email: string
  readonly role: Role
  readonly workspaceId: WorkspaceId
  readonly workspaceName: string
}

/** A session ends after this long without use. */
export const idleTimeout = Duration.hours(12)

/** A session ends at this age in any case. */
export const absoluteTimeout = Duration.days(7)
