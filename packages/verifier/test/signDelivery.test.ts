import { assert, describe, it } from "vitest"
import { sign, SIGNATURE_HEADER, signDelivery, signStandardWebhook, STANDARD_WEBHOOK_HEADERS } from "../src/index.ts"
import { vectors } from "./vectors.ts"

const { previousSecret, secret, standardWebhookId: id, timestamp } = vectors
const delivery = { id, timestamp, body: "{\"text\":\"olá 👋\"}", secret }
const loose = signDelivery as (input: unknown) => unknown

describe("signDelivery", () => {
  for (const secrets of [secret, [secret, previousSecret]]) {
    it(`a delivery has the headers of both families, with ${typeof secrets === "string" ? "one secret" : "two"}`, async () => {
      assert.deepEqual(await signDelivery({ ...delivery, secret: secrets }), {
        [SIGNATURE_HEADER]: await sign(delivery.body, secrets, timestamp),
        [STANDARD_WEBHOOK_HEADERS.id]: id,
        [STANDARD_WEBHOOK_HEADERS.timestamp]: `${timestamp}`,
        [STANDARD_WEBHOOK_HEADERS.signature]: await signStandardWebhook({ ...delivery, secret: secrets })
      })
    })
  }

  it("signDelivery returns the headers synchronously on Node, and a promise elsewhere", () => {
    assert.strictEqual(signDelivery(delivery) instanceof Promise, process.env["HMAC"] === "web")
  })

  it("signDelivery throws for arguments that the other two reject, without revealing the secret", () => {
    assert.throws(() => loose({ ...delivery, secret: [] }), TypeError)
    assert.throws(() => loose({ ...delivery, secret: "whsec_ab-_" }), TypeError, /^((?!ab-_).)*$/)
    assert.throws(() => loose({ ...delivery, id: "a.b" }), TypeError)
    assert.throws(() => loose({ ...delivery, timestamp: 1.5 }), RangeError)
    assert.throws(() => loose({ ...delivery, body: {} }), TypeError)
  })
})
