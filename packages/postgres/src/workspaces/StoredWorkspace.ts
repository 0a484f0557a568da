/**
 * The stored form of workspaces.
 */
import type { Workspace } from "@wac/core"
import { columns } from "../Columns.ts"

/** The columns of a workspace. */
export const workspace = columns<Workspace.Workspace>({
  id: "text",
  name: "text",
  createdAt: "bigint",
  tier: "text",
  monthlyQuota: "integer",
  suspended: "boolean"
})

/** The columns of a workspace with a prefix, to select them beside columns of the same names. */
export const workspaceBeside = workspace.prefixed("workspace")
