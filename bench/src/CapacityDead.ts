/**
 * The cost of deleted rows that are not yet vacuumed for the deletion: each step begins at the low end of an index, and
 * reads past their entries.
 */
import { Console, Effect } from "effect"
import type { Database } from "./Database.ts"
import * as Report from "./Report.ts"
import { median } from "./Statistics.ts"
import * as Time from "./Time.ts"

/** How many rows are deleted, below all that are left. */
const deleted = [0, 30_000, 300_000, 3_000_000]

const left = 100_000

const id = "'msg_0' || lpad(n::text, 25, '0')"

/** Finds what a step would delete. */
const step = "select ctid from dead where id < 'msg_1' and status = any ('{read}') order by id limit 500"

export const run = ({ query }: Database) =>
  Effect.gen(function*() {
    yield* query("create table dead (id text primary key, status text) with (autovacuum_enabled = off)")
    yield* query(
      `insert into dead select ${id}, 'read' from generate_series(1, ${deleted.at(-1)! + left}) n`
    )
    yield* query("vacuum (analyze) dead")
    const steps = Effect.gen(function*() {
      const times: Array<number> = []
      for (let n = 0; n < 11; n++) {
        const startedAt = Time.monotonic()
        yield* query(step)
        times.push(Time.monotonic() - startedAt)
      }
      const [first, ...others] = times
      return [first!, median(others)].map((ms) => Report.decimals(ms, 1))
    })
    const rows: Array<ReadonlyArray<string>> = []
    for (const count of deleted) {
      yield* query(`delete from dead where id <= (select ${id} from (select ${count} as n) n)`)
      rows.push([Report.whole(count), ...yield* steps])
    }
    yield* query("vacuum dead")
    rows.push(["vacuumed", ...yield* steps])
    yield* query("drop table dead")
    yield* Console.log(
      "\n" + Report.table([["deleted since the last vacuum", "first step ms", "others, median ms"], ...rows])
    )
  })
