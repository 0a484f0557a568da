/**
 * PostgreSQL embedded in the process (PGlite): the same client over an in-process connection. Writes to its directory,
 * if it has one.
 */
import { PgClient } from "@effect/sql-pg"
import type { PGlite, PGliteOptions } from "@electric-sql/pglite"
import { Context, Effect, Layer, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql/SqlError"
import * as fs from "node:fs"
import * as path from "node:path"
import * as DataDirectory from "./DataDirectory.ts"
import * as DirectoryLock from "./DirectoryLock.ts"
import { syncAll } from "./DurableFiles.ts"
import { Notifications, Readers } from "./Notifications.ts"
import { OpenError } from "./OpenError.ts"
import * as Pglite from "./Pglite.ts"
import * as PgliteStream from "./PgliteStream.ts"
import * as PgliteUpkeep from "./PgliteUpkeep.ts"
import * as Schema from "./Schema.ts"
import * as SchemaSearch from "./SchemaSearch.ts"
import { planning, Sessions } from "./Sessions.ts"
import { Unlimited } from "./TimeLimits.ts"

/** The options of {@link layer}. */
export interface Options {
  /** The data directory, which may contain other files. Defaults to memory. */
  readonly directory?: string
  /** As {@link PostgresClient.Options.schema}. */
  readonly schema?: string | undefined
}

const settings = (...given: ReadonlyArray<string>): Array<string> => given.flatMap((setting) => ["-c", setting])

/**
 * Makes PGlite's shared buffers smaller: by default, the process would keep 128 MB. The system caches the same files,
 * and the load of one process is small.
 */
const small = (defaults: ReadonlyArray<string>) => [...defaults, ...settings("shared_buffers=16MB")]

/** {@link small} without `-F`, which turns `fsync` off. */
const durable = (defaults: ReadonlyArray<string>) => [
  ...small(defaults).filter((parameter) => parameter !== "-F"),
  // the only method whose flush goes through `DurableFiles`
  ...settings("wal_sync_method=fsync", "max_wal_size=128MB")
]

/**
 * Opens the database. A new data directory is prepared under another name, so that it is complete or absent. Only one
 * process can have it open. Closing the scope closes the database.
 */
export const layer = (
  options: Options = {}
): Layer.Layer<PgClient.PgClient | Sessions | Notifications | Schema.Schema | Unlimited, OpenError> =>
  Layer.effectContext(
    Effect.gen(function*() {
      const db = options.directory === undefined
        ? yield* inMemory
        : yield* openDirectory(options.directory)
      const readers = new Readers()
      const failed = Effect.mapError(({ message }: SqlError) => new OpenError({ message }))
      // PGlite has one session, so statements wait for one another here
      const config = {
        stream: PgliteStream.make(db, readers),
        username: "postgres",
        database: "postgres",
        maxConnections: 1,
        minConnections: 1
      }
      const client = yield* failed(PgClient.make(config))
      const sessions = yield* failed(Layer.build(Sessions.layer(config, planning)))
      const schema = Context.get(
        yield* Layer.build(Layer.provide(SchemaSearch.layer(options.schema), Layer.succeed(PgClient.PgClient, client))),
        Schema.Schema
      )
      if (options.directory !== undefined) yield* PgliteUpkeep.run(client, schema)
      const listen = (channel: string) =>
        readers.add(
          channel,
          client`listen ${client(channel)}`.pipe(
            Effect.andThen(Effect.sync(() => readers.tell(channel, ""))),
            Effect.ignore
          )
        )
      return Context.make(PgClient.PgClient, client).pipe(
        Context.add(Schema.Schema, schema),
        Context.merge(sessions),
        Context.add(Notifications, Notifications.of({ listen })),
        Context.add(Unlimited, Unlimited.of({ isPooled: false, run: (text) => Effect.asVoid(client.unsafe(text)) }))
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

const opened = (
  { PGlite }: Effect.Success<typeof Pglite.modules>,
  options: PGliteOptions
): Effect.Effect<PGlite, OpenError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => PGlite.create(options),
      catch: (error) =>
        new OpenError({ message: `embedded PostgreSQL does not start: ${DataDirectory.describe(error)}` })
    }),
    (db) => Effect.promise(() => db.close())
  )

const inMemory = Effect.flatMap(
  Pglite.modules,
  (modules) => opened(modules, { startParams: small(modules.PGlite.defaultStartParams) })
)

const openedIn = (modules: Effect.Success<typeof Pglite.modules>, data: string) =>
  opened(modules, { fs: new modules.Files(data), startParams: durable(modules.PGlite.defaultStartParams) })

const openDirectory = Effect.fnUntraced(function*(directory: string) {
  const modules = yield* Pglite.modules
  yield* attempt(directory, () => DataDirectory.make(directory))
  const data = DataDirectory.database(directory)
  const stranger = DataDirectory.strangerOf(data)
  if (stranger !== undefined) {
    return yield* new OpenError({
      message: `the embedded database in ${directory} belongs to another user (id ${stranger}): run as that user`
    })
  }
  yield* Effect.mapError(
    DirectoryLock.hold(path.join(directory, "lock")),
    ({ isInUse, message, problem }) =>
      new OpenError({
        message: `the embedded database in ${directory} ${message}`,
        // while another process uses the database, its disk is all that can be examined
        problem: problem ?? (DataDirectory.isFull(directory) ? "disk_full" : undefined),
        isInUse
      })
  )
  const isNew = !DataDirectory.holdsDatabase(directory)
  yield* attempt(
    directory,
    () => DataDirectory.tryWriting(directory, isNew ? DataDirectory.roomOfNew : DataDirectory.roomOfOld)
  )
  if (isNew) yield* prepare(modules, directory, data)
  return yield* openedIn(modules, data)
})

const prepare = Effect.fnUntraced(function*(
  modules: Effect.Success<typeof Pglite.modules>,
  directory: string,
  data: string
) {
  const draft = `${data}.new`
  yield* attempt(directory, () => fs.rmSync(draft, { recursive: true, force: true }))
  yield* Effect.scoped(openedIn(modules, draft))
  yield* attempt(directory, () => {
    syncAll(draft)
    fs.renameSync(draft, data)
    syncAll(directory)
  })
})

const attempt = (directory: string, step: () => unknown): Effect.Effect<void, OpenError> =>
  Effect.try({
    try: () => void step(),
    catch: (error) =>
      new OpenError({
        message: `cannot keep a database in ${directory}: ${DataDirectory.describe(error)}`,
        problem: DataDirectory.problemOf(error)
      })
  })
