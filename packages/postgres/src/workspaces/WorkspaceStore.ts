/**
 * `WorkspaceStore` in PostgreSQL: combines the operations of this folder (`Create`) and adds the short statements.
 */
import { StoreError, type Workspace, type WorkspaceStep, WorkspaceStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import { configuring } from "../Settings.ts"
import type { Row } from "../Statement.ts"
import * as Create from "./Create.ts"

/** The columns that {@link workspaceOf} reads, qualified by the table. */
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

/** The columns of the operator's settings. */
const settingColumns = { tier: "tier", monthlyQuota: "monthly_quota", suspended: "suspended" } as const

/** Whether a workspace was created. Fails if its number belongs to another one. */
const made = (created: WorkspaceStep.Created): Effect.Effect<boolean, StoreError.StoreError> =>
  created === "number_known"
    ? Effect.andThen(
      Effect.logWarning("WorkspaceStore.create failed: the phone number already belongs to a workspace"),
      Effect.fail(new StoreError.StoreError({ operation: "WorkspaceStore.create" }))
    )
    : Effect.succeed(created === "created")

export const layer = Layer.effect(
  WorkspaceStore.WorkspaceStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const create = yield* stepped("WorkspaceStore.create", Create.create)

    return WorkspaceStore.WorkspaceStore.of({
      createFirst: (first) => Effect.flatMap(create(first), made),
      create: (created) => Effect.asVoid(Effect.flatMap(create(created), made)),
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
    })
  })
)
