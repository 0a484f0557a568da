/**
 * What a statement that deletes old rows returns (core's `Retention.Forgotten`), in the columns `removed` and
 * `is_more`; such a statement for simple tables; and deletions that walk over the workspaces, so that a statement reads
 * and deletes a bounded number of rows however many workspaces there are.
 */
import type { Retention, Time } from "@wac/core"
import { Effect } from "effect"
import { boolean, integer, row, text } from "./Columns.ts"
import type { Relation } from "./Schema.ts"
import { type Rows, statement, value } from "./Statement.ts"

/** The result columns of a statement that deletes at most `limit` rows; its `with` returns them as `gone`. */
export const columns = (limit: number | string): string =>
  `count(*)::integer as removed, count(*) = ${limit} as is_more`

const forgotten = row({ removed: integer(), isMore: boolean() })

/** Reads the result columns. */
export const read = (rows: Rows | undefined): Retention.Forgotten => forgotten.read(rows![0]!)

/** The maximum number of rows that {@link endedBefore} deletes in one statement. */
const atOnce = 1000

/**
 * Deletes rows of a table whose `column` is before a time, oldest first. With `ended` `<=`, also rows at that very
 * time. Rows are locked first, since a row that is just used again, such as an Idempotency-Key's, must neither be waited
 * for nor be deleted.
 */
export const endedBefore = (table: Relation, column: string, ended: "<" | "<=") =>
  statement({ before: value<Time.Instant>() }, ({ before }) =>
    `with gone as (
    delete from ${table} g where g.ctid = any (array(
      select o.ctid from ${table} o where o.${column} ${ended} ${before} order by o.${column} limit ${atOnce}
      for update skip locked
    ))
    returning 1
  )
  select ${columns(atOnce)} from gone`)

/** The result of a step of a walk over the workspaces. */
export interface Walked {
  readonly removed: number
  /** The workspace with which the next step begins; `null` after the last one. */
  readonly reached: string | null
}

const walked = row({ removed: integer(), reached: text<string | null>() })

/** Reads the result of a statement of {@link walk}. */
export const readWalked = (rows: Rows): Walked => walked.read(rows[0]!)

/** The maximum number of workspaces that one statement of {@link walk} looks at. */
const workspacesAtOnce = 1000

/** How a statement walks over the workspaces. */
export interface Walk {
  readonly table: Relation
  /** An expression for the workspace with which the step begins. */
  readonly from: string
  /**
   * An expression for the maximum number of rows. It should be a parameter: with a constant, the planner would expect few
   * rows and sort them.
   */
  readonly limit: string
  /**
   * A query for the column `ctid` of at most `limit` old rows of the workspace `w`. It should skip rows that are locked,
   * which another process is deleting.
   */
  readonly old: string
  /** A table with one row for each workspace, and its key; `workspaces` if omitted. */
  readonly over?: readonly [table: Relation, id: string]
}

/** The text of a statement that deletes old rows of the workspaces one after another (a step for {@link inTurn}). */
export const walk = ({ from, limit, old, over: [relation, id] = ["wac.workspaces", "id"], table }: Walk): string => {
  const workspaces = (columns: string) =>
    `select ${columns} from ${relation} w where w.${id} >= ${from} order by w.${id}`
  return `with chosen as materialized (
    select o.ctid as place, w.${id} as workspace_id
    from (${workspaces("w.*")} limit ${workspacesAtOnce}) w
    cross join lateral (${old}) o limit ${limit}
  ), gone as (
    delete from ${table} g where g.ctid = any (array(select c.place from chosen c)) returning 1
  )
  select (select count(*) from gone)::integer as removed,
    case when count(*) = ${limit} then max(c.workspace_id)
      else (${workspaces(`w.${id}`)} offset ${workspacesAtOnce} limit 1) end as reached
  from chosen c`
}

/**
 * Carries out walks one after the other. Each call deletes a bounded number of rows. After the last one of a round, the
 * next call begins again. A call that fails is repeated by the next one, so that a round does not begin again at each
 * failure; if that fails too, the next one begins again, so that a place that always fails does not keep old rows before
 * it.
 */
export const inTurn = <A, E>(
  walks: ReadonlyArray<(given: A, from: string) => Effect.Effect<Walked, E>>
): (given: A) => Effect.Effect<Retention.Forgotten, E> => {
  const first = { turn: 0, from: "" }
  let next = first
  let failed: typeof next | undefined
  const step = (given: A): Effect.Effect<Retention.Forgotten, E> =>
    Effect.suspend(() => {
      const { from, turn } = next
      return Effect.flatMap(walks[turn]!(given, from), ({ reached, removed }) => {
        const isLast = reached === null && turn === walks.length - 1
        next = reached !== null ? { turn, from: reached } : isLast ? first : { turn: turn + 1, from: "" }
        return removed === 0 && reached === null && !isLast
          ? step(given)
          : Effect.succeed({ removed, isMore: !isLast })
      })
    })
  return (given) =>
    Effect.onError(step(given), () =>
      Effect.sync(() => {
        const isRepeated = next === failed
        failed = next
        if (isRepeated) next = first
      }))
}
