/**
 * Sends that go on while PostgreSQL is away or out of reach: every one is answered in time, nothing acknowledged is
 * lost, nothing is sent twice, and the service comes back by itself.
 */
import { assert, layer } from "@effect/vitest"
import { SendBinding } from "@wac/core"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import { Context, Duration, Effect, Fiber, Layer } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, hello, send } from "../harness.ts"
import { freshDatabase, masterKey, ownPostgres, signedIn, sql, startSteered, withKey } from "../processes.ts"
import { nameOf, upstream } from "../upstream.ts"

/** Sends that are under way at any time. */
const callers = 8

/** The database's 5 s for each of: whose key it is, accept, settle; the provider of these tests answers at once. */
const bound = 15_000

/** From the end of the trouble to the first success; who waits on a silent connection notices after 5 s. */
const recovery = 12_000

/** A process that reaches a PostgreSQL server of its own by way of a proxy. */
const served = Effect.gen(function*() {
  const postgres = yield* ownPostgres
  const proxy = yield* Effect.acquireRelease(
    Effect.flatMap(freshDatabase(postgres.url), (database) => Effect.promise(() => PostgresProxy.start(database))),
    (proxy) => Effect.sync(proxy.close)
  )
  const provider = yield* upstream
  const process = yield* startSteered(
    // a quick machine sends more here than a workspace may by default
    { DATABASE_URL: proxy.url, WAC_MASTER_KEY: masterKey(), WAC_LIMITS: "{\"workspaceTiers\":{\"standard\":10000}}" },
    provider.url
  )
  return { postgres, proxy, provider, process, ...(yield* signedIn(process)) }
})

class Served
  extends Context.Service<Served, Effect.Success<typeof served>>()("@wac/server/test/running/outage.test/Served")
{
  static readonly layer = Layer.effect(Served, served)
}

/** A send with a key and a recipient of its own. */
interface Attempt {
  readonly to: string
  readonly key: string
  readonly answer: Answer
  readonly took: number
}

let recipients = 0

const sendOnce = Effect.fnUntraced(function*(repeated?: Attempt) {
  const { key, process } = yield* Served
  const to = repeated?.to ?? `+1555${6_000_000 + recipients++}`
  const idempotencyKey = repeated?.key ?? crypto.randomUUID()
  const begun = performance.now()
  const answer = yield* send({ url: process.url, key }, hello(to), withKey(idempotencyKey))
  return { to, key: idempotencyKey, answer, took: performance.now() - begun }
})

const reasonOf = ({ answer }: Attempt): string => answer.status === 200 ? "sent" : answer.body.error.reason

const unavailable = { code: "server_error", reason: "storage_unavailable" }
const unknown = { code: "server_error", reason: "outcome_unknown" }

/** Sends without a pause, from now on. */
const sending = Effect.gen(function*() {
  const attempts: Array<Attempt> = []
  let over = false
  const caller = Effect.repeat(
    Effect.map(sendOnce(), (attempt) => attempts.push(attempt)),
    { until: () => over }
  )
  const fiber = yield* Effect.forkChild(
    Effect.forEach(Array.from({ length: callers }), () => caller, { concurrency: "unbounded", discard: true }),
    { startImmediately: true }
  )
  /** Suspends until so many more have had that end. */
  const more = (reason: string, count: number) =>
    Effect.suspend(() => {
      const ended = () => attempts.filter((attempt) => reasonOf(attempt) === reason).length
      const before = ended()
      return checks.until(Effect.sync(ended), (now) => now >= before + count)
    })
  const end = Effect.suspend(() => {
    over = true
    return Effect.as(Fiber.join(fiber), attempts)
  })
  return { more, end }
})

/** Asserts that a send whose outcome was unknown has the end that it should have, as its repetitions tell. */
const assertUnknownEnd = Effect.fnUntraced(function*(repeated: Attempt, calls: ReadonlyArray<string>) {
  const { process } = yield* Served
  checks.assertError(repeated.answer, 504, unknown)
  if (calls.length === 0) return
  const [messageId] = calls as [string]
  yield* process.order({ _tag: "Report", messageId, providerMessageId: nameOf(messageId), status: "delivered" })
  const settled = yield* sendOnce(repeated)
  assert.deepStrictEqual([settled.answer.status, settled.answer.body?.message_id], [200, messageId])
})

/** Asserts that every send has had its end by now, or gets it when it is repeated. */
const assertAllRight = Effect.fnUntraced(function*(attempts: ReadonlyArray<Attempt>) {
  const { key, process, provider } = yield* Served
  yield* process.order({ _tag: "Advance", millis: Duration.toMillis(SendBinding.lease) })
  yield* Effect.forEach(attempts, (attempt) =>
    Effect.gen(function*() {
      const { answer, to, took } = attempt
      assert.isBelow(took, bound)
      const before = yield* provider.askedFor(to)
      if (answer.status === 200) {
        const messageId = answer.body.message_id
        assert.deepStrictEqual(before, [messageId])
        const stored = yield* checks.stored({ url: process.url, key }, messageId)
        assert.deepStrictEqual([stored.status, stored.body.status], [200, "sent"])
        assert.strictEqual((yield* sendOnce(attempt)).answer.text, answer.text)
      } else {
        if (answer.status === 503) {
          checks.assertError(answer, 503, unavailable)
          assert.deepStrictEqual(before, [])
        } else {
          checks.assertError(answer, 504, unknown)
        }
        const repeated = yield* sendOnce(attempt)
        const after = yield* provider.askedFor(to)
        if (repeated.answer.status === 200) assert.deepStrictEqual(after, [repeated.answer.body.message_id])
        else yield* assertUnknownEnd(repeated, after)
      }
      assert.isAtMost((yield* provider.askedFor(to)).length, 1)
    }), { concurrency: 8, discard: true })
})

