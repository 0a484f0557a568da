/**
 * The result of a step of a deletion, as its statement returns it: in the columns `removed` and `is_more`.
 */
import type { Retention, Time } from "@wac/core"
import { boolean, integer, row } from "./Columns.ts"
import type { Relation } from "./Schema.ts"
import { type Rows, statement, value } from "./Statement.ts"

/** The columns for the rows of `gone`, at most `limit` of which a statement deletes. */
export const columns = (limit: number | string): string =>
  `count(*)::integer as removed, count(*) = ${limit} as is_more`

/** The columns for the rows of `gone`, at most `limit` of which a statement deletes for each workspace. */
export const columnsByWorkspace = (limit: string, gone = "gone"): string =>
  `coalesce(sum(g.deleted), 0)::integer as removed, coalesce(bool_or(g.deleted = ${limit}), false) as is_more
    from (select count(*) as deleted from ${gone} g group by g.workspace_id) g`

const forgotten = row({ removed: integer(), isMore: boolean() })

/** Reads the columns. */
export const read = (rows: Rows | undefined): Retention.Forgotten => forgotten.read(rows![0]!)

/** The rows that {@link endedBefore} deletes at once. */
const atOnce = 1000

/** Deletes the rows of a table that ended before a time, oldest first. `ended` compares a column with it. */
export const endedBefore = (table: Relation, column: string, ended: "<" | "<=") =>
  statement({ before: value<Time.Instant>() }, ({ before }) =>
    `with gone as (
    delete from ${table} g where g.ctid = any (array(
      select o.ctid from ${table} o where o.${column} ${ended} ${before} order by o.${column} limit ${atOnce}
    ))
    returning 1
  )
  select ${columns(atOnce)} from gone`)
