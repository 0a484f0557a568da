/**
 * What a statement that deletes old rows returns (core's `Retention.Forgotten`), in the columns `removed` and
 * `is_more`; and such a statement for simple tables.
 */
import type { Retention, Time } from "@wac/core"
import { boolean, integer, row } from "./Columns.ts"
import type { Relation } from "./Schema.ts"
import { type Rows, statement, value } from "./Statement.ts"

/** The result columns of a statement that deletes at most `limit` rows; its `with` returns them as `gone`. */
export const columns = (limit: number | string): string =>
  `count(*)::integer as removed, count(*) = ${limit} as is_more`

/**
 * The result columns of a statement that deletes at most `limit` rows of each workspace; its `with` returns them as
 * `gone`.
 */
export const columnsByWorkspace = (limit: string, gone = "gone"): string =>
  `coalesce(sum(g.deleted), 0)::integer as removed, coalesce(bool_or(g.deleted = ${limit}), false) as is_more
    from (select count(*) as deleted from ${gone} g group by g.workspace_id) g`

const forgotten = row({ removed: integer(), isMore: boolean() })

/** Reads the result columns. */
export const read = (rows: Rows | undefined): Retention.Forgotten => forgotten.read(rows![0]!)

/** The maximum number of rows that {@link endedBefore} deletes in one statement. */
const atOnce = 1000

/**
 * Deletes rows of a table whose `column` is before a time, oldest first. With `ended` `<=`, also rows at that very
 * time.
 */
export const endedBefore = (table: Relation, column: string, ended: "<" | "<=") =>
  statement({ before: value<Time.Instant>() }, ({ before }) =>
    `with gone as (
    delete from ${table} g where g.ctid = any (array(
      select o.ctid from ${table} o where o.${column} ${ended} ${before} order by o.${column} limit ${atOnce}
    ))
    returning 1
  )
  select ${columns(atOnce)} from gone`)
