/**
 * Workspaces: the tenants, which everything else belongs to. On the wire their id is `tenant_id`.
 */
import { Forbidden } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import * as PlainText from "../PlainText.ts"
import type { Instant } from "../Time.ts"

/** The longest name of a workspace, in characters. */
export const maxNameLength = 100

/** What a workspace can be called. */
export const Name = PlainText.between(1, maxNameLength)

/** Tier, quota and suspension belong to the operator; `null` is the default of `Limits`. */
export interface Workspace {
  readonly id: WorkspaceId
  readonly name: string
  readonly createdAt: Instant
  readonly tier: string | null
  readonly monthlyQuota: number | null
  readonly suspended: boolean
}

/** The error for a workspace that may not send at the moment, or nothing. */
export const suspension = (workspace: Pick<Workspace, "suspended">): Forbidden | undefined =>
  workspace.suspended
    ? new Forbidden({ reason: "workspace_suspended", message: "the workspace is suspended" })
    : undefined
