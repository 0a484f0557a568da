/**
 * The storages of an instance, as options.
 */
import type { Ports } from "@wac/core"
import * as HostPool from "@wac/postgres/HostPool"
import * as SchemaName from "@wac/postgres/SchemaName"
import * as ServerUrl from "@wac/postgres/ServerUrl"
import { type Layer, Redacted, Result } from "effect"
import type * as Composition from "./Composition.ts"
import * as KnownOptions from "./KnownOptions.ts"
import * as LayerOption from "./LayerOption.ts"
import * as OptionValue from "./OptionValue.ts"
import { badOption } from "./WacError.ts"

/** Everything is lost with the process. For tests and for trying things out. */
export interface MemoryStorage {
  readonly type: "memory"
}

/** A PostgreSQL server, 15 or later, which any number of processes may share. */
export interface PostgresStorage {
  readonly type: "postgres"
  /** `postgres://user:password@host:port/database?sslmode=…`. Of several hosts, the one that accepts writes is used. */
  readonly url: string
  /** If `url` leads to a pooler: a URL to PostgreSQL itself, for notifications and migrations. */
  readonly listenUrl?: string
  /** The maximum number of this process's connections, in addition to one for notifications. Defaults to 10. */
  readonly maxConnections?: number
  /** Whether to bring the schema up to date at start (the default). If false, opening fails unless it is up to date. */
  readonly migrate?: boolean
  /**
   * The schema that holds everything of wac. It is created if it does not exist. Defaults to `wac`, or to `public` if
   * an earlier version made the tables there. Instances with different schemas share a database.
   */
  readonly schema?: string
}

/** A PostgreSQL server, 15 or later, over your own pool of connections, which stays open. */
export interface PooledStorage {
  readonly type: "postgres"
  /**
   * Your `Pool` of the package `pg`, with a `max` of 3 or more, of which one connection is always left to you. Its type
   * parsers and the settings of its sessions make no difference, and its connections are given back as they were.
   */
  readonly pool: { readonly options: object; readonly connect: () => Promise<object> }
  /**
   * Whether one more connection, made from the pool's options, listens for what other processes do (the default). If
   * false, polling notices it within two seconds.
   */
  readonly listen?: boolean
  /** As in {@link PostgresStorage}. */
  readonly migrate?: boolean
  /** As in {@link PostgresStorage}. */
  readonly schema?: string
}

/** PostgreSQL in this process, durable in a directory that no other process may use meanwhile. */
export interface PgliteStorage {
  readonly type: "pglite"
  readonly directory: string
  /** As in {@link PostgresStorage}. */
  readonly schema?: string
}

/**
 * A storage of your own or of another package. Create it with `Adapter.storage` of `@wac/effect`, and give it to
 * `createWac` of `@wac/effect/promises`; `createWac` of `wac` refuses it.
 */
export interface LayerStorage extends LayerOption.LayerOption {}

/** {@link memory}, {@link postgres}, {@link pglite}, or a storage of your own. */
export type Storage = MemoryStorage | PostgresStorage | PooledStorage | PgliteStorage | LayerStorage

/** Stores everything in memory; nothing survives the process. */
export const memory = (): MemoryStorage => ({ type: "memory" })

/**
 * Stores everything in a PostgreSQL server, given by a URL or by your own pool. Requires `masterKey`, since every
 * process must have the same one. The schema is brought up to date at start, unless `migrate` is false.
 */
export const postgres: {
  (options: string | Omit<PostgresStorage, "type">): PostgresStorage
  (options: Omit<PooledStorage, "type">): PooledStorage
} = (options: string | object): never =>
  ({ type: "postgres", ...(typeof options === "string" ? { url: options } : options) }) as never

/**
 * Stores everything in a PostgreSQL that runs in this process, in this directory, which is created if needed. Unless
 * `masterKey` is given, a key is created on first run and kept beside the data, readable only by its owner.
 */
export const pglite = (directory: string, options: Pick<PgliteStorage, "schema"> = {}): PgliteStorage => ({
  type: "pglite",
  directory,
  ...options
})

