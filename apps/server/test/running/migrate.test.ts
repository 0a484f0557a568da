/**
 * `wac migrate`, as a process.
 */
import { assert, it } from "@effect/vitest"
import { Migrations } from "@wac/postgres"
import { Effect } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { carryOut, emptyDatabase, postgres, sql } from "../processes.ts"

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
