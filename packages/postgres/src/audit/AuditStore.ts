/**
 * `AuditStore` in PostgreSQL: the statements of its methods.
 */
import { AuditEntry, AuditStore, Id, Page } from "@wac/core"
import { Effect, Layer } from "effect"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { instants, jsons, texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"

const recordText = `insert into audit
    (workspace_id, id, action, target, user_id, email, at, address, request_id, detail)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
    $8::text[], $9::text[], $10::json[])
  on conflict do nothing`

/** Each filter has an index in the order of the list. With both filters, one index is scanned. */
const listText = ({ target, userId }: AuditStore.AuditFilter, after: string | null): string =>
  `select a.workspace_id, a.id, a.action, a.target, a.user_id, a.email, a.at, a.address, a.request_id, a.detail
  from audit a
  where a.workspace_id = $1
    ${after === null ? "and $3::text is null" : "and a.id < $3"}
    ${userId === undefined ? "and $4::text is null" : "and a.user_id = $4"}
    ${target === undefined ? "and $5::text is null" : "and a.target = $5"}
  order by a.id desc limit $2`

/** Rows deleted at once for a workspace. */
const forgottenAtOnce = 1000

/** A range of the key for each workspace. */
const forgetText = `with gone as (
    delete from audit a where a.ctid = any (array(
      select a.ctid from workspaces w cross join lateral (
        select a.ctid from audit a where a.workspace_id = w.id and a.id < $1 order by a.id limit $2
      ) a
    ))
    returning a.workspace_id
  )
  select ${Forgotten.columnsByWorkspace("$2")}`

const entryOf = (row: Row): AuditEntry.AuditEntry => ({
  id: plain(row, "id"),
  workspaceId: plain(row, "workspace_id"),
  action: plain(row, "action"),
  target: plain(row, "target"),
  by: row["user_id"] === null ? null : AuditEntry.byOf(plain(row, "user_id"), plain(row, "email")),
  at: instant(row, "at"),
  address: plain(row, "address"),
  requestId: plain(row, "request_id"),
  detail: plain(row, "detail")
})

export const layer = Layer.effect(
  AuditStore.AuditStore,
  Effect.map(Database, ({ query }) =>
    AuditStore.AuditStore.of({
      record: (entries) =>
        Effect.asVoid(query("AuditStore.record", recordText, [
          texts(entries.map(({ workspaceId }) => workspaceId)),
          texts(entries.map(({ id }) => id)),
          texts(entries.map(({ action }) => action)),
          texts(entries.map(({ target }) => target)),
          texts(entries.map(({ by }) => by && AuditEntry.namesOf(by).id)),
          texts(entries.map(({ by }) => by && AuditEntry.namesOf(by).name)),
          instants(entries.map(({ at }) => at)),
          texts(entries.map(({ address }) => address)),
          texts(entries.map(({ requestId }) => requestId)),
          jsons(entries.map(({ detail }) => detail))
        ])),
      list: (workspaceId, filter, page) =>
        Effect.map(
          query("AuditStore.list", listText(filter, page.after), [
            workspaceId,
            page.limit + 1,
            page.after,
            filter.userId ?? null,
            filter.target ?? null
          ]),
          (rows) => Page.fromOverread(rows.map(entryOf), page, ({ id }) => id)
        ),
      forget: (before) =>
        Effect.map(
          query("AuditStore.forget", forgetText, [Id.lowestAt("aud", before), forgottenAtOnce]),
          Forgotten.read
        )
    }))
)
