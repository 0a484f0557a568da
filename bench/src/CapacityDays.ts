/**
 * Multiplies what one day of messages has left in the tables: each copy is a later day, with rows of the same sizes
 * under keys of their own.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"

/** The tables that are multiplied. They hold the rows of messages, for as long as events or messages are kept. */
export const tables = ["messages", "message_names", "conversations", "events", "deliveries", "attempts"] as const

/** The most days: each takes a further digit at a place of the identifiers, the first of which are those of today. */
export const most = 25

const digits = "23456789ABCDEFGHJKMNPQRST"

const ids = new Set(["id", "message_id", "event_id", "delivery_id", "order_key"])
const names = new Set(["key", "provider_message_id"])
const day = 86_400_000

/** A column's value on the n-th day after the first. */
const valueOf = (column: string, type: string, n: number): string => {
  if (column === "position") return "nextval('wac.positions')"
  // the second digit of the time in an identifier, which sorts as the time does
  if (ids.has(column)) return `overlay(${column} placing '${digits[n - 1]}' from strpos(${column}, '_') + 2 for 1)`
  // as random as they are
  if (names.has(column)) {
    return `overlay(${column} placing left(md5(${column} || '${n}'), 12) from greatest(1, length(${column}) - 14))`
  }
  return type === "bigint" && column.endsWith("_at") && column !== "resumed_at" ? `${column} + ${n * day}` : column
}

/** Adds this many days after the first, each in the order in which it was written. */
export const copy = ({ query }: Database, days: number): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    for (const table of tables) {
      const columns = (yield* query(
        `select column_name as name, data_type as type from information_schema.columns
        where table_schema = 'wac' and table_name = $1 order by ordinal_position`,
        [table]
      )) as unknown as ReadonlyArray<{ readonly name: string; readonly type: string }>
      const list = columns.map(({ name }) => name).join(", ")
      yield* query(`create temporary table first_day as select ${list} from wac.${table}`)
      for (let n = 1; n <= days; n++) {
        yield* query(
          `insert into wac.${table} (${list}) select ${
            columns.map(({ name, type }) => valueOf(name, type, n)).join(", ")
          } from first_day`
        )
      }
      yield* query("drop table first_day")
    }
  })
