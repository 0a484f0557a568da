/**
 * Measures what a statement costs, in rows.
 */
import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Statement } from "../src/Statement.ts"

/** What a statement does to a table: full scans, rows read in any way, rows written. */
export interface Touched {
  readonly scans: number
  readonly read: number
  readonly written: number
}

/**
 * What this connection has touched of each table, in this transaction and in earlier ones that are not accounted for
 * yet.
 */
export const counters = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const rows = yield* client<Touched & { readonly name: string }>`
    select relname as name, seq_scan::int as scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read,
      (n_tup_ins + n_tup_upd + n_tup_del)::int as written
    from pg_stat_xact_user_tables`
  return new Map(rows.map(({ name, ...counts }) => [name, counts]))
})

export const nothing: Touched = { scans: 0, read: 0, written: 0 }

/** What a step touches, by table. The step is rolled back. */
export const touchedBy = <A, E, R>(step: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const tables = new Map<string, Touched>()
    const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
      const before = yield* counters
      yield* step
      for (const [name, { read, scans, written }] of yield* counters) {
        const was = before.get(name) ?? nothing
        tables.set(name, { scans: scans - was.scans, read: read - was.read, written: written - was.written })
      }
      return yield* Effect.fail("undone" as const)
    })))
    assert.strictEqual(undone, "undone")
    return (name: string): Touched => tables.get(name) ?? nothing
  })

/** What a statement touches, by table. The statement is rolled back. */
export const touched = ({ params = [], text }: Statement) =>
  touchedBy(PgClient.PgClient.use((client) => client.unsafe(text, params)))

/**
 * Has the statements of this session planned anew, although the planner has seen no more of their tables. PostgreSQL does
 * so at any time: many changes of catalogs, also in other databases, discard the plans of all sessions.
 */
export const discardPlans = PgClient.PgClient.use((client) => client.unsafe("discard plans"))

/** A step, and the maximum number of rows of each table that it may read. */
export type Step = readonly [Effect.Effect<unknown, unknown, PgClient.PgClient>, { readonly [table: string]: number }]

/**
 * Asserts that steps read no more rows of the filled tables than they may: by plans that were made while the tables were
 * empty, and by plans that are made anew.
 */
export const readOnlyTheirRows = (steps: { readonly [step: string]: Step }, fill: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const all = Object.entries(steps)
    // one connection, so that its plans stay
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client`set local statement_timeout = 0`
      for (const [, [step]] of all) {
        for (let i = 0; i < 8; i++) yield* touchedBy(step)
      }
      for (const statement of fill) yield* client.unsafe(statement)
      const measure = Effect.gen(function*() {
        const over: Array<string> = []
        for (const [what, [step, most]] of all) {
          // when it plans again, the planner reads the ends of indexes
          yield* touchedBy(step)
          const touched = yield* touchedBy(step)
          for (const [table, rows] of Object.entries(most)) {
            const { read } = touched(table)
            if (read > rows) over.push(`${what} reads ${read} rows of ${table}`)
          }
        }
        assert.deepStrictEqual(over, [])
      })
      yield* measure
      yield* discardPlans
      yield* measure
    }))
  })
