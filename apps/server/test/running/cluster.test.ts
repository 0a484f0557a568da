/**
 * Two server processes over one database.
 */
import { assert, it, layer } from "@effect/vitest"
import { ApiKeys, DeliveryAttempt } from "@wac/core"
import { Migrations } from "@wac/postgres"
import * as Extent from "@wac/testbed/Extent"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import { RecordingReceiver } from "@wac/testkit"
import { Context, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import * as checks from "../checks.ts"
import { call, createKey, hello, isReplayed, receiver, send, setWebhook } from "../harness.ts"
import {
  emptyDatabase,
  kill,
  launch,
  type Listening,
  masterKey,
  postgres,
  signedIn,
  sql,
  start,
  startSteered,
  withKey
} from "../processes.ts"

let server: string
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  server = await Effect.runPromise(Scope.provide(postgres, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** How often two hundred race. */
const rounds = Extent.of(10, 50)

/** Whom the sandbox answers after 3 s. */
const slow = "+15005550010"

/** What the processes of one cluster have in common. */
const shared = Effect.map(
  Effect.suspend(() => emptyDatabase(server)),
  (database) => ({ DATABASE_URL: database, WAC_MASTER_KEY: masterKey() })
)

/** Two processes that started at the same time over an empty database; the owner is signed in and has a key. */
const cluster = Effect.gen(function*() {
  const env = yield* shared
  const [a, b]: [Listening, Listening] = yield* Effect.all([start(env), start(env)], { concurrency: 2 })
  const { key, session } = yield* signedIn(a)
  return { a, b, env, session, key, database: env.DATABASE_URL }
})

class Cluster
  extends Context.Service<Cluster, Effect.Success<typeof cluster>>()("@wac/server/test/running/cluster.test/Cluster")
{
  static readonly layer = Layer.effect(Cluster, cluster)
}

/** The message that is bound to a key, once there is one. */
const boundTo = (database: string, idempotencyKey: string): Effect.Effect<string> =>
  Effect.map(
    checks.until(
      sql<{ id: string }>(database, `select id from wac.messages where key = '${idempotencyKey}'`),
      (rows) => rows.length === 1
    ),
    (rows) => rows[0]!.id
  )

/**
 * How many rows there are of the message, and how many names the provider gave it: it gives one with every call, and
 * the reports that follow bring the name along even if the answer to the call was lost.
 */
const countsOf = (database: string, messageId: string) =>
  Effect.map(
    sql<{ messages: number; keys: number; names: number }>(
      database,
      `select
        (select count(*)::int from wac.messages where id = '${messageId}') as messages,
        (select count(*)::int from wac.messages where id = '${messageId}' and key is not null) as keys,
        (select count(*)::int from wac.message_names where message_id = '${messageId}') as names`
    ),
    (rows) => ({ ...rows[0]! })
  )

const total = (database: string) =>
  Effect.map(
    sql<{ count: number }>(database, "select count(*)::int as count from wac.messages"),
    (rows) => rows[0]!.count
  )

/** The sessions in which a process listens for notifications. */
const listeners = (database: string) =>
  Effect.map(
    sql<{ pid: number }>(
      database,
      `select pid from pg_stat_activity
      where datname = current_database() and query like 'LISTEN %' order by pid`
    ),
    (rows) => rows.map(({ pid }) => pid)
  )

/** The message of a process that does not start beside the two, which go on. */
const refused = Effect.fnUntraced(function*(env: Record<string, string>) {
  const { a, b } = yield* Cluster
  const running = yield* launch(env)
  const ended = yield* Effect.promise(() => running.ended)
  const { stderr, stdout } = running.output
  assert.deepStrictEqual(ended, { code: 1, signal: null }, stderr)
  assert.notInclude(stdout, "listening")
  for (const { url } of [a, b]) {
    assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
  }
  assert.match(stderr, /^[^\n]+\n$/)
  return JSON.parse(stderr).message
}, Effect.scoped)

layer(Cluster.layer, { excludeTestServices: true })("two processes", (it) => {
  it.effect(
    "200 identical sends, half to each process, make one message and get 200 equal responses",
    () =>
      Effect.gen(function*() {
        const { a, b, database, key } = yield* Cluster
        const before = yield* total(database)
        // the last round is long enough for everybody to join
        const recipients = [...Array.from({ length: rounds }, (_, i) => `+1555400${`${i}`.padStart(4, "0")}`), slow]
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
          assert.deepStrictEqual(yield* countsOf(database, id), { messages: 1, keys: 1, names: 1 })
        }
        assert.strictEqual((yield* total(database)) - before, recipients.length)
      })
  )

  it.effect(
    "a different body with the key of a send in the other process is refused while that runs",
    () =>
      Effect.gen(function*() {
        const { a, b, database, key } = yield* Cluster
        const idempotencyKey = crypto.randomUUID()
        const first = yield* Effect.forkChild(send({ url: a.url, key }, hello(slow), withKey(idempotencyKey)), {
          startImmediately: true
        })
        const id = yield* boundTo(database, idempotencyKey)
        const other = yield* send({ url: b.url, key }, hello("+15554010001"), withKey(idempotencyKey))
        assert.isUndefined(first.pollUnsafe())
        checks.assertError(other, 409, { code: "idempotency_conflict", reason: "payload_mismatch" })

        const sent = yield* Fiber.join(first)
        assert.deepStrictEqual([sent.status, sent.body.message_id, isReplayed(sent)], [200, id, false])
        const again = yield* send({ url: b.url, key }, hello(slow), withKey(idempotencyKey))
        assert.deepStrictEqual([again.status, again.text, isReplayed(again)], [200, sent.text, true])
      })
  )

  it.effect(
    "a key that one process revokes is refused by the other before its cache expires",
    () =>
      Effect.gen(function*() {
        const { a, b, key, session } = yield* Cluster
        const { body: { message_id } } = yield* send({ url: a.url, key }, hello())
        const revocation = Effect.gen(function*() {
          const revoked = yield* createKey(a.url, session)
          const ask = checks.stored({ url: b.url, key: revoked }, message_id)
          const cachedAt = performance.now()
          assert.strictEqual((yield* ask).status, 200)
          yield* call(`${a.url}/internal/api-keys/${revoked.id}`, { method: "DELETE", headers: session })
          const answer = yield* Effect.repeat(ask, { until: ({ status }) => status !== 200 })
          checks.assertError(answer, 401, { code: "unauthorized", reason: "revoked_key" })
          return performance.now() - cachedAt
        })
        yield* checks.assertBelow(Duration.toMillis(ApiKeys.cacheFor), revocation)
      })
  )

  it.effect(
    "without notifications, a key that the other process revoked is refused within 2 s, and its sends immediately",
    () =>
      Effect.gen(function*() {
        const { a, database, env, key, session } = yield* Cluster
        const others = yield* checks.until(listeners(database), ({ length }) => length === 2)
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => PostgresProxy.start(database)),
          (proxy) => Effect.sync(proxy.close)
        )
        // all its channels share the connection, which carries nothing from then on
        const held = proxy.stopAt("LISTEN ", "sent")
        const deaf = yield* start({ ...env, DATABASE_URL: proxy.url })
        yield* Effect.promise(() => held)
        const { body: { message_id } } = yield* send({ url: a.url, key }, hello())
        const revoked = yield* createKey(a.url, session)
        const watching = { url: deaf.url, key: revoked }
        assert.deepStrictEqual(yield* listeners(database), others)
        assert.strictEqual((yield* checks.stored(watching, message_id)).status, 200)
        const { status } = yield* call(`${a.url}/internal/api-keys/${revoked.id}`, {
          method: "DELETE",
          headers: session
        })
        assert.strictEqual(status, 204)
        const watch = yield* Effect.forkChild(checks.untilRefused(checks.stored(watching, message_id)), {
          startImmediately: true
        })
        const before = yield* total(database)
        const refused = { code: "unauthorized", reason: "revoked_key" }
        checks.assertError(yield* send(watching, hello("+15554020001")), 401, refused)
        const { accepted, refusal } = yield* Fiber.join(watch)
        checks.assertError(refusal, 401, refused)
        assert.isBelow(accepted, 2000)
        assert.strictEqual(yield* total(database), before)
        assert.deepStrictEqual(yield* listeners(database), others)
      }).pipe(Effect.scoped)
  )

  it.effect("two processes migrate an empty database together, each step once", () =>
    Effect.gen(function*() {
      const { a, b, database } = yield* Cluster
      const steps = yield* sql<{ version: number; name: string }>(
        database,
        "select version, name from wac.schema_versions order by version"
      )
      assert.deepStrictEqual(
        steps.map((step) => ({ ...step })),
        Migrations.all.map(({ name }, i) => ({ version: i + 1, name }))
      )
      for (const { output, url } of [a, b]) {
        assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
        assert.strictEqual(output.stderr, "")
      }
    }))

  it.effect("a third process with a different master key fails to start, with one line", () =>
    Effect.gen(function*() {
      const { env } = yield* Cluster
      assert.match(yield* refused({ ...env, WAC_MASTER_KEY: masterKey() }), /^WAC_MASTER_KEY: expected [^\n]+$/)
    }))

  it.effect("a third process that is older than the schema fails to start, with one line", () =>
    Effect.gen(function*() {
      const { database, env } = yield* Cluster
      const known = Migrations.all.length
      yield* Effect.acquireRelease(
        sql(
          database,
          `insert into wac.schema_versions (version, name, checksum) values (${known + 1}, 'of tomorrow', 'unknown')`
        ),
        () => sql(database, `delete from wac.schema_versions where version = ${known + 1}`)
      )
      assert.strictEqual(
        yield* refused(env),
        `DATABASE_URL: the database has schema version ${known + 1} (of tomorrow), newer than this wac, which knows ` +
          `${known}: start a newer wac`
      )
    }).pipe(Effect.scoped))
})

