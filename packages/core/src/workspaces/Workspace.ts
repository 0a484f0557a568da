/**
 * Workspaces: the tenants, which own numbers, messages, keys and everything else. On the wire their id is `tenant_id`.
 */
import { Forbidden } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import * as PlainText from "../PlainText.ts"
import type { Instant } from "../Time.ts"

/** The maximum length of a workspace's name, in characters. */
export const maxNameLength = 100

/** A valid workspace name. */
export const Name = PlainText.between(1, maxNameLength)

/** A workspace. The operator sets tier, quota and suspension; `null` uses the default of `Limits`. */
export interface Workspace {
  readonly id: WorkspaceId
  readonly name: string
  readonly createdAt: Instant
  readonly tier: string | null
  readonly monthlyQuota: number | null
  readonly suspended: boolean
}

/** The error for a suspended workspace; `undefined` if it may send. */
export const suspension = (workspace: Pick<Workspace, "suspended">): Forbidden | undefined =>
  workspace.suspended
    ? new Forbidden({ reason: "workspace_suspended", message: "the workspace is suspended" })
    : undefined
