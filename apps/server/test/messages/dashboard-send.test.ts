/**
 * Sending from the dashboard (contract §12): by a person, without an API key.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, isReplayed, send } from "../harness.ts"

const sendAs = (
  { session, url }: Pick<checks.Ready, "session" | "url">,
  body: unknown,
  headers: { readonly [name: string]: string } = { "idempotency-key": crypto.randomUUID() }
) => call(`${url}/internal/messages`, { headers: { ...session, ...headers }, body })

layer(checks.Served.layer(), checks.live)("a send from the dashboard", (it) => {
  it.effect("a dashboard send and its message are in camelCase, without an API key", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const { session, url } = server
      const sent = yield* sendAs(server, { ...hello("+15005550003"), client_reference: "order-7" })
      assert.strictEqual(sent.status, 200, sent.text)
      const { messageId, providerMessageId } = sent.body
      const { body: { workspaceId } } = yield* call(`${url}/internal/session`, { headers: session })
      assert.deepStrictEqual(sent.body, {
        status: "sent",
        messageId,
        providerMessageId,
        tenantId: workspaceId,
        apiKeyId: null
      })
      assert.match(messageId, checks.idShape("msg"))
      assert.match(sent.headers.get("ratelimit") ?? "", /"workspace"/)
      const shown = yield* call(`${url}/internal/messages/${messageId}`, { headers: session })
      assert.deepStrictEqual([shown.body.apiKeyId, shown.body.clientReference], [null, "order-7"])
      const ofKey = yield* call(`${url}/v1/messages/${messageId}`, {
        headers: { authorization: `Bearer ${server.key.apiKey}` }
      })
      assert.deepStrictEqual([ofKey.status, ofKey.body.api_key_id], [200, null])
    }))

  it.effect("a message of the dashboard has its content, as in the request", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const { session, url } = server
      const read = Effect.fnUntraced(function*(body: object) {
        const sent = yield* sendAs(server, body)
        assert.strictEqual(sent.status, 200, sent.text)
        return (yield* call(`${url}/internal/messages/${sent.body.messageId}`, { headers: session })).body
      })
      const template = { name: "order_update", language: "en_US", bodyParams: ["<b>Ana</b>", "1042"] }
      const shown = yield* read({ to: "+15005550003", type: "template", template })
      assert.deepStrictEqual(
        [shown.type, shown.content, shown.context, shown.campaignId, shown.pricing, shown.playedAt],
        ["template", template, null, null, null, null]
      )
    }))

  it.effect("the customers that were written to are found by a part of their number, and by no less than four digits", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const { session, url } = server
      const find = (number: string) =>
        call(`${url}/internal/customers?number=${encodeURIComponent(number)}`, { headers: session })
      for (const to of ["+15550100001", "+15550100002"]) yield* sendAs(server, hello(to))
      for (const part of ["+1 555 010", "001555010", "(555) 010-0"]) {
        const found = yield* find(part)
        assert.deepStrictEqual(
          found.body,
          { data: [{ number: "+15550100001" }, { number: "+15550100002" }], hasMore: false },
          part
        )
      }
      assert.deepStrictEqual((yield* find("0049 170")).body, { data: [], hasMore: false })
      for (const short of ["555", "", "order-1042"]) checks.assertInvalid(yield* find(short), "invalid_field", "number")
    }))

  it.effect("a dashboard send happens once per Idempotency-Key, and its keys are separate from those of /v1/messages", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const headers = { "idempotency-key": "same" }
      const first = yield* sendAs(server, hello("+15005550003"), headers)
      const again = yield* sendAs(server, hello("+15005550003"), headers)
      assert.deepStrictEqual([first.status, isReplayed(first), isReplayed(again)], [200, false, true])
      assert.deepStrictEqual(again.body, first.body)
      const other = yield* sendAs(server, hello(), headers)
      checks.assertError(other, 409, { code: "idempotency_conflict", reason: "payload_mismatch" })
      const ofKey = yield* send(server, hello("+15005550003"), headers)
      assert.isFalse(isReplayed(ofKey))
      assert.notStrictEqual(ofKey.body.message_id, first.body.messageId)
    }))

  it.effect("a dashboard send passes the same checks as /v1/messages", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      checks.assertInvalid(yield* sendAs(server, hello(), {}), "missing_idempotency_key", "Idempotency-Key")
      checks.assertInvalid(yield* sendAs(server, { ...hello(), extra: 1 }), "unknown_field", "extra")
      checks.assertError(yield* sendAs(server, { to: "+15551234567", type: "text", text: { body: "Hi" } }), 403, {
        code: "forbidden",
        reason: "outside_service_window",
        param: "type"
      })
    }))
})
