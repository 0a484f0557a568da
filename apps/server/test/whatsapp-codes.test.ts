/**
 * Every documented code of the Cloud API over the whole road: what a caller gets, what is stored, and what a repetition
 * does; as an answer to a send, and as a report that comes later.
 */
import { assert, describe, layer } from "@effect/vitest"
import { PhoneNumberStore } from "@wac/core"
import { CloudApi, DocumentedCodes } from "@wac/testkit"
import { Clock, Context, Effect, Layer } from "effect"
import * as checks from "./checks.ts"
import { call, ready, send } from "./harness.ts"

const statuses: { readonly [code: string]: number } = {
  invalid_body: 400,
  forbidden: 403,
  rate_limited: 429,
  server_error: 502
}

class Fixture extends Context.Service<Fixture, checks.Ready & { readonly api: CloudApi.CloudApi }>()(
  "@wac/server/test/whatsapp-codes.test/Fixture"
) {
  static readonly layer = Layer.effect(
    Fixture,
    Effect.gen(function*() {
      const api = yield* Effect.orDie(CloudApi.make({ settings: { pairLimit: false } }))
      const server = yield* ready({ environment: { ...api.environment, ...checks.unlimited } })
      const { subscribed } = yield* api.courier.subscribe(
        `${server.url}/providers/whatsapp/webhook`,
        api.identity.verifyToken
      )
      assert.isTrue(subscribed)
      return { ...server, api }
    })
  )
}

/** Waits for the block that follows from a code, and takes it away. */
const unblock = Effect.gen(function*() {
  const { api, services, session, url } = yield* Fixture
  const { body } = yield* checks.until(
    call(`${url}/internal/phone-numbers`, { headers: session }),
    ({ body }) => body.data[0].status === "blocked"
  )
  // of two words of the same time the later one holds; one of now would outlive reports, whose times are whole seconds
  const at = Date.parse(body.data[0].block.since)
  const name = { providerNumberId: api.identity.numbers[0].id }
  yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.observe({ name, at, change: { block: null } })).pipe(
    Effect.orDie,
    Effect.provideContext(services)
  )
})

/** A recipient for each, so that what follows from one code touches no other; a template too, where it is stopped. */
const message = (i: number, consequence?: string) => ({
  to: `+1202555${String(i).padStart(4, "0")}`,
  type: "template",
  template: {
    name: { "template paused": "promo", "template disabled": "confirm_visit" }[consequence ?? ""] ?? "notice_01",
    language: "en_US",
    bodyParams: ["Ana"]
  }
})

layer(Fixture.layer, checks.live)("the codes of the Cloud API", (it) => {
  describe("as an answer", () => {
    for (const [i, { code, consequence, error, reason, retryAfter }] of DocumentedCodes.all.entries()) {
      it.effect(`${code} is ${error}, ${reason}`, () =>
        Effect.gen(function*() {
          const server = yield* Fixture
          const { api } = server
          const body = message(i, consequence)
          yield* api.fault({ recipients: [{ to: body.to, fault: { kind: "error", code }, times: 1 }] })
          const headers = { "idempotency-key": `code-${code}` }
          const answer = yield* send(server, body, headers)
          assert.strictEqual(answer.status, statuses[error], answer.text)
          assert.deepInclude(answer.body.error, { code: error, reason })
          assert.strictEqual(answer.body.error.provider.code, `${code}`)
          assert.strictEqual(answer.headers.get("retry-after"), retryAfter === null ? null : `${retryAfter}`)
          if (consequence?.startsWith("block") === true) yield* unblock

          const calls = Effect.map(api.calls, (calls) => calls.filter(({ to }) => to === body.to))
          const { reference } = (yield* calls)[0]!
          const isRefused = answer.status < 429
          const { body: stored } = yield* checks.stored(server, reference!)
          assert.strictEqual(stored.status, isRefused ? "failed" : "sending")
          if (isRefused) assert.deepInclude(stored.error, { code: error, reason })
          else assert.isNull(stored.error)

          const again = yield* send(server, body, headers)
          if (isRefused) {
            assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
            assert.deepStrictEqual(again.body.error, answer.body.error)
          } else {
            assert.strictEqual(again.status, 200, again.text)
            assert.strictEqual(again.body.message_id, reference)
          }
          assert.strictEqual((yield* calls).length, isRefused ? 1 : 2)
          assert.strictEqual(yield* api.processed(reference!), isRefused ? 0 : 1)
        }))
    }
  })

  describe("as a report", () => {
    for (const [i, { code, consequence, error, reason }] of DocumentedCodes.all.entries()) {
      it.effect(`${code} fails the message with ${error}, ${reason}`, () =>
        Effect.gen(function*() {
          const server = yield* Fixture
          const { api } = server
          const body = message(1000 + i)
          yield* api.configure({ sentAfter: null, deliveredAfter: null, readAfter: null })
          const answer = yield* send(server, body)
          assert.strictEqual(answer.status, 200, answer.text)
          const { message_id } = answer.body
          // a time to come counts as now
          const at = (yield* Clock.currentTimeMillis) + 1000
          yield* Effect.orDie(api.tell({ message: message_id, status: "failed", code, at }))
          const { body: { error: stored } } = yield* checks.untilStatus(server, message_id, "failed")
          assert.deepInclude(stored, { code: error, reason })
          assert.strictEqual(stored.provider.code, `${code}`)
          if (consequence?.startsWith("block") === true) yield* unblock
        }))
    }
  })
})
