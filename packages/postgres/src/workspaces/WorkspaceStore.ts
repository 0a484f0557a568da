/**
 * `WorkspaceStore` in PostgreSQL: combines the operations of this folder (`Create`) and adds the short statements.
 */
import { StoreError, type WorkspaceStep, WorkspaceStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "../Database.ts"
import { configuring } from "../Settings.ts"
import { first } from "../Statement.ts"
import { select } from "../TableStatements.ts"
import * as Create from "./Create.ts"
import { workspace as workspaces } from "./StoredWorkspace.ts"

/** The operator's settings. */
const settings = workspaces.pick("tier", "monthlyQuota", "suspended")

const get = select(workspaces, "wac.workspaces", workspaces.pick("id"))

/** Whether a workspace was created. Fails if its number belongs to another workspace. */
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
      get: (id) => Effect.map(query("WorkspaceStore.get", get({ id })), first(workspaces.read)),
      list: Effect.map(
        query("WorkspaceStore.list", {
          text: `select ${workspaces.names("w")} from wac.workspaces w order by created_at, id`
        }),
        (rows) => rows.map(workspaces.read)
      ),
      configure: configuring(query, "WorkspaceStore.configure", "wac.workspaces", settings)
    })
  })
)