const serverUrl = (name: string, url: unknown): Redacted.Redacted => {
  const parsed = typeof url === "string" ? ServerUrl.parse(url) : Result.fail("it is not a string")
  if (Result.isSuccess(parsed)) return Redacted.make(url as string)
  throw badOption(name, `${name} must have the form postgres://user:password@host:port/database: ${parsed.failure}`)
}

const schemaOf = (schema: unknown): { readonly schema?: string } => {
  if (schema === undefined) return {}
  const wrong = typeof schema === "string" ? SchemaName.wrongName(schema) : "must be a string"
  if (wrong !== undefined) throw badOption("storage.schema", `storage.schema ${wrong}`)
  return { schema: schema as string }
}

/** The names of all options in a union of kinds. */
type KeyOf<Kind> = Kind extends unknown ? keyof Kind : never

/** The options that only a URL has. */
const onlyWithUrl = ["url", "listenUrl", "maxConnections"] as const

const pooled = (storage: PooledStorage): Composition.PooledStorage => {
  const { listen, migrate, pool, schema } = storage
  for (const name of onlyWithUrl) {
    if ((storage as Partial<PostgresStorage>)[name] !== undefined) {
      throw badOption(`storage.${name}`, `storage.${name} cannot be given with storage.pool, which has its own`)
    }
  }
  const wrong = HostPool.wrongPool(pool)
  if (wrong !== undefined) throw badOption("storage.pool", `storage.pool ${wrong}`)
  OptionValue.checkBoolean("storage.listen", listen)
  return {
    _tag: "Pooled",
    pool,
    ...(listen === undefined ? {} : { listen }),
    ...(migrate === undefined ? {} : { migrate }),
    ...schemaOf(schema)
  }
}

const isPooled = (storage: PostgresStorage | PooledStorage): storage is PooledStorage =>
  "pool" in storage && storage.pool !== undefined

/** The options of each kind of storage. */
const names: {
  readonly [Type in Storage["type"]]: Record<KeyOf<Extract<Storage, { readonly type: Type }>>, true>
} = {
  memory: { type: true },
  postgres: {
    type: true,
    url: true,
    listenUrl: true,
    maxConnections: true,
    pool: true,
    listen: true,
    migrate: true,
    schema: true
  },
  pglite: { type: true, directory: true, schema: true },
  layer: { type: true, layer: true }
}

/** Builds the composition's storage. Throws on an invalid option. */
export const composed = (storage: Storage): Composition.Storage<unknown> => {
  if (Object.hasOwn(names, storage?.type)) KnownOptions.check(storage, names[storage.type], "storage.")
  switch (storage?.type) {
    case "memory":
      return { _tag: "Memory" }
    case "pglite":
      if (typeof storage.directory !== "string" || storage.directory === "") {
        throw badOption("storage.directory", "storage.directory must name a directory")
      }
      return { _tag: "Embedded", directory: storage.directory, ...schemaOf(storage.schema) }
    case "postgres": {
      OptionValue.checkBoolean("storage.migrate", storage.migrate)
      if (isPooled(storage)) return pooled(storage)
      if ("listen" in storage && storage.listen !== undefined) {
        throw badOption("storage.listen", "storage.listen needs storage.pool")
      }
      const { listenUrl, maxConnections, migrate, schema, url } = storage
      OptionValue.checkCount("storage.maxConnections", maxConnections)
      return {
        _tag: "Server",
        url: serverUrl("storage.url", url),
        ...(listenUrl === undefined ? {} : { listenUrl: serverUrl("storage.listenUrl", listenUrl) }),
        ...(maxConnections === undefined ? {} : { maxConnections }),
        ...(migrate === undefined ? {} : { migrate }),
        ...schemaOf(schema)
      }
    }
    case "layer":
      return LayerOption.layerOf(storage, "storage") as Layer.Layer<Ports.Ports, unknown>
    default:
      throw badOption(
        "storage",
        "storage must be memory(), postgres(url) or pglite(directory), or Adapter.storage(layer) of @wac/effect"
      )
  }
}
