/**
 * `AuditStore` in PostgreSQL: the statements of its methods.
 */
import { AuditEntry, AuditStore, Id, Page } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { type Row, statement } from "../Statement.ts"

const entry = columns<
  Omit<AuditEntry.AuditEntry, "by"> & { readonly userId: string | null; readonly email: string | null }
>({
  workspaceId: "text",
  id: "text",
  action: "text",
  target: "text",
  userId: "text",
  email: "text",
  at: "bigint",
  address: "text",
  requestId: "text",
  detail: "json"
})

const record = statement(
  { entries: entry },
  ({ entries }) =>
    `insert into wac.audit (${entry.names()}) select * from ${entries("g")}
  on conflict do nothing`
)

/** Each filter has an index in the order of the list. With both filters, one index is scanned. */
const listText = ({ target, userId }: AuditStore.AuditFilter, after: string | null): string =>
  `select ${entry.names("a")} from wac.audit a
  where a.workspace_id = $1
    ${after === null ? "and $3::text is null" : "and a.id < $3"}
    ${userId === undefined ? "and $4::text is null" : "and a.user_id = $4"}
    ${target === undefined ? "and $5::text is null" : "and a.target = $5"}
  order by a.id desc limit $2`

/** Rows deleted at once for a workspace. */
const forgottenAtOnce = 1000

/** A range of the key for each workspace. */
const forgetText = `with gone as (
    delete from wac.audit a where a.ctid = any (array(
      select a.ctid from wac.workspaces w cross join lateral (
        select a.ctid from wac.audit a where a.workspace_id = w.id and a.id < $1 order by a.id limit $2
      ) a
    ))
    returning a.workspace_id
  )
  select ${Forgotten.columnsByWorkspace("$2")}`

const entryOf = (row: Row): AuditEntry.AuditEntry => {
  const { email, userId, ...others } = entry.read(row)
  return { ...others, by: userId === null ? null : AuditEntry.byOf(userId, email!) }
}

export const layer = Layer.effect(
  AuditStore.AuditStore,
  Effect.map(Database, ({ query }) =>
    AuditStore.AuditStore.of({
      record: (entries) =>
        Effect.asVoid(query(
          "AuditStore.record",
          record({
            entries: entries.map(({ by, ...entry }) => ({
              ...entry,
              userId: by && AuditEntry.namesOf(by).id,
              email: by && AuditEntry.namesOf(by).name
            }))
          })
        )),
      list: (workspaceId, filter, page) =>
        Effect.map(
          query("AuditStore.list", {
            text: listText(filter, page.after),
            params: [workspaceId, page.limit + 1, page.after, filter.userId ?? null, filter.target ?? null]
          }),
          (rows) => Page.fromOverread(rows.map(entryOf), page, ({ id }) => id)
        ),
      forget: (before) =>
        Effect.map(
          query("AuditStore.forget", { text: forgetText, params: [Id.lowestAt("aud", before), forgottenAtOnce] }),
          Forgotten.read
        )
    }))
)
