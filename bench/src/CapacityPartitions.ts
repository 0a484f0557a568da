/**
 * The savings and costs of partitions by time, beside the tables as they are: dropping a day, and finding rows by keys
 * that do not tell the day.
 */
import { Console, Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"
import * as Report from "./Report.ts"
import { median } from "./Statistics.ts"
import * as Written from "./Written.ts"

/**
 * A table, its column of time, its partitions (one a day), and the keys of its indexes, each of which must hold the
 * time.
 */
interface Partitioned {
  readonly name: string
  readonly at: string
  readonly days: number
  readonly indexes: ReadonlyArray<string>
}

const partitioned: ReadonlyArray<Partitioned> = [
  {
    name: "messages",
    at: "created_at",
    days: 400,
    indexes: [
      "unique (id, created_at)",
      "unique (workspace_id, route, key, created_at)",
      "(workspace_id, id)"
    ]
  },
  {
    name: "events",
    at: "created_at",
    days: 30,
    indexes: [
      "unique (id, created_at)",
      "unique (order_key, sequence, created_at)",
      "(workspace_id, type, position)",
      "(workspace_id, created_at)"
    ]
  },
  { name: "attempts", at: "started_at", days: 30, indexes: ["unique (delivery_id, number, started_at)"] }
]

const day = 86_400_000

const make = ({ query }: Database, { at, days, indexes, name }: Partitioned, before: number) =>
  Effect.gen(function*() {
    const parts = `parts_${name}`
    yield* query(`create table ${parts} (like wac.${name} including defaults) partition by range (${at})`)
    // before is the end of the first day
    for (let n = 0; n < days; n++) {
      yield* query(
        `create table ${parts}_${n} partition of ${parts}
          for values from (${n === 0 ? "minvalue" : before + (n - 1) * day}) to (${before + n * day})`
      )
    }
    for (const [n, index] of indexes.entries()) {
      const [, unique = "", columns] = /^(unique )?(.*)$/.exec(index)!
      yield* query(`create ${unique}index ${parts}_i${n} on ${parts} ${columns}`)
    }
    yield* query(`insert into ${parts} select * from wac.${name} where ${at} < ${before}`)
    yield* query(`vacuum (analyze) ${parts}`)
    return parts
  })

/** The median planning and execution time of a statement in milliseconds. */
const timed = ({ query }: Database, statement: string) =>
  Effect.gen(function*() {
    const times: Array<{ readonly planning: number; readonly execution: number }> = []
    for (let n = 0; n < 21; n++) {
      const [row] = yield* query(`explain (analyze, timing off, format json) ${statement}`)
      const [plan] = row!["QUERY PLAN"] as ReadonlyArray<
        { readonly "Planning Time": number; readonly "Execution Time": number }
      >
      times.push({ planning: plan!["Planning Time"], execution: plan!["Execution Time"] })
    }
    return {
      planning: median(times.map(({ planning }) => planning)),
      execution: median(times.map(({ execution }) => execution))
    }
  })

/** The statements that are compared, of a table with this name. */
const found: Readonly<Record<string, ReadonlyArray<readonly [what: string, of: (table: string) => string]>>> = {
  messages: [
    ["a message by its id", (table) => `select * from ${table} where id = (select max(id) from wac.messages)`],
    [
      "an idempotency key that is new",
      (table) => `select * from ${table} where workspace_id = 'ws' and route = 'POST /v1/messages' and key = 'new'`
    ],
    [
      "a page of a workspace with few messages",
      (table) => `select * from ${table} where workspace_id = 'ws' and id > '' order by id desc limit 50`
    ]
  ],
  events: [["the event of a message", (table) => `select * from ${table} where order_key = 'msg' and sequence = 1`]],
  attempts: [["the attempts of a delivery", (table) => `select * from ${table} where delivery_id = 'dlv'`]]
}

/** Compares the tables as they are with copies of their first rows, up to a time, in partitions. */
export const run = (database: Database, before: number): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    const rows: Array<ReadonlyArray<string>> = []
    for (const table of partitioned) {
      const parts = yield* make(database, table, before)
      for (const [what, statement] of found[table.name]!) {
        const plain = yield* timed(database, statement(table.name))
        const apart = yield* timed(database, statement(parts))
        rows.push([
          `${what}, of ${table.days} days`,
          ...[plain.planning, plain.execution, apart.planning, apart.execution].map((ms) => Report.decimals(ms, 2))
        ])
      }
      const dropped = yield* Written.during(database, database.query(`drop table ${parts}_0`))
      yield* Console.log(`a day of ${table.name} dropped as a partition  ${Written.cost(dropped)}`)
      yield* database.query(`drop table ${parts}`)
    }
    yield* Console.log(
      "\n" + Report.table([
        ["ms", "planning", "execution", "planning, partitions", "execution, partitions"],
        ...rows
      ])
    )
  })
