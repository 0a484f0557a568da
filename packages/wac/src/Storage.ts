/**
 * Where an instance keeps everything.
 */
import type { Ports } from "@wac/core"
import * as ServerUrl from "@wac/postgres/ServerUrl"
import { Layer, Redacted, Result } from "effect"
import type * as Composition from "./Composition.ts"
import { badOption } from "./WacError.ts"

/** Everything is lost with the process. For tests, and for trying things out. */
export interface MemoryStorage {
  readonly type: "memory"
}

/** A PostgreSQL server, 15 or later, which any number of processes may share. */
export interface PostgresStorage {
  readonly type: "postgres"
  /** `postgres://user:password@host:port/database?sslmode=…`; of several hosts the one that can be written to is used. */
  readonly url: string
  /** Where `url` leads to a pooler: the way to PostgreSQL itself, for notifications and migrations. */
  readonly listenUrl?: string
  /** How many connections this process opens at most, beside one for notifications; 10 when left out. */
  readonly maxConnections?: number
  /** Whether to bring the schema up to date at start, as is the default; else one that is not is refused. */
  readonly migrate?: boolean
}

/** PostgreSQL in this process, durable in a directory that no other process may use meanwhile. */
export interface PgliteStorage {
  readonly type: "pglite"
  readonly directory: string
}

/** A storage that is not ours: a package's, or your own. `Adapter.storage` of `wac/effect` makes one. */
export interface LayerStorage {
  readonly type: "layer"
  readonly layer: object
}

/** One of {@link memory}, {@link postgres} and {@link pglite}, or a storage that is not ours. */
export type Storage = MemoryStorage | PostgresStorage | PgliteStorage | LayerStorage

/** Keeps everything in memory: nothing survives the process. */
export const memory = (): MemoryStorage => ({ type: "memory" })

/**
 * Keeps everything in a PostgreSQL server. Needs `masterKey`, since every process must have the same one. The schema is
 * brought up to date at start, unless `migrate` is false.
 */
export const postgres = (
  options: string | Omit<PostgresStorage, "type">
): PostgresStorage => ({ type: "postgres", ...(typeof options === "string" ? { url: options } : options) })

/**
 * Keeps everything in a PostgreSQL that runs in this process, in this directory, which is made if need be. Unless
 * `masterKey` is given, one is made on first run and kept there beside the data, readable by its owner alone.
 */
export const pglite = (directory: string): PgliteStorage => ({ type: "pglite", directory })

const serverUrl = (name: string, url: unknown): Redacted.Redacted => {
  const parsed = typeof url === "string" ? ServerUrl.parse(url) : Result.fail("it is no text")
  if (Result.isSuccess(parsed)) return Redacted.make(url as string)
  throw badOption(name, `${name} must have the form postgres://user:password@host:port/database: ${parsed.failure}`)
}

/** What the composition is told. */
export const composed = (storage: Storage): Composition.Storage<unknown> => {
  switch (storage?.type) {
    case "memory":
      return { _tag: "Memory" }
    case "pglite":
      if (typeof storage.directory !== "string" || storage.directory === "") {
        throw badOption("storage.directory", "storage.directory must name a directory")
      }
      return { _tag: "Embedded", directory: storage.directory }
    case "postgres": {
      const { listenUrl, maxConnections, migrate, url } = storage
      return {
        _tag: "Server",
        url: serverUrl("storage.url", url),
        ...(listenUrl === undefined ? {} : { listenUrl: serverUrl("storage.listenUrl", listenUrl) }),
        ...(maxConnections === undefined ? {} : { maxConnections }),
        ...(migrate === undefined ? {} : { migrate })
      }
    }
    case "layer":
      if (!Layer.isLayer(storage.layer)) throw badOption("storage.layer", "storage.layer must be a Layer of Effect 4")
      return storage.layer as Layer.Layer<Ports.Ports, unknown>
    default:
      throw badOption("storage", "storage must be memory(), postgres(url), pglite(directory) or Adapter.storage(layer)")
  }
}
