/**
 * `wac migrate`, as a process.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Migrations, Schema } from "@wac/postgres"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../checks.ts"
import { carryOut, emptyDatabase, launch, postgres, sql } from "../processes.ts"

const newest = Migrations.all.length

/** Runs it to its end. */
const migrate = (database: string) => carryOut({ DATABASE_URL: database }, "migrate")

const nothingToDo = {
  code: 0,
  stdout: `the database already has schema version ${newest}: nothing to do\n`,
  stderr: ""
}

it.live(
  "migrate updates a server's database to the newest schema, and refuses a newer one with one line",
  () =>
    Effect.gen(function*() {
      const database = yield* Effect.flatMap(postgres, emptyDatabase)
      const first = yield* Effect.replicateEffect(migrate(database), 2, { concurrency: 2 })
      for (const { code, stderr } of first) assert.deepStrictEqual([code, stderr], [0, ""])
      assert.include(first.map(({ stdout }) => stdout), `migrated the database from schema version 0 to ${newest}\n`)
      assert.deepStrictEqual(yield* migrate(database), nothingToDo)

      yield* sql(
        database,
        `insert into wac.schema_versions (version, name, checksum) values (${newest + 1}, 'later', 'unknown')`
      )
      assert.deepStrictEqual(yield* migrate(database), {
        code: 1,
        stdout: "",
        stderr:
          `wac: DATABASE_URL: the database has schema version ${
            newest + 1
          } (later), newer than this wac, which knows ${newest}: ` +
          "start a newer wac\n"
      })
    }).pipe(Effect.scoped)
)

it.live("migrate also creates an embedded database, and refuses memory", () =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "wac-migrate-"))),
      (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
    )
    assert.deepStrictEqual(yield* migrate(`pglite:${directory}`), {
      code: 0,
      stdout: `migrated the database from schema version 0 to ${newest}\n`,
      stderr: ""
    })
    assert.deepStrictEqual(yield* migrate(`pglite:${directory}`), nothingToDo)
    const memory = yield* migrate("memory:")
    assert.deepStrictEqual([memory.code, memory.stdout], [1, ""])
    assert.match(memory.stderr, /^wac: DATABASE_URL: expected [^\n]+\n$/)
  }).pipe(Effect.scoped))

it.live("migrate that a signal interrupts says so, and exits with the signal's code, so that no rollout follows", () =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, emptyDatabase)
    yield* migrate(database)
    const client = yield* PgClient.make({ url: Redacted.make(database), maxConnections: 1 })
    // as the migration of another process does, which takes as long as it takes
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client.unsafe(`select pg_advisory_xact_lock(7305148209 + ${Schema.lockOffset})`)
      for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
        const { child, ended, output } = yield* launch({ DATABASE_URL: database }, "wac", ["migrate", "--json"])
        yield* until(
          sql<{ pid: number }>(database, "select pid from pg_locks where locktype = 'advisory' and not granted"),
          (waiting) => waiting.length > 0
        )
        child.kill(signal)
        assert.deepStrictEqual([yield* Effect.promise(() => ended), output], [{ code, signal: null }, {
          stdout: "",
          stderr: `{"error":{"message":"interrupted: what it had not done yet is not done"}}\n`
        }])
        yield* until(
          sql<{ pid: number }>(database, "select pid from pg_locks where locktype = 'advisory' and not granted"),
          (waiting) => waiting.length === 0
        )
      }
    }))
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
