/**
 * Databases for tests: every build of a layer creates its own.
 */
import { PgClient } from "@effect/sql-pg"
import type { Ports } from "@wac/core"
import * as DatabaseTemplate from "@wac/testbed/DatabaseTemplate"
import * as Extent from "@wac/testbed/Extent"
import * as PgBouncer from "@wac/testbed/PgBouncer"
import { Fixture } from "@wac/testkit"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import pg from "pg"
import { inject } from "vitest"
import { Database } from "../src/Database.ts"
import * as Migrations from "../src/Migrations.ts"
import type { Notifications } from "../src/Notifications.ts"
import type { OpenError } from "../src/OpenError.ts"
import * as PgliteClient from "../src/PgliteClient.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import * as PostgresStorage from "../src/PostgresStorage.ts"
import type { Schema } from "../src/Schema.ts"
import type { Sessions } from "../src/Sessions.ts"
import type { Unlimited } from "../src/TimeLimits.ts"

const created = (server: string, create: (name: string) => Promise<void>) => {
  const name = `wac_test_${randomBytes(6).toString("hex")}`
  return Effect.as(
    Effect.acquireRelease(
      Effect.promise(() => create(name)),
      () => Effect.promise(() => DatabaseTemplate.remove(server, name))
    ),
    Redacted.make(DatabaseTemplate.at(server, name))
  )
}

/** Creates a database with our schema on the server for as long as the scope is open. Returns its URL. */
export const freshDatabase = (
  server: string = inject("postgresUrl")
): Effect.Effect<Redacted.Redacted, never, Scope.Scope> =>
  created(server, (name) => DatabaseTemplate.create(server, name))

/** Creates an empty database on the server for as long as the scope is open. Returns its URL. */
export const emptyDatabase = (
  server: string = inject("postgresUrl"),
  encoding: "UTF8" | "LATIN1" = "UTF8"
): Effect.Effect<Redacted.Redacted, never, Scope.Scope> =>
  created(server, (name) =>
    DatabaseTemplate.createEmpty(
      server,
      name,
      `encoding '${encoding}'${encoding === "UTF8" ? "" : " lc_collate 'C' lc_ctype 'C'"}`
    ))

/** The database, whose new sessions inherit these settings. Settings that the server does not know are left out. */
export const withSettings = (
  url: Redacted.Redacted,
  settings: Readonly<Record<string, string>>
): Effect.Effect<Redacted.Redacted> =>
  PgClient.PgClient.use((client) =>
    Effect.forEach(Object.entries(settings), ([name, value]) =>
      client.unsafe(`do $$ begin
        if current_setting('${name}', true) is not null then
          execute format('alter database %I set ${name} = %L', current_database(), '${value}');
        end if;
      end $$`), { discard: true })
  ).pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1 })),
    Effect.orDie,
    Effect.as(url)
  )

/** How a client reaches a database through a pooler of its own. */
export const pooled = (
  direct: Redacted.Redacted,
  mode?: "session" | "transaction"
): Effect.Effect<
  { readonly url: Redacted.Redacted; readonly listenUrl: Redacted.Redacted },
  never,
  Scope.Scope
> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => PgBouncer.start(Redacted.value(direct), mode)),
      (pooler) => Effect.promise(pooler.stop)
    ),
    (pooler) => ({ url: Redacted.make(pooler.url), listenUrl: direct })
  )

/** A host's own pool of connections to a database, closed with the scope. */
export const hostPool = (
  url: Redacted.Redacted,
  options: pg.PoolConfig = {}
): Effect.Effect<pg.Pool, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new pg.Pool({ connectionString: Redacted.value(url), max: 6, ...options })
      // its idle connections end with the database
      pool.on("error", () => undefined)
      return pool
    }),
    (pool) => Effect.promise(() => pool.end())
  )

/** A way for clients to reach a database. */
type Way = (
  direct: Redacted.Redacted
) => Effect.Effect<Pick<PostgresClient.Options, "listenUrl" | "url">, never, Scope.Scope>

const straight: Way = (url) => Effect.succeed({ url })

/** How clients reach a database in this run: directly, or with `TEST_POOLER=pgbouncer` through a pooler. */
const reached: Way = PgBouncer.isEverywhere ? pooled : straight

/** The storage in a database, as a process of this run reaches it. */
export const storageIn = (
  direct: Redacted.Redacted,
  options: Pick<PostgresClient.Options, "maxConnections" | "schema"> = {}
): Layer.Layer<Ports.Ports, OpenError> =>
  Layer.unwrap(Effect.map(reached(direct), (to) => PostgresStorage.layerServer({ ...to, ...options })))

/** The storage in a database of its own, and a client of the test's own beside it. */
export const storageAndClient: Layer.Layer<
  Ports.Ports | PgClient.PgClient | Layer.Success<typeof Fixture.layer>,
  OpenError
> = Layer.unwrap(
  Effect.map(freshDatabase(), (url) =>
    Layer.mergeAll(
      Layer.provide(storageIn(url, { maxConnections: 3 }), Fixture.timeOfAsker),
      PostgresClient.layer({ url, maxConnections: 1 }),
      Fixture.layer
    ))
)

interface Clients {
  readonly name: string
  readonly layer: Layer.Layer<PgClient.PgClient | Sessions | Notifications | Schema | Unlimited, OpenError>
}

const clientsBy = (way: Way, made: typeof freshDatabase): ReadonlyArray<Clients> => [
  {
    name: "PostgreSQL",
    layer: Layer.unwrap(
      Effect.map(Effect.flatMap(made(), way), (options) => Layer.orDie(PostgresClient.layer(options)))
    )
  },
  { name: "PGlite", layer: PgliteClient.layer() }
]

/** Clients with an empty database each, by the name of their storage. */
export const clients = clientsBy(reached, emptyDatabase)

interface Databases {
  readonly name: string
  readonly layer: Layer.Layer<Database | PgClient.PgClient | Schema, OpenError>
}

const migrated = (clients: ReadonlyArray<Clients>): ReadonlyArray<Databases> =>
  clients.map(({ layer, name }) => ({
    name,
    layer: Layer.merge(Database.layer, Layer.effectDiscard(Migrations.run())).pipe(
      Layer.provideMerge(Layer.merge(layer, Fixture.timeOfAsker))
    )
  }))

/** Databases with the schema and no rows. */
export const databases = migrated(clientsBy(reached, freshDatabase))

/** PGlite plans as PostgreSQL does, so a short run reads the plans of PostgreSQL alone. */
const planning = (databases: ReadonlyArray<Databases>): ReadonlyArray<Databases> =>
  Extent.of(databases.slice(0, 1), databases)

/** Those whose plans are read. */
export const plannedDatabases = planning(databases)

/** The same, reached directly in every run: for plans that a session keeps, since a pooler's sessions keep none. */
export const planningDatabases = planning(migrated(clientsBy(straight, freshDatabase)))
