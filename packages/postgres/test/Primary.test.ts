/**
 * Several hosts in one URL: the one that accepts writes is used, and after it its successor.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { afterAll, beforeAll } from "vitest"
import { Database } from "../src/Database.ts"
import * as PostgresClient from "../src/PostgresClient.ts"

/** Two independent servers. Each one's own setting decides whether it is the primary. */
let servers: ReadonlyArray<PostgresServer.PostgresServer>
let proxies: ReadonlyArray<PostgresProxy.PostgresProxy>
beforeAll(async () => {
  servers = await Promise.all([1, 2].map(() => PostgresServer.start("fsync=off", "max_connections=30")))
  for (const { url } of servers) await Effect.runPromise(run(url, "create table written (n int)"))
  proxies = await Promise.all(servers.map(({ url }) => PostgresProxy.start(url)))
})
afterAll(async () => {
  for (const proxy of proxies) proxy.close()
  for (const server of servers) await server.remove()
})

const run = (url: string, statement: string) =>
  Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Record<string, unknown>>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.orDie
  )

/** Makes a server accept or refuse writes, in existing sessions too. */
const setWritable = Effect.fnUntraced(function*(server: number, isWritable: boolean) {
  const { url } = servers[server]!
  yield* run(url, `alter system set default_transaction_read_only = ${isWritable ? "off" : "on"}`)
  yield* run(url, "select pg_reload_conf()")
  const answer = isWritable ? "off" : "on"
  yield* Effect.repeat(run(url, "show transaction_read_only"), {
    until: ([row]) => row?.["transaction_read_only"] === answer
  })
})

/** A URL with both servers, through their proxies. */
const both = () => {
  const [first, second] = proxies.map(({ url }) => new URL(url))
  return Redacted.make(first!.href.replace(first!.host, `${first!.host},${second!.host}`))
}

const database = Layer.unwrap(
  Effect.sync(() => Database.layer.pipe(Layer.provide(PostgresClient.layer({ url: both() }))))
)

const portOf = (server: number) => Number(new URL(servers[server]!.url).port)

/** The port of the server that accepted a write. */
const written = Effect.flatMap(
  Database,
  ({ query }) =>
    query("Test.write", { text: "insert into written values (1) returning current_setting('port')::int as port" })
).pipe(
  Effect.map(([row]) => row!["port"] as number)
)

/** Retries a write, like an application, until this server accepts it. */
const untilWritten = (server: number) =>
  written.pipe(
    Effect.exit,
    Effect.repeat({
      until: (exit) => exit._tag === "Success" && exit.value === portOf(server),
      schedule: Schedule.spaced("50 millis")
    })
  )

describe("a URL with several hosts", () => {
  it.live("the host that accepts writes is used, whichever it is, and the next one when that changes", () =>
    Effect.gen(function*() {
      yield* setWritable(0, false)
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* written, portOf(1))
        // reversed, without any connection breaking
        yield* setWritable(1, false)
        yield* setWritable(0, true)
        yield* untilWritten(0)
        yield* Effect.replicateEffect(Effect.map(written, (port) => assert.strictEqual(port, portOf(0))), 20, {
          concurrency: "unbounded"
        })
      }).pipe(Effect.provide(database))
      yield* setWritable(1, true)
    }))

  it.live("a host that turns silent is abandoned with its connections", () =>
    Effect.gen(function*() {
      yield* untilWritten(0)
      proxies[0]!.freeze()
      yield* setWritable(1, true)
      yield* untilWritten(1)
      proxies[0]!.thaw()
    }).pipe(Effect.provide(Layer.unwrap(Effect.as(setWritable(1, false), database)))))

  it.live("if no host accepts writes, the error says so", () =>
    Effect.gen(function*() {
      yield* Effect.forEach([0, 1], (server) => setWritable(server, false))
      const error = yield* Effect.flip(Layer.build(database))
      yield* Effect.forEach([0, 1], (server) => setWritable(server, true))
      assert.strictEqual(error.message, "cannot use PostgreSQL: no host can be written to")
    }).pipe(Effect.scoped))
})
