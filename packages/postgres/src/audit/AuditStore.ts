/**
 * `AuditStore` in PostgreSQL: the statements of its methods.
 */
import { AuditEntry, AuditStore, Id, Page } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { filteredPages } from "../Pages.ts"
import { ifGiven, type Row, statement, value } from "../Statement.ts"

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

/** Reads a page of the list. Each filter has an index in the list's order; with both filters, one index is scanned. */
const list = filteredPages(
  { workspaceId: value<Id.WorkspaceId>() },
  { userId: value<string>(), target: value<string>() },
  ({ workspaceId }, { target, userId }, { isAfter, limit }) =>
    `select ${entry.names("a")} from wac.audit a
  where a.workspace_id = ${workspaceId} and ${isAfter("a.id")}${
      ifGiven(userId, (userId) => ` and a.user_id = ${userId}`)
    }${ifGiven(target, (target) => ` and a.target = ${target}`)}
  order by a.id desc limit ${limit}`
)

/** The maximum number of rows deleted in one statement. */
const forgottenAtOnce = 1000

/** Deletes old rows: a range of the primary key for each workspace. */
const forget = statement(
  { below: value<string>(), from: value<string>(), limit: value<number>() },
  ({ below, from, limit }) =>
    Forgotten.walk({
      table: "wac.audit",
      from,
      limit,
      old: `select a.ctid from wac.audit a where a.workspace_id = w.id and a.id < ${below} order by a.id limit ${limit}
      for update skip locked`
    })
)

const entryOf = (row: Row): AuditEntry.AuditEntry => {
  const { email, userId, ...others } = entry.read(row)
  return { ...others, by: userId === null ? null : AuditEntry.byOf(userId, email!) }
}

export const layer = Layer.effect(
  AuditStore.AuditStore,
  Effect.map(Database, ({ planned, query }) =>
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
      list: (workspaceId, { target, userId }, page) =>
        Effect.map(
          query("AuditStore.list", list({ workspaceId }, { userId, target }, page)),
          (rows) => Page.fromOverread(rows.map(entryOf), page, ({ id }) => id)
        ),
      forget: Forgotten.inTurn([
        (before, from) =>
          Effect.map(
            planned("AuditStore.forget", [
              forget({ below: Id.lowestAt("aud", before), from, limit: forgottenAtOnce })
            ]),
            ([rows]) => Forgotten.readWalked(rows!)
          )
      ])
    }))
)