const probe = (path: string) => Effect.flatMap(Served, ({ process }) => call(`${process.url}${path}`))

/** Waits until the service is ready and a send succeeds; gives how long that took. */
const recovered = Effect.gen(function*() {
  const begun = performance.now()
  yield* checks.until(
    Effect.provide(probe("/readyz"), yield* Effect.context<Served>()),
    ({ status }) => status === 200
  )
  yield* Effect.repeat(sendOnce(), { until: ({ answer }) => answer.status === 200 })
  return performance.now() - begun
})

layer(Served.layer, { excludeTestServices: true })("outages under load", (it) => {
  it.effect("a restart of PostgreSQL under load loses and repeats no send", () =>
    Effect.gen(function*() {
      const { postgres } = yield* Served
      const { end, more } = yield* sending
      yield* more("sent", 50)
      yield* postgres.stop
      checks.assertError(yield* probe("/readyz"), 503, unavailable)
      assert.strictEqual((yield* probe("/healthz")).status, 200)
      yield* more("storage_unavailable", callers)
      assert.strictEqual((yield* probe("/healthz")).status, 200)
      yield* postgres.start
      assert.isBelow(yield* recovered, recovery)
      yield* more("sent", 50)
      yield* assertAllRight(yield* end)
    }))

  it.effect("a read-only phase of PostgreSQL, as after a failover, loses and repeats no send", () =>
    Effect.gen(function*() {
      const { postgres } = yield* Served
      const writable = (setting: "on" | "off") =>
        Effect.andThen(
          sql(postgres.url, `alter system set default_transaction_read_only = ${setting}`),
          sql(postgres.url, "select pg_reload_conf()")
        )
      yield* writable("on")
      const ready = yield* checks.until(
        Effect.provide(probe("/readyz"), yield* Effect.context<Served>()),
        ({ status }) => status !== 200
      )
      checks.assertError(ready, 503, unavailable)
      assert.include(ready.text, "storage cannot be written: the database is a standby, or set to read only")
      checks.assertError((yield* sendOnce()).answer, 503, unavailable)
      yield* writable("off")
      yield* recovered
    }))

  it.effect("a network that drops all packets for a while loses and repeats no send", () =>
    Effect.gen(function*() {
      const { proxy } = yield* Served
      const { end, more } = yield* sending
      const probed = Effect.gen(function*() {
        yield* more("sent", 50)
        proxy.freeze()
        const begun = performance.now()
        const [ready, metrics] = yield* Effect.all([probe("/readyz"), probe("/metrics")], { concurrency: 2 })
        const took = performance.now() - begun
        checks.assertError(ready, 503, unavailable)
        assert.strictEqual(metrics.status, 200)
        assert.strictEqual((yield* probe("/healthz")).status, 200)
        yield* more("storage_unavailable", callers)
        proxy.thaw()
        assert.isBelow(yield* recovered, recovery)
        return took
      })
      yield* checks.assertBelow(2500, probed)
      yield* more("sent", 50)
      yield* assertAllRight(yield* end)
    }))

  it.effect("a move of PostgreSQL that leaves connections half-open loses and repeats no send", () =>
    Effect.gen(function*() {
      const { proxy } = yield* Served
      const { end, more } = yield* sending
      yield* more("sent", 50)
      proxy.strand()
      assert.isBelow(yield* recovered, recovery)
      yield* more("sent", 50)
      yield* assertAllRight(yield* end)
    }))

  it.effect(
    "if the response to a claim is lost, the request gets 503 without a call, and a repetition is judged again",
    () =>
      Effect.gen(function*() {
        const { provider, proxy } = yield* Served
        const reached = proxy.stopAt("insert into wac.messages (", "committed")
        const lost = yield* sendOnce()
        yield* Effect.promise(() => reached)
        checks.assertError(lost.answer, 503, unavailable)
        assert.isBelow(lost.took, bound)
        assert.deepStrictEqual(yield* provider.askedFor(lost.to), [])
        const { answer } = yield* checks.until(
          Effect.provide(sendOnce(lost), yield* Effect.context<Served>()),
          (attempt) => reasonOf(attempt) === "sent"
        )
        assert.deepStrictEqual(yield* provider.askedFor(lost.to), [answer.body.message_id])
      })
  )

  it.effect(
    "if the response to an outcome is lost, the request gets 504, and a repetition replays the outcome",
    () =>
      Effect.gen(function*() {
        const { provider, proxy } = yield* Served
        const reached = proxy.stopAt("with settled as", "committed")
        const lost = yield* sendOnce()
        yield* Effect.promise(() => reached)
        checks.assertError(lost.answer, 504, unknown)
        const { answer } = yield* sendOnce(lost)
        assert.deepStrictEqual([answer.status, answer.headers.get("idempotent-replayed")], [200, "true"])
        assert.deepStrictEqual(yield* provider.askedFor(lost.to), [answer.body.message_id])
      })
  )
})
