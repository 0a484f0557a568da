/**
 * Databases for tests: every build of a layer creates its own.
 */
import { PgClient } from "@effect/sql-pg"
import { Fixture } from "@wac/testkit"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { Database } from "../src/Database.ts"
import * as Migrations from "../src/Migrations.ts"
import type { Notifications } from "../src/Notifications.ts"
import type { OpenError } from "../src/OpenError.ts"
import * as PgliteClient from "../src/PgliteClient.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import type { Sessions } from "../src/Sessions.ts"

/** Creates an empty database on the server for as long as the scope is open. Returns its URL. */
export const freshDatabase = (
  server: string = inject("postgresUrl"),
  encoding: "UTF8" | "LATIN1" = "UTF8"
): Effect.Effect<Redacted.Redacted, never, Scope.Scope> => {
  const name = `wac_test_${randomBytes(6).toString("hex")}`
  const run = (statement: string) =>
    Effect.flatMap(PgClient.PgClient, (client) => client.unsafe(statement)).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(server), maxConnections: 1 })),
      Effect.orDie
    )
  const url = new URL(server)
  url.pathname = `/${name}`
  return Effect.as(
    Effect.acquireRelease(
      run(
        `create database ${name} template template0 encoding '${encoding}' ` +
          (encoding === "UTF8" ? "" : "lc_collate 'C' lc_ctype 'C'")
      ),
      () => run(`drop database if exists ${name} with (force)`)
    ),
    Redacted.make(url.href)
  )
}

/** Clients with an empty database each, by the name of their storage. */
export const clients: ReadonlyArray<{
  readonly name: string
  readonly layer: Layer.Layer<PgClient.PgClient | Sessions | Notifications, OpenError>
}> = [
  {
    name: "PostgreSQL",
    layer: Layer.unwrap(
      Effect.map(freshDatabase(), (url) => Layer.orDie(PostgresClient.layer({ url })))
    )
  },
  { name: "PGlite", layer: PgliteClient.layer() }
]

/** Databases with the schema and no rows. */
export const databases: ReadonlyArray<{
  readonly name: string
  readonly layer: Layer.Layer<Database | PgClient.PgClient, OpenError>
}> = clients.map(({ layer, name }) => ({
  name,
  layer: Layer.merge(Database.layer, Layer.effectDiscard(Migrations.run())).pipe(
    Layer.provideMerge(Layer.merge(layer, Fixture.timeOfAsker))
  )
}))
