/**
 * A database with the schema of this version, and nothing else, from which tests copy theirs: migrations run once, not
 * once per database.
 */
import type * as PostgresServer from "@wac/testbed/PostgresServer"
import { Effect, Layer, Redacted } from "effect"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import pg from "pg"

/** Its name on a server that has the {@link seed}. */
const template = "wac_migrated"

const migrations = ["../src/Migrations.ts", "../src/migrations/"].flatMap((path) => {
  const at = fileURLToPath(new URL(path, import.meta.url))
  return path.endsWith("/") ? readdirSync(at).toSorted().map((file) => `${at}${file}`) : [at]
})

/** The database of a URL's server with this name. */
export const at = (server: string, name: string): string => {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

const asked = async (server: string, ...statements: ReadonlyArray<string>): Promise<void> => {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Has a new server begin with the database. */
export const seed: PostgresServer.Seed = {
  name: `schema-${
    migrations.reduce((hash, file) => hash.update(readFileSync(file)), createHash("sha256")).digest("hex").slice(0, 16)
  }`,
  fill: async (server) => {
    await asked(server, `create database ${template} template template0 encoding 'UTF8'`)
    const PostgresStorage = await import("../src/PostgresStorage.ts")
    const storage = PostgresStorage.layerServer({ url: Redacted.make(at(server, template)) })
    await Effect.runPromise(Effect.scoped(Layer.build(storage)))
    await asked(server, `alter database ${template} with is_template true allow_connections false`)
  }
}

/** What PostgreSQL says if there is no such database to copy. */
const unknownDatabase = "3D000"

/** Creates a database with the schema of this version; an empty one if the server does not have the {@link seed}. */
export const create = async (server: string, name: string): Promise<void> => {
  try {
    await asked(server, `create database ${name} template ${template}`)
  } catch (error) {
    if ((error as { readonly code?: string }).code !== unknownDatabase) throw error
    await createEmpty(server, name)
  }
}

/** Creates an empty database. */
export const createEmpty = (server: string, name: string, options = "encoding 'UTF8'"): Promise<void> =>
  asked(server, `create database ${name} template template0 ${options}`)

/** Removes a database, whoever is connected to it. */
export const remove = (server: string, name: string): Promise<void> =>
  asked(server, `drop database if exists ${name} with (force)`)
