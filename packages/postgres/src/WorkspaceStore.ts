import { type Id, type PhoneNumber, type StoreError, type Workspace, WorkspaceStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { instant, plain } from "./Column.ts"
import { Database, type Row } from "./Database.ts"

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

const phoneNumberOf = (row: Row): PhoneNumber.PhoneNumber => ({
  id: plain(row, "id"),
  workspaceId: plain(row, "workspace_id"),
  phoneNumber: plain(row, "phone_number"),
  providerNumberId: plain(row, "provider_number_id"),
  tier: plain(row, "tier"),
  messagingLimit: plain(row, "messaging_limit"),
  available: plain(row, "available"),
  isDefault: plain(row, "is_default")
})

/** The columns behind the fields of the operator's settings. */
const workspaceSettings = { tier: "tier", monthlyQuota: "monthly_quota", suspended: "suspended" } as const
const phoneNumberSettings = { tier: "tier", messagingLimit: "messaging_limit", available: "available" } as const

export const layer = Layer.effect(
  WorkspaceStore.WorkspaceStore,
  Effect.map(Database, ({ query }) => {
    /** Sets the columns of the fields that are given. */
    const configure = <Field extends string>(
      operation: string,
      table: string,
      id: Id.WorkspaceId | Id.PhoneNumberId,
      columns: Readonly<Record<Field, string>>,
      settings: Readonly<Partial<Record<Field, unknown>>>
    ): Effect.Effect<void, StoreError.StoreError> => {
      const given = (Object.keys(columns) as Array<Field>).filter((field) => settings[field] !== undefined)
      if (given.length === 0) return Effect.void
      const changes = given.map((field, i) => `${columns[field]} = $${i + 2}`).join(", ")
      return Effect.asVoid(
        query(operation, `update ${table} set ${changes} where id = $1`, [id, ...given.map((field) => settings[field])])
      )
    }

    return WorkspaceStore.WorkspaceStore.of({
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
      configure: (id, settings) => configure("WorkspaceStore.configure", "workspaces", id, workspaceSettings, settings),
      phoneNumbers: (id) =>
        Effect.map(
          query(
            "WorkspaceStore.phoneNumbers",
            "select * from phone_numbers where workspace_id = $1 order by is_default desc, id",
            [id]
          ),
          (rows) => rows.map(phoneNumberOf)
        ),
      configurePhoneNumber: (id, settings) =>
        configure("WorkspaceStore.configurePhoneNumber", "phone_numbers", id, phoneNumberSettings, settings)
    })
  })
)
