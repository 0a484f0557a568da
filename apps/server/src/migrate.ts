/**
 * `npm run migrate`: migrates the schema of `DATABASE_URL` to this version's, and exits with 0. If it cannot, because
 * the schema is newer or the database unreachable, it prints one line and exits with 1.
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
      ? `the database already has schema version ${after}: nothing to do`
      : `migrated the database from schema version ${before} to ${after}`
  ))

NodeRuntime.runMain(Effect.scoped(main), { disableErrorReporting: true, teardown })
