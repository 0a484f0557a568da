/**
 * The process dies between upstream's answer and our record of it, and another one is started: upstream's reports
 * settle what nobody knew, and nobody is written to twice.
 */
import { assert, layer } from "@effect/vitest"
import { Message, SendBinding } from "@wac/core"
import { Context, Effect, Exit, Fiber, Layer } from "effect"
import * as checks from "../checks.ts"
import { type Answer, isReplayed, send } from "../harness.ts"
import { kill, sql, type Steered, withKey } from "../processes.ts"
import { processes } from "./whatsapp-processes.ts"
import { template } from "./whatsapp.ts"

class Crashing extends Context.Service<Crashing, Effect.Success<typeof processes>>()(
  "@wac/server/test/whatsapp/whatsapp-crash.test/Crashing"
) {
  static readonly layer = Layer.effect(Crashing, processes)
}

/**
 * Sends by way of a process that is killed once upstream has answered; gives the message, and how to repeat the
 * request.
 */
const killedBeforeSettle = Effect.fnUntraced(function*(to: string) {
  const { api, key, proxy, startByProxy } = yield* Crashing
  const idempotencyKey = withKey(crypto.randomUUID())
  const request = ({ url }: Pick<Steered, "url">) => send({ url, key }, template(to), idempotencyKey)
  const doomed = yield* startByProxy
  const reached = proxy.stopAt("with settled as", "sent")
  const cut = yield* Effect.forkChild(Effect.exit(request(doomed)), { startImmediately: true })
  yield* Effect.promise(() => reached)
  yield* kill(doomed)
  assert.isTrue(Exit.isFailure(yield* Fiber.join(cut)))
  const [asked, ...more] = (yield* api.calls).filter((call) => call.to === to)
  assert.deepStrictEqual(more, [])
  assert.deepInclude(asked, { processed: true, http: 200 })
  return { request, id: asked!.reference!, wamid: asked!.wamid! }
}, Effect.scoped)

const assertOnce = Effect.fnUntraced(function*(id: string) {
  const { api } = yield* Crashing
  assert.strictEqual(yield* api.processed(id), 1)
  assert.lengthOf((yield* api.calls).filter(({ reference }) => reference === id), 1)
})

const assertSent = (answer: Answer, { id, wamid }: { readonly id: string; readonly wamid: string }) => {
  assert.strictEqual(answer.status, 200, answer.text)
  assert.deepInclude(answer.body, { status: "sent", message_id: id, provider_message_id: wamid })
  assert.isTrue(isReplayed(answer))
}

const outcomeUnknown = { code: "server_error", reason: "outcome_unknown" }
const deliveryUnknown = { code: "server_error", reason: "delivery_unknown" }

/** The types of the events of a message, in order. */
const eventsOf = Effect.fnUntraced(function*(database: string, id: string) {
  const rows = yield* sql<{ readonly type: string }>(
    database,
    `select type from wac.events where order_key = '${id}' order by sequence`
  )
  return rows.map(({ type }) => type)
})

layer(Crashing.layer, { excludeTestServices: true })("kill -9", (it) => {
  it.effect("killed between the provider's response and its record: the report settles the send", () =>
    Effect.gen(function*() {
      const { api, database, key, pass, start } = yield* Crashing
      const killed = yield* killedBeforeSettle("+16505550101")
      // nobody listens now; upstream tells it until somebody does
      yield* Effect.orDie(api.tell({ message: killed.id, status: "delivered" }))
      yield* pass(SendBinding.lease)
      const process = yield* start()
      yield* checks.untilStatus({ url: process.url, key }, killed.id, "delivered")
      const answer = yield* killed.request(process)
      assertSent(answer, killed)
      assert.strictEqual((yield* killed.request(process)).text, answer.text)
      yield* assertOnce(killed.id)
      assert.deepStrictEqual(yield* eventsOf(database, killed.id), ["message.sent", "message.delivered"])
    }).pipe(Effect.scoped))

  it.effect(
    "killed without a report for ten minutes: the message fails as delivery_unknown until a late report",
    () =>
      Effect.gen(function*() {
        const { api, database, key, pass, start } = yield* Crashing
        const killed = yield* killedBeforeSettle("+16505550102")
        yield* pass(SendBinding.lease)
        const process = yield* start()
        const server = { url: process.url, key }
        checks.assertError(yield* killed.request(process), 504, outcomeUnknown)
        yield* checks.untilStatus(server, killed.id, "unknown")
        yield* pass(Message.unknownTimeout, process)
        const failed = yield* checks.untilStatus(server, killed.id, "failed")
        assert.strictEqual(failed.body.error.reason, "delivery_unknown")
        checks.assertError(yield* killed.request(process), 504, deliveryUnknown)
        yield* assertOnce(killed.id)

        yield* Effect.orDie(api.tell({ message: killed.id, status: "read" }))
        yield* checks.untilStatus(server, killed.id, "read")
        assertSent(yield* killed.request(process), killed)
        yield* assertOnce(killed.id)
        assert.deepStrictEqual(yield* eventsOf(database, killed.id), [
          "message.failed",
          "message.sent",
          "message.delivered",
          "message.read"
        ])
      }).pipe(Effect.scoped)
  )
})
