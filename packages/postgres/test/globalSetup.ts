/**
 * The PostgreSQL servers of a run. All test files share one: the server of `TEST_DATABASE_URL`, whose user may create
 * databases, or one from the install. The conformance suite also runs on each of `TEST_POSTGRES_BIN`, directories of
 * PostgreSQL binaries on this machine, separated by `:`.
 */
import { PgClient } from "@effect/sql-pg"
import * as DatabaseTemplate from "@wac/testbed/DatabaseTemplate"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { Effect, Layer, Redacted } from "effect"
import type { TestProject } from "vitest/node"
import * as PostgresStorage from "../src/PostgresStorage.ts"

/** A server, and its name in test titles. */
interface NamedServer {
  readonly name: string
  readonly url: string
}

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
    /** The servers on which the whole storage is tested. */
    readonly postgresServers: ReadonlyArray<NamedServer>
  }
}

const seed = DatabaseTemplate.seed((url) =>
  Effect.runPromise(Effect.scoped(Layer.build(PostgresStorage.layerServer({ url: Redacted.make(url) }))))
)

const settings = ["fsync=off", "max_connections=300"]

const named = (url: string): Promise<NamedServer> =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, (client) => client<{ server_version: string }>`show server_version`).pipe(
      Effect.map(([row]) => ({ name: `PostgreSQL ${row!.server_version.split(" ")[0]}`, url })),
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
    )
  )

const started: Array<{ readonly url: string; readonly remove: () => Promise<void> }> = []

export const setup = async ({ provide }: TestProject): Promise<void> => {
  const given = process.env["TEST_DATABASE_URL"]
  if (given === undefined) started.push(await PostgresServer.startWith({ seed }, ...settings))
  for (const bin of (process.env["TEST_POSTGRES_BIN"] ?? "").split(":")) {
    if (bin !== "") started.push(await PostgresServer.startWith({ bin, seed }, ...settings))
  }
  const urls = [...given === undefined ? [] : [given], ...started.map(({ url }) => url)]
  const servers = await Promise.all(urls.map(named))
  process.stdout.write(`storage is tested on ${servers.map(({ name }) => name).join(", ")} and PGlite\n`)
  provide("postgresUrl", urls[0]!)
  provide("postgresServers", servers)
}

export const teardown = async (): Promise<void> => {
  for (const { remove } of started) await remove()
}
