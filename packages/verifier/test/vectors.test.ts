import { createHmac } from "node:crypto"
import { assert, describe, it } from "vitest"
import { requestPayload, sign, signStandardWebhook, type Verification, verify } from "../src/index.ts"
import { vectors } from "./vectors.ts"

const { previousSecret, published, secret, standardWebhookId: id, timestamp } = vectors

const hex = (key: string, at: number, body: Uint8Array | string): string =>
  createHmac("sha256", key).update(`${at}.`).update(body).digest("hex")

const base64 = (key: string, eventId: string, at: number, body: Uint8Array | string): string =>
  createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64"))
    .update(`${eventId}.${at}.`)
    .update(body)
    .digest("base64")

describe("deliveries", () => {
  for (const delivery of vectors.deliveries) {
    const bytes = new Uint8Array(Buffer.from(delivery.bytesBase64, "base64"))

    it(`${delivery.name}: the committed values agree with node:crypto`, () => {
      assert.strictEqual(delivery.header, `t=${timestamp},v1=${hex(secret, timestamp, bytes)}`)
      assert.strictEqual(delivery.rotationHeader, `${delivery.header},v1=${hex(previousSecret, timestamp, bytes)}`)
      assert.strictEqual(delivery.standardWebhookSignature, `v1,${base64(secret, id, timestamp, bytes)}`)
    })

    for (const body of delivery.text === null ? [bytes] : [bytes, delivery.text]) {
      it(`${delivery.name}, as ${typeof body === "string" ? "text" : "bytes"}: signed and verified`, async () => {
        assert.strictEqual(await sign(body, secret, timestamp), delivery.header)
        assert.strictEqual(await sign(body, [secret, previousSecret], timestamp), delivery.rotationHeader)
        assert.strictEqual(
          await signStandardWebhook({ id, timestamp, body, secret }),
          delivery.standardWebhookSignature
        )
        const verified: Verification = { ok: true, timestamp }
        assert.deepEqual(await verify(body, delivery.header, secret, { now: timestamp }), verified)
        assert.deepEqual(await verify(body, delivery.rotationHeader, previousSecret, { now: timestamp }), verified)
      })
    }
  }
})

describe("requests", () => {
  for (const { body, content, header, idempotencyKey, method, name, target } of vectors.requests) {
    it(name, async () => {
      const payload = requestPayload({ method, target, idempotencyKey, body })
      assert.strictEqual(new TextDecoder().decode(payload), content)
      assert.strictEqual(header, `t=${timestamp},v1=${hex(secret, timestamp, content)}`)
      assert.strictEqual(await sign(payload, secret, timestamp), header)
      assert.deepEqual(await verify(payload, header, secret, { now: timestamp }), { ok: true, timestamp })
    })
  }
})

describe("published vectors", () => {
  it("the published vectors of the scheme t=…,v1=… verify", async () => {
    const { body, header, secret, timestamp } = published.signature
    assert.strictEqual(await sign(body, secret, timestamp), header)
    assert.deepEqual(await verify(body, header, secret, { now: timestamp }), { ok: true, timestamp })
  })

  it("the published vectors of Standard Webhooks verify", async () => {
    const { body, id, secret, signature, timestamp } = published.standardWebhook
    assert.strictEqual(await signStandardWebhook({ id, timestamp, body, secret }), signature)
  })
})
