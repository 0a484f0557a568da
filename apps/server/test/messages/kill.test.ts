/**
 * A process killed at each point of a send, and the same request repeated to another one: never is the provider asked
 * twice, and the end is that of contract §3. All that happens is recorded, and the checker judges the whole of it.
 */
import { assert, layer } from "@effect/vitest"
import { Message, SendBinding } from "@wac/core"
import type * as PostgresProxy from "@wac/testbed/PostgresProxy"
import { Clock, Context, Duration, Effect, Exit, Fiber, Layer } from "effect"
import * as checks from "../checks.ts"
import { type Answer, hello, isReplayed, pages, send } from "../harness.ts"
import { kill, masterKey, proxied, signedIn, sql, startSteered, type Steered, withKey } from "../processes.ts"
import * as Recorder from "../recorder.ts"
import { nameOf, upstream } from "../upstream.ts"

/** A process that stays, and what those share with it that are killed: they reach the database by way of the proxy. */
const survivor = Effect.gen(function*() {
  const { database, proxy } = yield* proxied
  const provider = yield* upstream
  const env = { DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
  const process = yield* startSteered(env, provider.url)
  const { key } = yield* signedIn(process)
  let ahead = 0
  return {
    database,
    proxy,
    provider,
    key,
    process,
    recorder: Recorder.make(),
    startAnother: Effect.suspend(() => startSteered({ ...env, DATABASE_URL: proxy.url }, provider.url, ahead)),
    /** Time passes, in this process and in those that are started later. */
    pass: (duration: Duration.Duration) => {
      ahead += Duration.toMillis(duration)
      return process.order({ _tag: "Advance", millis: Duration.toMillis(duration) })
    }
  }
})

class Survivor extends Context.Service<Survivor, Effect.Success<typeof survivor>>()(
  "@wac/server/test/messages/kill.test/Survivor"
) {
  static readonly layer = Layer.effect(Survivor, survivor)
}

/** What the database's parts of a send are known by. */
const accepting = "insert into wac.messages ("
const settling = "with settled as"

/** Has a part of a send stop there. */
const statementOf = (words: string, point: PostgresProxy.Point) =>
  Effect.map(Survivor, ({ proxy }) => {
    const reached = proxy.stopAt(words, point)
    return Effect.promise(() => reached)
  })

/** Has the provider take its time. */
const provider = Effect.flatMap(Survivor, ({ provider }) => provider.swallow)

/** Sends by way of a process that is killed once the send has come to that point; gives how to repeat the request. */
const killedAt = Effect.fnUntraced(function*(to: string, stop: Effect.Effect<Effect.Effect<void>, never, Survivor>) {
  const survivor = yield* Survivor
  const idempotencyKey = withKey(crypto.randomUUID())
  const request = ({ url }: Pick<Steered, "url">, body: unknown = hello(to)) =>
    survivor.recorder.send(
      "ws",
      idempotencyKey["idempotency-key"],
      body,
      send({ url, key: survivor.key }, body, idempotencyKey)
    )
  const doomed = yield* survivor.startAnother
  const reached = yield* stop
  const cut = yield* Effect.forkChild(Effect.exit(request(doomed)), { startImmediately: true })
  yield* reached
  yield* kill(doomed)
  assert.isTrue(Exit.isFailure(yield* Fiber.join(cut)))
  return {
    ...survivor,
    retry: request(survivor.process),
    /** The message that the key is bound to. */
    bound: Effect.map(
      sql<{ id: string }>(
        survivor.database,
        `select id from wac.messages where key = '${idempotencyKey["idempotency-key"]}'`
      ),
      (rows) => rows.map(({ id }) => id)
    ),
    /** Another body under the key. */
    other: request(survivor.process, hello("+15557770000")),
    asked: survivor.provider.askedFor(to)
  }
}, Effect.scoped)

type Killed = Effect.Success<ReturnType<typeof killedAt>>

const assertSent = (answer: Answer, messageId: string, replayed: boolean) => {
  assert.strictEqual(answer.status, 200, answer.text)
  assert.deepStrictEqual(
    [answer.body.message_id, answer.body.provider_message_id, answer.body.status, isReplayed(answer)],
    [messageId, nameOf(messageId), "sent", replayed]
  )
}

/** Nothing was bound: the repetition is judged anew, and sends. */
const assertJudgedAnew = Effect.fnUntraced(function*({ asked, bound, retry }: Killed) {
  const answer = yield* retry
  const [messageId, ...more] = yield* bound
  assert.deepStrictEqual(more, [])
  assertSent(answer, messageId!, false)
  assert.deepStrictEqual(yield* asked, [messageId])
  const again = yield* retry
  assertSent(again, messageId!, true)
})

/** The key is bound, and once its lease is over nobody knows; gives the message. */
const assertUnknown = Effect.fnUntraced(
  function*({ asked, bound, key, other, pass, process, retry }: Killed, calls: 0 | 1) {
    const [messageId] = yield* bound
    const expected = calls === 0 ? [] : [messageId]
    checks.assertError(yield* other, 409, { code: "idempotency_conflict", reason: "payload_mismatch" })
    assert.strictEqual((yield* checks.stored({ url: process.url, key }, messageId!)).body.status, "sending")
    yield* pass(SendBinding.lease)
    for (const answer of yield* Effect.all([retry, retry], { concurrency: 2 })) {
      checks.assertError(answer, 504, { code: "server_error", reason: "outcome_unknown" })
    }
    yield* checks.untilStatus({ url: process.url, key }, messageId!, "unknown")
    checks.assertError(yield* retry, 504, { code: "server_error", reason: "outcome_unknown" })
    assert.deepStrictEqual(yield* asked, expected)
    return messageId!
  }
)

/** Upstream reports on the message. */
const report = ({ process, recorder }: Killed, messageId: string, status: "delivered" | "read") =>
  recorder.record(
    process.order({ _tag: "Report", messageId, providerMessageId: nameOf(messageId), status }),
    () => ({ kind: "report", message_id: messageId, status })
  )

/** Upstream reports after all; the repetition is answered from that. */
const assertSettledByReport = Effect.fnUntraced(function*(killed: Killed, messageId: string) {
  yield* report(killed, messageId, "delivered")
  assertSent(yield* killed.retry, messageId, true)
})

layer(Survivor.layer, { excludeTestServices: true })("kill -9", (it) => {
  it.effect("killed before the claim reaches the database: the repetition is judged again, with one call", () =>
    Effect.gen(function*() {
      const killed = yield* killedAt("+15557770001", statementOf(accepting, "sent"))
      assert.deepStrictEqual([yield* killed.bound, yield* killed.asked], [[], []])
      yield* assertJudgedAnew(killed)
    }))

  it.effect("killed before the claim commits: the repetition is judged again, with one call", () =>
    Effect.gen(function*() {
      const killed = yield* killedAt("+15557770002", statementOf(accepting, "executed"))
      assert.deepStrictEqual([yield* killed.bound, yield* killed.asked], [[], []])
      yield* assertJudgedAnew(killed)
    }))

  it.effect(
    "killed after the claim commits and before the provider call: the outcome is unknown, with no call",
    () =>
      Effect.gen(function*() {
        const killed = yield* killedAt("+15557770003", statementOf(accepting, "committed"))
        const messageId = yield* assertUnknown(killed, 0)
        yield* killed.pass(Message.unknownTimeout)
        yield* checks.untilStatus({ url: killed.process.url, key: killed.key }, messageId, "failed")
        checks.assertError(yield* killed.retry, 504, { code: "server_error", reason: "delivery_unknown" })
        assert.deepStrictEqual(yield* killed.asked, [])
      })
  )

  it.effect(
    "killed during the provider call: in progress, then unknown with one call until the provider reports",
    () =>
      Effect.gen(function*() {
        const killed = yield* killedAt("+15557770004", provider)
        for (const answer of yield* Effect.all([killed.retry, killed.retry], { concurrency: 2 })) {
          checks.assertError(answer, 503, { code: "server_error", reason: "in_progress" })
        }
        const messageId = yield* assertUnknown(killed, 1)
        yield* assertSettledByReport(killed, messageId)
      })
  )

  it.effect(
    "killed after the provider's response, before the outcome is written: unknown with one call until a report",
    () =>
      Effect.gen(function*() {
        const killed = yield* killedAt("+15557770005", statementOf(settling, "sent"))
        const messageId = yield* assertUnknown(killed, 1)
        yield* assertSettledByReport(killed, messageId)
      })
  )

  it.effect("killed before the outcome commits: unknown with one call until the provider reports", () =>
    Effect.gen(function*() {
      const killed = yield* killedAt("+15557770006", statementOf(settling, "executed"))
      const messageId = yield* assertUnknown(killed, 1)
      yield* assertSettledByReport(killed, messageId)
    }))

  it.effect(
    "killed, with a provider report before the lease ends: the report settles the send once the lease ends",
    () =>
      Effect.gen(function*() {
        const killed = yield* killedAt("+15557770007", statementOf(settling, "sent"))
        const [messageId] = yield* killed.bound
        yield* report(killed, messageId!, "read")
        yield* killed.pass(SendBinding.lease)
        assertSent(yield* killed.retry, messageId!, true)
      })
  )

  it.effect("killed after the outcome commits, before the response: the response is replayed, with one call", () =>
    Effect.gen(function*() {
      const killed = yield* killedAt("+15557770008", statementOf(settling, "committed"))
      const [messageId] = yield* killed.bound
      const answers = yield* Effect.all([killed.retry, killed.retry], { concurrency: 2 })
      for (const answer of answers) assertSent(answer, messageId!, true)
    }))

  it.effect("the history of all these sends breaks no promise of the contract", () =>
    Effect.gen(function*() {
      const { key, process, provider, recorder } = yield* Survivor
      const settledAt = yield* Clock.currentTimeMillis
      const headers = { authorization: `Bearer ${key.apiKey}` }
      const listed = yield* pages(`${process.url}/v1/events`, headers)
      const end = yield* Clock.currentTimeMillis
      const during = { begun: settledAt, ended: end, process: "test" }
      for (const event of listed.flatMap(({ body }) => body.data)) recorder.add({ kind: "event", event, ...during })
      recorder.add(...yield* provider.recorded)
      for (const id of recorder.messages()) {
        const { body } = yield* checks.stored({ url: process.url, key }, id)
        recorder.add({ kind: "read", message_id: id, status: body.status, ...during, ended: null })
      }
      recorder.assertKept(settledAt)
    }))
})