it.live(
  "another process delivers the events of a killed one, each message's events in order",
  () =>
    Effect.gen(function*() {
      const hook = yield* receiver
      yield* hook.answerWith(RecordingReceiver.hang)
      const env = yield* shared
      const a = yield* start(env)
      const { key, session } = yield* signedIn(a)
      yield* setWebhook({ url: a.url, session }, { url: hook.url })
      const first = yield* send({ url: a.url, key }, hello("+15554030001"))
      assert.strictEqual(first.status, 200, first.text)
      // it is on its way from the one process that there is
      yield* hook.waitFor(1)
      yield* checks.untilStatus({ url: a.url, key }, first.body.message_id, "read")
      const b = yield* startSteered(env, "unused:")
      const second = yield* send({ url: a.url, key }, hello("+15554030002"))
      yield* kill(a)
      assert.strictEqual(second.status, 200, second.text)
      const before = (yield* hook.requests).length
      yield* hook.answerWith(RecordingReceiver.ok)
      yield* b.order({ _tag: "Advance", millis: Duration.toMillis(DeliveryAttempt.lease) })

      const events = yield* sql<{ id: string; order_key: string; sequence: number }>(
        env.DATABASE_URL,
        "select id, order_key, sequence from wac.events order by order_key, sequence"
      )
      const sent = [first, second].map(({ body }) => body.message_id)
      assert.deepStrictEqual(new Set(events.map(({ order_key }) => order_key)).size, 2)
      assert.isAtLeast(events.length, 4)
      const came = Effect.map(hook.requests, (all) => {
        const bodies = all.slice(before).map(({ body }) => JSON.parse(new TextDecoder().decode(body)))
        return [...new Map(bodies.map((event) => [event.id, event])).values()]
      })
      const received = yield* checks.until(came, ({ length }) => length === events.length)
      assert.sameMembers(received.map(({ id }) => id), events.map(({ id }) => id))
      for (const id of sent) {
        const sequences = received.filter(({ data }) => data.message_id === id).map(({ data }) => data.sequence)
        assert.deepStrictEqual(sequences, sequences.map((_, i) => i + 1))
      }
      assert.strictEqual((yield* call(`${b.url}/readyz`)).status, 200)
    }).pipe(Effect.scoped)
)
