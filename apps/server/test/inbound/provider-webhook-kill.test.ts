/**
 * A process killed at each point of a post's way, and another one that is started after it: what was answered with 200
 * is processed, and everything once.
 */
import { assert, layer } from "@effect/vitest"
import { type Id, InboundRunner } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import type * as PostgresProxy from "@wac/testbed/PostgresProxy"
import { StubProviderWebhook } from "@wac/testkit"
import { Context, Duration, Effect, Exit, Fiber, Layer } from "effect"
import * as checks from "../checks.ts"
import { call, hello, send } from "../harness.ts"
import { kill, masterKey, proxied, signedIn, sql, startSteered } from "../processes.ts"
import { nameOf, upstream } from "../upstream.ts"

/** Where processes are started, with a workspace and its key in the database. */
const stage = Effect.gen(function*() {
  const { database, proxy } = yield* proxied
  const provider = yield* upstream
  const env = { DATABASE_URL: proxy.url, WAC_MASTER_KEY: masterKey() }
  let ahead = 0
  /** Starts a process, at a time that never goes back. */
  const startLater = (duration: Duration.Duration) =>
    Effect.suspend(() => startSteered(env, provider.url, ahead += Duration.toMillis(duration)))
  const { key } = yield* Effect.scoped(Effect.flatMap(startLater(Duration.zero), signedIn))
  return { database, proxy, key, startLater }
})

class Stage extends Context.Service<Stage, Effect.Success<typeof stage>>()(
  "@wac/server/test/inbound/provider-webhook-kill.test/Stage"
) {
  static readonly layer = Layer.effect(Stage, stage)
}

const post = (url: string, body: string) =>
  call(`${url}/providers/${StubProviderWebhook.name}/webhook`, {
    body,
    headers: { [StubProviderWebhook.signatureHeader]: StubProviderWebhook.sign(body) }
  })

/** A statement of the way of a post, and how far it gets before the process is killed. */
type Killed = readonly [title: string, fn: string, point: PostgresProxy.Point, isAnswered: boolean]

const points: ReadonlyArray<Killed> = [
  ["before the post has reached the database", "insert into wac.inbound_posts (", "sent", false],
  ["before the post is committed", "insert into wac.inbound_posts (", "executed", false],
  ["when the post is kept, before it is answered", "insert into wac.inbound_posts (", "committed", false],
  ["when it is answered, before it is claimed", "for update skip locked\n  ), fitting", "sent", true],
  ["before a report is applied", "update wac.messages m set", "sent", true],
  ["before a report is committed", "update wac.messages m set", "executed", true],
  ["when a report is applied", "update wac.messages m set", "committed", true],
  ["when a customer's message is recorded", "insert into wac.inbound_messages", "committed", true],
  ["when all is applied, before the end is recorded", "update wac.inbound_posts p set", "sent", true],
  ["when the end is recorded", "update wac.inbound_posts p set", "committed", true]
]

/** What was recorded of a message of ours, and of a customer's. */
const eventsOf = (database: string, messageId: string, providerMessageId: string) =>
  Effect.map(
    sql<{ type: string }>(
      database,
      `select type from wac.events where data ->> 'message_id' = '${messageId}'
        or data ->> 'provider_message_id' = '${providerMessageId}' order by position`
    ),
    (rows) => rows.map(({ type }) => type)
  )

layer(Stage.layer, { excludeTestServices: true })("kill -9 while a post is processed", (it) => {
  for (const [i, [title, fn, point, isAnswered]] of points.entries()) {
    it.effect(`${title}: every item of the post is applied exactly once`, () =>
      Effect.gen(function*() {
        const { database, key, proxy, startLater } = yield* Stage
        const doomed = yield* startLater(Duration.zero)
        const sent = yield* send({ url: doomed.url, key }, hello(`+1555777100${i}`))
        assert.strictEqual(sent.status, 200, sent.text)
        const messageId: Id.MessageId = sent.body.message_id
        const received = `wamid.in.${i}`
        const body = StubProviderWebhook.bodyOf([
          {
            _tag: "Status",
            providerNumberId: SandboxProvider.firstNumber.providerNumberId,
            reference: messageId,
            report: { status: "delivered", at: checks.now(), providerMessageId: nameOf(messageId), error: null }
          },
          {
            _tag: "Message",
            message: {
              providerNumberId: SandboxProvider.firstNumber.providerNumberId,
              providerMessageId: received,
              customer: { phone: `+1555777200${i}`, userId: null },
              at: checks.now(),
              type: "text",
              content: { body: "hello" },
              context: null,
              preference: undefined
            }
          }
        ])
        const reached = proxy.stopAt(fn, point)
        const posted = yield* Effect.forkChild(Effect.exit(post(doomed.url, body)), { startImmediately: true })
        yield* Effect.promise(() => reached)
        if (isAnswered) {
          const exit = yield* Fiber.join(posted)
          assert.strictEqual(Exit.isSuccess(exit) && exit.value.status, 200)
        }
        yield* kill(doomed)
        if (!isAnswered) assert.isTrue(Exit.isFailure(yield* Fiber.join(posted)))

        const successor = yield* startLater(InboundRunner.lease)
        const again = Effect.map(post(successor.url, body), ({ status }) => assert.strictEqual(status, 200))
        // upstream posts again what was not answered
        if (!isAnswered) yield* again
        yield* checks.untilStatus({ url: successor.url, key }, messageId, "delivered")
        const events = yield* checks.until(eventsOf(database, messageId, received), ({ length }) => length >= 3)
        assert.deepStrictEqual([...events].sort(), ["message.delivered", "message.received", "message.sent"])
        // and at times what was
        yield* again
        yield* checks.until(
          call(`${successor.url}/metrics`),
          ({ text }) => text.includes("wac_inbound_posts{state=\"waiting\"} 0")
        )
        assert.lengthOf(yield* eventsOf(database, messageId, received), 3)
      }).pipe(Effect.scoped))
  }
})
