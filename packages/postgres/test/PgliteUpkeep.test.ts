import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PgliteClient from "../src/PgliteClient.ts"
import * as PgliteUpkeep from "../src/PgliteUpkeep.ts"
import * as Schema from "../src/Schema.ts"

it.live("tables with many changes are vacuumed and analysed, and a long log is checkpointed", () =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const schema = yield* Schema.Schema
    yield* client`create schema wac`
    const state = Effect.map(
      client<Record<string, unknown>>`
        select (select redo_lsn::text from pg_control_checkpoint()) as checkpoint, s.vacuum_count::integer as vacuums,
          s.n_dead_tup::integer as dead, c.reltuples::integer as rows
        from pg_stat_user_tables s join pg_class c on c.oid = s.relid where s.relname = 'much'`,
      ([row]) => ({ ...row })
    )
    yield* client`create table wac.much (x integer, y text)`
    yield* PgliteUpkeep.once(client, schema)
    const before = yield* state
    assert.deepInclude(before, { vacuums: 0, rows: -1 })

    yield* client`insert into wac.much select i, repeat('much', 400) from generate_series(1, 20000) i`
    yield* client`delete from wac.much where x <= 10000`
    // statistics are flushed once a second
    yield* client`select pg_stat_force_next_flush()`
    yield* PgliteUpkeep.once(client, schema)
    yield* client`select pg_stat_force_next_flush()`
    const after = yield* state
    assert.deepInclude(after, { vacuums: 1, dead: 0, rows: 10000 })
    assert.notStrictEqual(after["checkpoint"], before["checkpoint"])

    yield* PgliteUpkeep.once(client, schema)
    assert.deepStrictEqual(yield* state, after)
  }).pipe(Effect.provide(PgliteClient.layer())))
