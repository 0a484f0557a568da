import { assert, describe, it } from "vitest"
import type { ErrorCode, ErrorReason, NewMessage, TemplateMessage } from "../../src/promises.ts"
import { failure, fresh, hello, start } from "../instance.ts"

describe("a send", () => {
  it("a send is accepted by the provider, and its status advances as time passes", async () => {
    const { clock, wac } = await start()
    const sent = await wac.messages.send({ ...hello(), clientReference: "order-1042" }, fresh())
    assert.deepStrictEqual(Object.keys(sent).sort(), [
      "apiKeyId",
      "messageId",
      "providerMessageId",
      "replayed",
      "status",
      "workspaceId"
    ])
    assert.strictEqual(sent.workspaceId, wac.id)
    assert.strictEqual((await wac.messages.get(sent.messageId)).status, "sent")
    await clock.advance(200)
    assert.strictEqual((await wac.messages.get(sent.messageId)).status, "delivered")
    await clock.advance(200)
    assert.deepStrictEqual(await wac.messages.get(sent.messageId), {
      direction: "outbound",
      messageId: sent.messageId,
      status: "read",
      providerMessageId: sent.providerMessageId,
      workspaceId: wac.id,
      apiKeyId: sent.apiKeyId,
      to: "+15551234567",
      from: "+15005550100",
      type: "template",
      createdAt: "2026-01-01T00:00:00.000Z",
      sendAt: null,
      sentAt: "2026-01-01T00:00:00.000Z",
      deliveredAt: "2026-01-01T00:00:00.200Z",
      readAt: "2026-01-01T00:00:00.400Z",
      failedAt: null,
      error: null,
      clientReference: "order-1042",
      pricing: null,
      playedAt: null
    })
  })

  it("a message is sent once per idempotency key, and a repeated call is marked as replayed", async () => {
    const { wac } = await start()
    const key = fresh()
    const [first, second] = await Promise.all([wac.messages.send(hello(), key), wac.messages.send(hello(), key)])
    assert.deepStrictEqual([first.replayed, second.replayed].sort(), [false, true])
    assert.strictEqual(first.messageId, second.messageId)
    const conflict = await failure(wac.messages.send(hello("+15557654321"), key))
    assert.deepInclude(conflict, { code: "idempotency_conflict", reason: "payload_mismatch" })
  })

  it("a send without an idempotency key gets one, which its error names", async () => {
    const { wac } = await start()
    assert.isFalse((await wac.messages.send(hello())).replayed)
    const refused = await failure(wac.messages.send(hello("+15005550001"), {}))
    assert.match(refused.idempotencyKey ?? "", /^[0-9a-f-]{36}$/)
    const bad = await failure(wac.messages.send(hello(), { idempotencyKey: "with space" }))
    assert.deepInclude(bad, { reason: "invalid_idempotency_key", param: "idempotencyKey" })
  })

  const wrong: ReadonlyArray<
    readonly [what: string, message: unknown, reason: ErrorReason, param: string | undefined]
  > = [
    ["a number that is none", hello("555"), "invalid_field", "to"],
    ["no recipient", { type: "text", text: { body: "x" } }, "missing_field", "to"],
    ["a kind that is unknown", { ...hello(), type: "hologram" }, "invalid_field", "type"],
    [
      "a misspelt field",
      { ...hello(), template: { name: "a", language: "en", bodyparams: [] } },
      "unknown_field",
      "template.bodyparams"
    ],
    [
      "an empty value",
      { ...hello(), template: { name: "a", language: "en", bodyParams: ["a", ""] } },
      "invalid_field",
      "template.bodyParams[1]"
    ],
    ["nothing", undefined, "invalid_field", undefined]
  ]
  it.each(wrong)("a send with %s is refused, and the error names the field", async (_, message, reason, param) => {
    const { wac } = await start()
    const error = await failure(wac.messages.send(message as NewMessage, fresh()))
    assert.deepInclude<object>(error, { code: "invalid_body", reason, param })
  })

  it("a field that is undefined counts as omitted", async () => {
    const { wac } = await start()
    const { template, ...message } = hello() as TemplateMessage
    const sparse = { ...message, from: undefined, template: { ...template, bodyParams: undefined } }
    assert.strictEqual((await wac.messages.send(sparse as unknown as NewMessage, fresh())).status, "sent")
  })

  const refused: ReadonlyArray<
    readonly [to: string, code: ErrorCode, reason: ErrorReason, retryAfter: number | undefined]
  > = [
    ["+15005550001", "invalid_body", "undeliverable", undefined],
    ["+15005550004", "rate_limited", "provider", 1000],
    ["+15005550005", "server_error", "provider_unavailable", undefined],
    ["+15005550006", "server_error", "outcome_unknown", undefined]
  ]
  it.each(refused)("a send to %s ends as the provider decides: %s, %s", async (to, code, reason, retryAfter) => {
    const { wac } = await start()
    const error = await failure(wac.messages.send(hello(to), fresh()))
    assert.deepInclude<object>(error, { code, reason, retryAfter })
    assert.match(error.requestId!, /^req_/)
  })

  it("free-form text requires an open window", async () => {
    const { clock, wac } = await start()
    const text: NewMessage = { to: "+15005550008", type: "text", text: { body: "Hello" } }
    assert.deepInclude(await failure(wac.messages.send(text, fresh())), {
      code: "forbidden",
      reason: "outside_service_window"
    })
    await wac.messages.send(hello(text.to), fresh())
    await clock.advance(200)
    await wac.inbound.receive([{
      type: "message",
      providerNumberId: "sandbox-1",
      providerMessageId: "p-2",
      from: "+15551234567",
      text: { body: "Hi" }
    }])
    await wac.messages.send({ ...text, to: "+15551234567" }, fresh())
    await clock.advance("24 hours")
    assert.deepInclude(await failure(wac.messages.send({ ...text, to: "+15551234567" }, fresh())), {
      reason: "outside_service_window"
    })
  })

  it("sends beyond the workspace's limit are refused with the time to wait", async () => {
    const { clock, wac } = await start({
      limits: { workspaceTiers: { standard: 1 }, defaults: { workspaceTier: "standard" } }
    })
    await wac.messages.send(hello(), fresh())
    await wac.messages.send(hello(), fresh())
    const error = await failure(wac.messages.send(hello(), fresh()))
    assert.deepInclude(error, { code: "rate_limited", reason: "workspace", retryAfter: 1000 })
    await clock.advance(error.retryAfter!)
    await wac.messages.send(hello(), fresh())
  })

  it("sends are refused after the host's key was revoked, until the next start", async () => {
    const { clock, wac } = await start()
    const { apiKeyId } = await wac.messages.send(hello(), fresh())
    await clock.advance(0)
    const key = await wac.keys.get(apiKeyId)
    assert.strictEqual(key.prefix, "embedded")
    assert.strictEqual(key.lastUsedAt, "2026-01-01T00:00:00.000Z")
    await wac.keys.revoke(apiKeyId)
    assert.deepInclude(await failure(wac.messages.send(hello(), fresh())), {
      code: "unauthorized",
      reason: "revoked_key"
    })
  })

  it("an unknown message is not found", async () => {
    const { wac } = await start()
    const error = await failure(wac.messages.get("msg_00000000000000000000000000"))
    assert.deepInclude(error, { code: "not_found", reason: undefined })
    assert.strictEqual(error.cause, undefined)
  })
})
