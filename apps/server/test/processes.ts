/**
 * Server processes of a test, over one PostgreSQL server: that of `TEST_DATABASE_URL`, whose user may create databases,
 * or else one from the install.
 */
import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { PostgresStorage } from "@wac/postgres"
import * as Clone from "@wac/testbed/Clone"
import * as DatabaseTemplate from "@wac/testbed/DatabaseTemplate"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as checks from "./checks.ts"
import { createKey, environment, reached, signIn } from "./harness.ts"
import * as programs from "./programs.ts"
import type { Done, Order } from "./steered.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/**
 * A PostgreSQL server from the install with these settings, which can be stopped and started again; removed with the
 * scope.
 */
export const ownPostgresWith = (...settings: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(() => PostgresServer.start(...settings)),
    (server) => Effect.promise(server.remove)
  ).pipe(Effect.map(({ crash, start, stop, url }) => ({
    url,
    stop: Effect.promise(stop),
    crash: Effect.promise(crash),
    start: Effect.promise(start)
  })))

/** One that need not be durable. */
export const ownPostgres = ownPostgresWith("fsync=off")

const seed = DatabaseTemplate.seed((url) =>
  Effect.runPromise(Effect.scoped(Layer.build(PostgresStorage.layerServer({ url: Redacted.make(url) }))))
)

/** The server that the tests of this process share. Its end is that of the process. */
let shared: Promise<PostgresServer.PostgresServer> | undefined

/** The URL of a PostgreSQL server where databases can be made, and which other tests use. */
export const postgres: Effect.Effect<string> = Effect.promise(async () =>
  process.env["TEST_DATABASE_URL"] ??
    (await (shared ??= PostgresServer.startWith({ seed }, "fsync=off"))).url
)

/** One statement on a connection of its own. */
export const sql = <Row extends object>(url: string, statement: string): Effect.Effect<ReadonlyArray<Row>> =>
  Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Row>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.orDie
  )

const created = (server: string, create: typeof DatabaseTemplate.create): Effect.Effect<string, never, Scope.Scope> => {
  const name = `wac_server_${randomBytes(6).toString("hex")}`
  return Effect.as(
    Effect.acquireRelease(
      Effect.promise(() => create(server, name)),
      () => Effect.promise(() => DatabaseTemplate.remove(server, name))
    ),
    DatabaseTemplate.at(server, name)
  )
}

/** A database with our schema on the server, for as long as the scope is open. */
export const freshDatabase = (server: string) => created(server, DatabaseTemplate.create)

/** An empty database on the server, for as long as the scope is open. */
export const emptyDatabase = (server: string) => created(server, DatabaseTemplate.createEmpty)

/** A database with our schema, and the way to it by a proxy that can stop a statement wherever a test says. */
export const proxied = Effect.gen(function*() {
  const database = yield* Effect.flatMap(postgres, freshDatabase)
  const proxy = yield* Effect.acquireRelease(
    Effect.promise(() => PostgresProxy.start(database)),
    (proxy) => Effect.sync(proxy.close)
  )
  return { database, proxy }
})

export const masterKey = () => randomBytes(32).toString("base64")

/** A server process: what it has written, and how it ends. */
export interface Running {
  readonly child: ChildProcess
  readonly output: { readonly stdout: string; readonly stderr: string }
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

/** A bundled program, or the command line of another version in a folder of its own. */
export type Main = programs.Name | { readonly source: string }

/** Whether a program is an operator's command line. Others take orders from the test. */
const isCommandLine = (main: Main): boolean => typeof main !== "string" || main === "wac"

/** Starts a process, by default the server, with nothing of this process's own environment but what it needs. */
export const launch = (
  env: Record<string, string>,
  main: Main = "wac",
  args: ReadonlyArray<string> = isCommandLine(main) ? ["start"] : []
): Effect.Effect<Running, never, Scope.Scope> => Effect.flatMap(reached(env), (env) => spawned(env, main, args))

const spawned = (
  env: Readonly<Record<string, string>>,
  main: Main,
  args: ReadonlyArray<string>
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const program = typeof main === "string" ? [await programs.path(main)] : ["--conditions=source", main.source]
      const child = spawn(process.execPath, [...program, ...args], {
        cwd: root,
        env: {
          PATH: process.env["PATH"]!,
          ...(typeof main === "string" ? { NODE_COMPILE_CACHE: await programs.compiled() } : {}),
          ...environment,
          ...checks.unlimited,
          LOG_LEVEL: "info",
          ...env
        },
        stdio: ["ignore", "pipe", "pipe", ...(isCommandLine(main) ? [] : ["ipc" as const])]
      })
      const output = { stdout: "", stderr: "" }
      child.stdout!.setEncoding("utf8").on("data", (text: string) => output.stdout += text)
      child.stderr!.setEncoding("utf8").on("data", (text: string) => output.stderr += text)
      const ended: Running["ended"] = new Promise((resolve) =>
        child.on("close", (code, signal) => resolve({ code, signal }))
      )
      return { child, output, ended }
    }),
    ({ child, ended }) =>
      Effect.promise(() => {
        if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
        return ended
      })
  )

