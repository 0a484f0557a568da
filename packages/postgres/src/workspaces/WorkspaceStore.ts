import { type Workspace, WorkspaceStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import { configuring } from "../Settings.ts"
import type { Row } from "../Statement.ts"

/** The columns that {@link workspaceOf} reads, of the table under that name. */
export const workspaceColumns = (table: string): string =>
  ["id", "name", "created_at", "tier", "monthly_quota", "suspended"]
    .map((column) => `${table}.${column} as workspace_${column}`).join(", ")

/** Reads {@link workspaceColumns}. */
export const workspaceOf = (row: Row): Workspace.Workspace => ({
  id: plain(row, "workspace_id"),
  name: plain(row, "workspace_name"),
  createdAt: instant(row, "workspace_created_at"),
  tier: plain(row, "workspace_tier"),
  monthlyQuota: plain(row, "workspace_monthly_quota"),
  suspended: plain(row, "workspace_suspended")
})

/** The columns behind the fields of the operator's settings. */
const settingColumns = { tier: "tier", monthlyQuota: "monthly_quota", suspended: "suspended" } as const

export const layer = Layer.effect(
  WorkspaceStore.WorkspaceStore,
  Effect.map(Database, ({ query }) =>
    WorkspaceStore.WorkspaceStore.of({
      createFirst: (first) =>
        Effect.map(
          query("WorkspaceStore.createFirst", "select wac_create_first_workspace($1::text::json) as created", [
            JSON.stringify(first)
          ]),
          ([row]) => plain<boolean>(row!, "created")
        ),
      create: (created) =>
        Effect.asVoid(
          query("WorkspaceStore.create", "select wac_create_workspace($1::text::json)", [JSON.stringify(created)])
        ),
      get: (id) =>
        Effect.map(
          query("WorkspaceStore.get", `select ${workspaceColumns("w")} from workspaces w where id = $1`, [id]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), workspaceOf)
        ),
      list: Effect.map(
        query("WorkspaceStore.list", `select ${workspaceColumns("w")} from workspaces w order by created_at, id`, []),
        (rows) => rows.map(workspaceOf)
      ),
      configure: configuring(query, "WorkspaceStore.configure", "workspaces", settingColumns)
    }))
)
