/**
 * `npm run migrate`: brings the schema of `DATABASE_URL` to the version that this wac needs, and ends. 0 when it has
 * it, 1 with one line when it cannot: a newer schema, a database out of reach.
 */
import { NodeRuntime } from "@effect/platform-node"
import { PostgresStorage } from "@wac/postgres"
import { Console, Effect } from "effect"
import { BadVariable, storageFromEnvironment } from "./ServerConfig.ts"
import { teardown } from "./Teardown.ts"

const migrate = Effect.gen(function*() {
  const storage = yield* storageFromEnvironment(process.env)
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

const main = Effect.flatMap(migrate, ({ after, before }) =>
  Console.log(
    before === after
      ? `the database has schema version ${after} already: nothing to do`
      : `migrated the database from schema version ${before} to ${after}`
  ))

NodeRuntime.runMain(Effect.scoped(main), { disableErrorReporting: true, teardown })
