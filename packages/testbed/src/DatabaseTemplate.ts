/**
 * An empty database with our schema, from which tests create theirs as copies: migrations run once, not once per
 * database.
 */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import pg from "pg"
import type * as PostgresServer from "./PostgresServer.ts"

/** The name of this database on a server that has the {@link seed}. */
const template = "wac_migrated"

const sources = fileURLToPath(new URL("../../postgres/src/", import.meta.url))

/** A hash of the files that define the schema. A change of them makes a new template. */
const schemaHash = (): string => {
  const files = [
    "IndexBuild.ts",
    "Migrations.ts",
    "Schema.ts",
    "SchemaSearch.ts",
    ...readdirSync(`${sources}migrations`).toSorted().map((file) => `migrations/${file}`)
  ]
  return files.reduce((hash, file) => hash.update(readFileSync(sources + file)), createHash("sha256")).digest("hex")
}

/** The URL of the database with this name on a URL's server. */
export const at = (server: string, name: string): string => {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** With these, a server that does not respond causes an error instead of a test that never ends. */
const deadlines = { connectionTimeoutMillis: 120_000, statement_timeout: 240_000 }

const asked = async (server: string, ...statements: ReadonlyArray<string>): Promise<void> => {
  const client = new pg.Client({ connectionString: server, ...deadlines })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** A seed with which a new server begins with this database. `migrate` gets the database's URL and makes the schema. */
export const seed = (migrate: (url: string) => Promise<unknown>): PostgresServer.Seed => ({
  name: `schema-${schemaHash().slice(0, 16)}`,
  fill: async (server) => {
    await asked(server, `create database ${template} template template0 encoding 'UTF8'`)
    await migrate(at(server, template))
    await asked(server, `alter database ${template} with is_template true allow_connections false`)
  }
})

/** PostgreSQL's error code if the database to copy does not exist. */
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

/** Removes a database, even if clients are connected to it. */
export const remove = (server: string, name: string): Promise<void> =>
  asked(server, `drop database if exists ${name} with (force)`)
