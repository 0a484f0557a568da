import { Webhook } from "standardwebhooks"
import Stripe from "stripe"
import { assert, describe, it } from "vitest"
import { requestPayload, sign, signStandardWebhook, verify } from "../src/index.ts"
import { random } from "./random.ts"
import { vectors } from "./vectors.ts"

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const { webhooks } = new Stripe("sk_test_unused")
const stripe = webhooks.signature!

describe("stripe", () => {
  it("stripe makes the same header and accepts ours, for random bodies and secrets", async () => {
    const { below, text } = random(1)
    for (let round = 0; round < 300; round++) {
      // Stripe's verifier takes an empty body for none at all.
      const payload = text(1 + below(200))
      const secret = `whsec_${text(40, base62)}`
      const timestamp = 1 + below(2 ** 31)
      const header = await sign(payload, secret, timestamp)
      assert.strictEqual(header, webhooks.generateTestHeaderString({ payload, secret, timestamp }))
      const receivedAt = (timestamp + 300) * 1000
      assert.isTrue(stripe.verifyHeader(payload, header, secret, 300, undefined, receivedAt))
    }
  })

  it("stripe accepts our signatures of bytes, CRLF, non-ASCII text and a large body", async () => {
    const secret = vectors.secret
    for (const payload of ["{\r\n}\r\n", "olá 👋 é", "x".repeat(400_000)]) {
      const bytes = new TextEncoder().encode(payload)
      const header = await sign(bytes, secret)
      assert.isTrue(stripe.verifyHeader(Buffer.from(bytes), header, secret))
      assert.isTrue(await stripe.verifyHeaderAsync(payload, header, secret))
    }
  })

  it("stripe constructs an event from a delivery with each secret of a rotation", async () => {
    const payload = "{\"id\":\"evt_1\",\"object\":\"event\",\"type\":\"message.delivered\"}"
    const header = await sign(payload, [vectors.secret, vectors.previousSecret])
    for (const secret of [vectors.secret, vectors.previousSecret]) {
      assert.strictEqual(webhooks.constructEvent(payload, header, secret).id, "evt_1")
    }
    assert.throws(() => webhooks.constructEvent(payload, header, "whsec_other"))
    assert.throws(() => webhooks.constructEvent(`${payload} `, header, vectors.secret))
  })

  it("stripe signs and checks requests, which are plain payloads for it", async () => {
    for (const { content: payload, body, idempotencyKey, method, target } of vectors.requests) {
      const bytes = requestPayload({ method, target, idempotencyKey, body })
      const { secret, timestamp } = vectors
      const header = webhooks.generateTestHeaderString({ payload, secret, timestamp })
      assert.deepEqual(await verify(bytes, header, secret, { now: timestamp }), { ok: true, timestamp })
      const ours = await sign(bytes, secret, timestamp)
      assert.isTrue(stripe.verifyHeader(payload, ours, secret, 300, undefined, timestamp * 1000))
    }
  })
})

describe("standardwebhooks", () => {
  it("standardwebhooks makes the same signature and accepts ours, for random bodies and secrets", async () => {
    const { below, text } = random(2)
    const timestamp = Math.floor(Date.now() / 1000)
    for (let round = 0; round < 300; round++) {
      const body = JSON.stringify({ text: text(below(200)) })
      const id = `evt_${text(26, base62)}`
      const secret = `whsec_${text(40, base62)}`
      const webhook = new Webhook(secret)
      const signature = await signStandardWebhook({ id, timestamp, body, secret })
      assert.strictEqual(signature, webhook.sign(id, new Date(timestamp * 1000), body))
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": `${timestamp}`,
        "webhook-signature": await signStandardWebhook({ id, timestamp, body, secret: [vectors.secret, secret] })
      }
      assert.deepEqual(webhook.verify(body, headers), JSON.parse(body))
    }
  })

  it("standardwebhooks and stripe verify the same delivery with one secret", async () => {
    const { secret } = vectors
    const timestamp = Math.floor(Date.now() / 1000)
    const body = "{\"id\":\"evt_1\",\"object\":\"event\"}"
    const header = await sign(body, secret, timestamp)
    const signature = await signStandardWebhook({ id: "evt_1", timestamp, body, secret })
    assert.strictEqual(webhooks.constructEvent(body, header, secret).id, "evt_1")
    assert.deepEqual(
      new Webhook(secret).verify(body, {
        "webhook-id": "evt_1",
        "webhook-timestamp": `${timestamp}`,
        "webhook-signature": signature
      }),
      JSON.parse(body)
    )
  })
})
