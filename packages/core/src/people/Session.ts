/**
 * Dashboard sessions (specification §5, contract §5): who acts, in which workspace, with which role.
 */
import { Duration } from "effect"
import type { SessionId, UserId, WorkspaceId } from "../Id.ts"
import type { Role } from "./Member.ts"

export interface Session {
  /** `null`: it is the host's, or an issuer's, and not kept by us. */
  readonly id: SessionId | null
  readonly userId: UserId
  readonly email: string
  readonly role: Role
  readonly workspaceId: WorkspaceId
  readonly workspaceName: string
}

/** A session ends when it was not used for this long. */
export const idleTimeout = Duration.hours(12)

/** A session ends at this age in any case. */
export const absoluteTimeout = Duration.days(7)
