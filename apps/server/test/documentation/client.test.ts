/**
 * `@wac/client` against the whole server.
 */
import { assert, describe, it } from "@effect/vitest"
import { createClient, WacError } from "@wac/client"
import { createInternalClient } from "@wac/client/internal"
import { Effect } from "effect"
import { createKey, environment, hello, ready, start } from "../harness.ts"

const clientOf = (url: string, key: { readonly apiKey: string }, signingSecret?: string) =>
  createClient({
    baseUrl: `${url}/v1`,
    apiKey: key.apiKey,
    ...(signingSecret === undefined ? {} : { signingSecret })
  })

const rejected = (promise: Promise<unknown>) =>
  Effect.promise(() => promise.then(() => assert.fail("it did not fail"), (error: unknown) => error)).pipe(
    Effect.map((error) => error instanceof WacError ? error : assert.fail(`${error}`))
  )

describe("the client", () => {
  it.live("the client sends once per key, and reads the message's state", () =>
    Effect.gen(function*() {
      const { key, url } = yield* ready()
      const wac = clientOf(url, key)
      const first = yield* Effect.promise(() => wac.messages.send(hello(), { idempotencyKey: "order-1" }))
      const again = yield* Effect.promise(() => wac.messages.send(hello(), { idempotencyKey: "order-1" }))
      assert.deepStrictEqual(again, { ...first, replayed: true } as never)
      assert.deepStrictEqual([first.lastResponse.replayed, again.lastResponse.replayed], [false, true])
      assert.match(again.lastResponse.requestId!, /^req_/)
      const [limit] = again.lastResponse.limits
      assert.deepStrictEqual([limit!.name, limit!.quota, limit!.window], ["workspace", 200, 2000])
      const stored = yield* Effect.promise(() => wac.messages.get(first.messageId))
      assert.deepStrictEqual([stored.to, stored.type], [hello().to, "template"])
      const conflict = yield* rejected(wac.messages.send(hello("+15551234568"), { idempotencyKey: "order-1" }))
      assert.deepStrictEqual([conflict.status, conflict.code, conflict.reason], [
        409,
        "idempotency_conflict",
        "payload_mismatch"
      ])
      assert.strictEqual((yield* rejected(wac.messages.get("msg_nobody"))).code, "not_found")
      const refused = yield* rejected(wac.messages.send({ to: hello().to, type: "text", text: { body: "hi" } }))
      assert.strictEqual(refused.reason, "outside_service_window")
      assert.match(refused.requestId!, /^req_/)
    }).pipe(Effect.scoped))

  it.live("the client signs requests for a key that requires signatures", () =>
    Effect.gen(function*() {
      const { session, url } = yield* ready()
      const key = yield* createKey(url, session, { name: "signed", requireSignature: true })
      const unsigned = yield* rejected(clientOf(url, key).messages.send(hello()))
      assert.deepStrictEqual([unsigned.status, unsigned.reason], [401, "missing_signature"])
      const sent = yield* Effect.promise(() => clientOf(url, key, key.signingSecret).messages.send(hello()))
      assert.strictEqual(sent.apiKeyId, key.id)
    }).pipe(Effect.scoped))

  it.live("the client iterates over all pages of a list", () =>
    Effect.gen(function*() {
      const { key, url } = yield* ready()
      const wac = clientOf(url, key)
      const collected = <Item>(list: AsyncIterable<Item>) => Effect.promise(() => Array.fromAsync(list))
      const templates = yield* collected(wac.templates.list())
      assert.strictEqual(templates.length, 5)
      assert.strictEqual(new Set(templates.map(({ id }) => id)).size, 5)
      const sent = new Set<string>()
      for (let i = 0; i < 5; i++) {
        sent.add((yield* Effect.promise(() => wac.messages.send(hello("+15005550003")))).messageId)
      }
      const pages = yield* collected(wac.events.list({ type: "message.sent" }).pages({ limit: 2 }))
      assert.deepStrictEqual(pages.map(({ data }) => data.length), [2, 2, 1])
      const events = yield* collected(
        wac.events.list({ type: "message.sent", since: "1970-01-01T00:00:00Z" })
      )
      assert.deepStrictEqual(
        new Set(events.map((event) => event.type === "message.sent" && event.data.message_id)),
        sent
      )
      assert.strictEqual((yield* rejected(wac.events.list().page({ cursor: "nonsense" }))).param, "cursor")
    }).pipe(Effect.scoped))

  it.live("the client signs a person in and uses the session until they sign out", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const wac = createInternalClient({ baseUrl: url })
      const before = yield* rejected(wac.session.get())
      assert.deepStrictEqual([before.status, before.reason], [401, "missing_session"])
      const session = yield* Effect.promise(() =>
        wac.session.signIn({ email: environment.WAC_OWNER_EMAIL, password: environment.WAC_OWNER_PASSWORD })
      )
      assert.strictEqual(session.role, "owner")
      const key = yield* Effect.promise(() => wac.apiKeys.create({ name: "x" }, { idempotencyKey: "one" }))
      const again = yield* Effect.promise(() => wac.apiKeys.create({ name: "x" }, { idempotencyKey: "one" }))
      assert.deepStrictEqual([again.id, again.apiKey, again.lastResponse.replayed], [key.id, undefined, true])
      const sent = yield* Effect.promise(() => clientOf(url, { apiKey: key.apiKey! }).messages.send(hello()))
      const [message] = yield* Effect.promise(() => wac.messages.list({ limit: 1 }).toArray())
      assert.deepStrictEqual([message?.id, message?.apiKeyId], [sent.messageId, key.id])
      assert.strictEqual((yield* rejected(wac.webhook.get())).code, "not_found")
      assert.isUndefined(yield* Effect.promise(() => wac.apiKeys.revoke(key.id)))
      yield* Effect.promise(() => wac.session.signOut())
      assert.strictEqual((yield* rejected(wac.session.get())).status, 401)
    }).pipe(Effect.scoped))
})
