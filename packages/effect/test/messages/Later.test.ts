import { assert, describe, it } from "vitest"
import { type NewMessage, WacError } from "../../src/promises.ts"
import { failure, fresh, hello, start } from "../instance.ts"

const inAnHour = "2026-01-01T01:00:00.000Z"

describe("a message to be sent later", () => {
  it("a queued message is sent at its time", async () => {
    const { clock, wac } = await start()
    const queued = await wac.messages.enqueue(hello(), { ...fresh(), sendAt: new Date(inAnHour) })
    const { messageId } = queued
    assert.deepStrictEqual<object>(queued, {
      status: "queued",
      messageId,
      workspaceId: wac.id,
      apiKeyId: queued.apiKeyId,
      sendAt: inAnHour,
      replayed: false
    })
    assert.deepInclude(await wac.messages.get(messageId), { status: "queued", sendAt: inAnHour, sentAt: null })
    await clock.advance(3_599_000)
    assert.strictEqual((await wac.messages.get(messageId)).status, "queued")
    await clock.advance(2_000)
    assert.include(["sent", "delivered", "read"], (await wac.messages.get(messageId)).status)
  })

  it("a repeated call gets the same answer, and a different time is a different message", async () => {
    const { wac } = await start()
    const options = { ...fresh(), sendAt: inAnHour }
    const first = await wac.messages.enqueue(hello(), options)
    const again = await wac.messages.enqueue(hello(), { ...options, sendAt: Date.parse(inAnHour) })
    assert.deepStrictEqual(again, { ...first, replayed: true })
    assert.deepInclude(await failure(wac.messages.enqueue(hello(), { ...options, sendAt: "2026-01-02" })), {
      code: "idempotency_conflict"
    })
  })

  it("a key answers as it did first: a send of a queued message conflicts, and a sent message stays sent", async () => {
    const { wac } = await start()
    const [now, later] = [fresh(), fresh()]
    const sent = await wac.messages.send(hello(), now)
    assert.deepStrictEqual(await wac.messages.enqueue(hello(), now), { ...sent, replayed: true })
    const queued = await wac.messages.enqueue(hello(), later)
    const conflict = await failure(wac.messages.send(hello(), later))
    assert.deepInclude(conflict, { code: "idempotency_conflict", reason: "payload_mismatch" })
    assert.include(conflict.message, queued.messageId)
  })

  it.each([
    [{ sendAt: "2026-05-01" }, "sendAt"],
    [{ sendAt: "soon" }, "sendAt"],
    [{ sendAt: new Date(Number.NaN) }, "sendAt"],
    [{ sendAt: inAnHour, sendUntil: "2026-01-01T00:30:00Z" }, "sendUntil"]
  ])("the times %j are refused in the names of the options", async (times, param) => {
    const { wac } = await start()
    const error = await failure(wac.messages.enqueue(hello(), { ...fresh(), ...times }))
    assert.deepInclude(error, { code: "invalid_body", reason: "invalid_field", param })
    assert.notInclude(error.message, "send_")
  })

  it("several messages are queued together, and a refused message does not affect the others", async () => {
    const { wac } = await start()
    const [first, second] = [fresh(), fresh()]
    const results = await wac.messages.enqueueMany([
      { ...hello(), ...first, sendAt: inAnHour },
      { ...hello("555"), ...fresh() },
      { ...hello() } as NewMessage & typeof first,
      { ...hello("+15551230009"), ...second, sendUntil: inAnHour }
    ])
    assert.deepStrictEqual(results.map(({ status }) => status), ["queued", "refused", "refused", "queued"])
    const [, badNumber, keyless] = results.map((result) => result.status === "refused" ? result.error : undefined)
    assert.instanceOf(badNumber, WacError)
    assert.deepInclude(badNumber, { reason: "invalid_field", param: "to" })
    assert.deepInclude(keyless, { reason: "missing_idempotency_key", param: "idempotencyKey" })
    const again = await wac.messages.enqueueMany([{ ...hello(), ...first, sendAt: inAnHour }])
    assert.deepStrictEqual<object>(again, [results[0]])
  })

  it("a batch has 1 to 500 messages, and costs one token for every 50", async () => {
    const { wac } = await start({ limits: { workspaceTiers: { standard: 1 } } })
    const many = (count: number) =>
      wac.messages.enqueueMany(Array.from({ length: count }, () => ({ ...hello(), ...fresh(), sendAt: inAnHour })))
    for (const count of [0, 501]) {
      assert.deepInclude(await failure(many(count)), { code: "invalid_body", param: "messages" })
    }
    assert.lengthOf(await many(100), 100)
    assert.deepInclude(await failure(many(1)), { code: "rate_limited", reason: "workspace" })
  })

  it("a message that is cancelled before its time is never sent", async () => {
    const { clock, wac } = await start()
    const { messageId } = await wac.messages.enqueue(hello(), { ...fresh(), sendAt: inAnHour })
    const cancelled = await wac.messages.cancel(messageId)
    assert.deepInclude(cancelled, { messageId, status: "cancelled" })
    assert.deepStrictEqual(await wac.messages.cancel(messageId), cancelled)
    await clock.advance(7_200_000)
    assert.deepStrictEqual(await wac.messages.get(messageId), cancelled)
    const sent = await wac.messages.send(hello(), fresh())
    assert.deepInclude(await failure(wac.messages.cancel(sent.messageId)), { reason: "already_sent" })
    assert.deepInclude(await failure(wac.messages.cancel("msg_x")), { code: "not_found" })
  })
})
