import { assert, describe, it } from "vitest"
import { deliveryHeaders } from "../src/Delivery.ts"
import {
  receive,
  sign,
  SIGNATURE_HEADER,
  signDelivery,
  signStandardWebhook,
  STANDARD_WEBHOOK_HEADERS
} from "../src/index.ts"
import { exampleEvent } from "../src/Testing.ts"
import { vectors } from "./vectors.ts"

const { previousSecret, secret, standardWebhookId: id, timestamp } = vectors
const body = "{\"text\":\"olá 👋\"}"
const loose = signDelivery as (input: unknown) => Promise<unknown>

const rejects = async (input: object, type: typeof TypeError | typeof RangeError): Promise<string> => {
  const error: unknown = await loose({ payload: body, secret, ...input }).then(() => undefined, (error) => error)
  assert.instanceOf(error, type)
  return (error as Error).message
}

describe("signDelivery", () => {
  for (const secrets of [secret, [secret, previousSecret]]) {
    it(`a delivery has the headers of both families, with ${typeof secrets === "string" ? "one secret" : "two"}`, async () => {
      assert.deepEqual(await signDelivery({ payload: body, id, timestamp, secret: secrets }), {
        method: "POST",
        headers: {
          "content-type": "application/json",
          [SIGNATURE_HEADER]: await sign(body, secrets, timestamp),
          [STANDARD_WEBHOOK_HEADERS.id]: id,
          [STANDARD_WEBHOOK_HEADERS.timestamp]: `${timestamp}`,
          [STANDARD_WEBHOOK_HEADERS.signature]: await signStandardWebhook({ body, id, timestamp, secret: secrets })
        },
        body
      })
    })
  }

  it("with a payload and a secret alone, an event is sent as JSON under its own id, signed at the present time", async () => {
    const payload = { ...exampleEvent("message.received"), id: "evt_1" }
    const { body, headers } = await signDelivery({ payload, secret })
    assert.strictEqual(headers[STANDARD_WEBHOOK_HEADERS.id], "evt_1")
    assert.strictEqual(body, JSON.stringify(payload))
    assert.deepInclude(await receive(body, headers, secret), { ok: true })
  })

  it("bytes are signed as they are, and a payload without an id gets a new one each time", async () => {
    const bytes = new TextEncoder().encode(body)
    const [first, second] = [
      await signDelivery({ payload: bytes, secret }),
      await signDelivery({ payload: {}, secret })
    ]
    assert.strictEqual(first.body, bytes)
    const ids = [first, second].map(({ headers }) => headers[STANDARD_WEBHOOK_HEADERS.id])
    assert.match(ids[0]!, /^evt_./)
    assert.notStrictEqual(ids[0], ids[1])
  })

  it("signDelivery always returns a promise, which rejects unusable arguments without revealing the secret", async () => {
    await rejects({ secret: [] }, TypeError)
    assert.notInclude(await rejects({ secret: "whsec_ab-_" }, TypeError), "ab-_")
    await rejects({ id: "a.b" }, TypeError)
    await rejects({ timestamp: 1.5 }, RangeError)
    for (const payload of [undefined, null, 1, () => {}]) await rejects({ payload }, TypeError)
  })

  it("the service gets the headers synchronously on Node, and a promise elsewhere", () => {
    assert.strictEqual(
      deliveryHeaders({ id, timestamp, body, secret }) instanceof Promise,
      process.env["HMAC"] === "web"
    )
  })
})
