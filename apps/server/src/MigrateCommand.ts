/**
 * The command `migrate`: brings the schema of `DATABASE_URL` to this version. Fails if the schema is newer or the
 * database unreachable.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"
import { storageFromEnvironment } from "./ServerConfig.ts"
import { BadVariable } from "./VariableText.ts"

/** Loaded only here, so that a server in memory loads neither PostgreSQL's client nor PGlite. */
const postgres = Effect.promise(() => import("@wac/postgres"))

const migrated = Effect.gen(function*() {
  const { PostgresStorage } = yield* postgres
  const storage = yield* storageFromEnvironment(yield* OperatorCommand.Variables)
  switch (storage._tag) {
    case "Memory":
      return yield* new BadVariable({
        variable: "DATABASE_URL",
        expected: "postgres://… or pglite:DIRECTORY; memory has no schema"
      })
    case "Embedded":
      return yield* PostgresStorage.migrateEmbedded(storage)
    case "Server":
      return yield* PostgresStorage.migrateServer(storage)
  }
})

export const migrate = Command.make(
  "migrate",
  {},
  Effect.fnUntraced(function*() {
    const { after, before } = yield* Effect.scoped(migrated)
    yield* OperatorCommand.printed(
      { before, after },
      before === after
        ? `the database already has schema version ${after}: nothing to do`
        : `migrated the database from schema version ${before} to ${after}`
    )
  })
).pipe(Command.withDescription("Bring the schema of DATABASE_URL up to date, which start does too"))
