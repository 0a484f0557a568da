/**
 * Workspaces as they are stored.
 */
import type { Workspace } from "@wac/core"
import { columns } from "../Columns.ts"

/** A workspace. */
export const workspace = columns<Workspace.Workspace>({
  id: "text",
  name: "text",
  createdAt: "bigint",
  tier: "text",
  monthlyQuota: "integer",
  suspended: "boolean"
})

/** A workspace beside columns of the same names. */
export const workspaceBeside = workspace.prefixed("workspace")