/** A process that listens. */
export interface Listening extends Running {
  readonly url: string
}

/** Waits until a process listens. */
export const listening = (running: Running): Effect.Effect<Listening> =>
  Effect.promise(() =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(running.output.stdout)
        if (found !== null) resolve({ ...running, url: found[1]! })
      }
      running.child.stdout!.on("data", look)
      void running.ended.then((end) => reject(new Error(`ended: ${JSON.stringify([end, running.output])}`)))
      look()
    })
  )

/** Starts the service, by default of this version, and waits until it listens. */
export const start = (
  env: Record<string, string>,
  main?: Main
): Effect.Effect<Listening, never, Scope.Scope> => Effect.flatMap(launch(env, main), listening)

/** The previous version, which `packaging/previous-version` names. */
export const previousVersion: Effect.Effect<Main, never, Scope.Scope> = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "wac-previous-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const commit = yield* Effect.promise(() => readFile(join(root, "packaging/previous-version"), "utf8"))
  yield* Effect.promise(() => Clone.copyCommit(root, commit.trim(), folder, "apps/server"))
  return { source: join(folder, "apps/server/src/wac.ts") }
})

/** A process whose provider and clock are the test's. */
export interface Steered extends Listening {
  readonly order: (order: Order) => Effect.Effect<void>
}

/** Starts the service with the provider at `upstream`, and its clock so many milliseconds ahead. */
export const startSteered = Effect.fnUntraced(
  function*(
    env: Record<string, string>,
    upstream: string,
    ahead = 0
  ): Effect.fn.Return<Steered, never, Scope.Scope> {
    const started = yield* Effect.flatMap(
      launch({ ...env, TEST_UPSTREAM: upstream, TEST_AHEAD: String(ahead) }, "steered"),
      listening
    )
    const { child, ended, output } = started
    let orders = 0
    const order = (order: Order) =>
      Effect.promise(() =>
        new Promise<void>((resolve, reject) => {
          const number = ++orders
          const look = (done: Done) => {
            if (done.number !== number) return
            child.off("message", look)
            if (done.failure === undefined) resolve()
            else reject(new Error(`${order._tag} failed: ${done.failure}`))
          }
          child.on("message", look).send({ number, order })
          void ended.then((end) => reject(new Error(`ended before ${order._tag}: ${JSON.stringify([end, output])}`)))
        })
      )
    return { ...started, order }
  }
)

/** As a crash does: nothing is finished. */
export const kill = ({ child, ended }: Running): Effect.Effect<void> =>
  Effect.promise(async () => {
    child.kill("SIGKILL")
    assert.deepStrictEqual(await ended, { code: null, signal: "SIGKILL" })
  })

/** As an operator does: it exits with 0. */
export const stop = ({ child, ended }: Running): Effect.Effect<void> =>
  Effect.promise(async () => {
    child.kill("SIGTERM")
    assert.deepStrictEqual(await ended, { code: 0, signal: null })
  })

/** Signs the owner in, and creates a key. */
export const signedIn = Effect.fnUntraced(function*({ url }: Listening) {
  const session = yield* signIn(url)
  return { session, key: yield* createKey(url, session) }
})

export const withKey = (value: string) => ({ "idempotency-key": value })

/** Carries out an operator's command line in a process of its own, to its end. */
export const carryOut = (env: Record<string, string>, ...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const { ended, output } = yield* launch(env, "wac", args)
    const { code } = yield* Effect.promise(() => ended)
    return { code, ...output }
  }))
