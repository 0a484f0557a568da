/**
 * The writes of a database: the write-ahead log of some activity, and the sizes of tables and their indexes.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"
import * as Report from "./Report.ts"
import * as Time from "./Time.ts"

export interface Cost<A> {
  readonly result: A
  readonly seconds: number
  /** The bytes of write-ahead log that the whole server wrote meanwhile. */
  readonly bytes: number
  /** The part of them that is copies of whole pages, with 8,192 bytes each. */
  readonly pageBytes: number
}

const written = ({ query }: Database) =>
  Effect.map(
    query("select pg_current_wal_lsn() - '0/0' as bytes, (select wal_fpi from pg_stat_wal) as pages"),
    ([row]) => ({ bytes: Number(row!["bytes"]), pages: Number(row!["pages"]) })
  )

/** Measures an activity. No other one may write to the server meanwhile. */
export const during = <A, E>(
  database: Database,
  activity: Effect.Effect<A, E>
): Effect.Effect<Cost<A>, E | BenchFailed> =>
  Effect.gen(function*() {
    const before = yield* written(database)
    const startedAt = Time.monotonic()
    const result = yield* activity
    const seconds = (Time.monotonic() - startedAt) / 1000
    const after = yield* written(database)
    return { result, seconds, bytes: after.bytes - before.bytes, pageBytes: (after.pages - before.pages) * 8192 }
  })

const megabytes = (bytes: number): string => `${Report.decimals(bytes / 1e6, 1)} MB`

export const cost = ({ bytes, seconds }: Cost<unknown>): string =>
  `${Report.decimals(seconds, 2)} s, ${megabytes(bytes)} of WAL`

export interface Size {
  readonly name: string
  readonly rows: number
  /** Bytes with TOAST and maps. */
  readonly table: number
  readonly index: number
}

/** Every table of the service, largest first. */
export const sizes = ({ query }: Database): Effect.Effect<ReadonlyArray<Size>, BenchFailed> =>
  Effect.map(
    query(
      `select c.relname as name, greatest(c.reltuples, 0)::float8 as rows, pg_table_size(c.oid)::float8 as "table",
        pg_indexes_size(c.oid)::float8 as index
      from pg_class c
      where c.relkind = 'r' and c.relnamespace = 'wac'::regnamespace and pg_total_relation_size(c.oid) > 65536
      order by pg_total_relation_size(c.oid) desc`
    ),
    (rows) => rows as unknown as ReadonlyArray<Size>
  )

export const table = (sizes: ReadonlyArray<Size>, messages: number): string => {
  const row = (name: string, rows: number, table: number, index: number) => [
    name,
    Report.whole(rows),
    Report.decimals(table / 1e6, 1),
    Report.decimals(index / 1e6, 1),
    Report.whole(table / messages),
    Report.whole(index / messages)
  ]
  const sum = (of: "table" | "index") => sizes.reduce((sum, size) => sum + size[of], 0)
  return Report.table([
    ["", "rows", "table MB", "indexes MB", "table B/message", "indexes B/message"],
    ...sizes.map((size) => row(size.name, size.rows, size.table, size.index)),
    row("together", Number.NaN, sum("table"), sum("index"))
  ]).replace("NaN", "   ")
}
