/**
 * What the application of a framework's guide does, whichever the framework: it sends once per order, serves the API, and
 * receives webhooks.
 */
import { exampleEvent, signDelivery } from "@wac/verifier/testing"
import { assert } from "vitest"

/** The secret with which deliveries to it are signed. */
export const secret = "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM="

/** Asks the application, by a path. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>

/** Asks for everything that each guide promises. */
export const use = async (ask: Ask): Promise<void> => {
  const ship = async () => {
    const response = await ask("/orders/1042/shipped", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ phone: "+15551234567" })
    })
    return response.json() as Promise<{ readonly messageId: string; readonly status: string }>
  }
  const [first, second] = [await ship(), await ship()]
  assert.strictEqual(first.status, "sent")
  // its routes have one instance
  assert.strictEqual(second.messageId, first.messageId)

  // the body reaches wac unread: a refusal of the key, not of a body that something has read
  const refused = await ask("/messaging/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer wac_live_wrong" },
    body: "{}"
  })
  assert.strictEqual(refused.status, 401)
  assert.strictEqual((await ask("/messaging/openapi.json")).status, 200)

  const delivery = await signDelivery({ payload: exampleEvent("message.delivered"), secret })
  assert.strictEqual((await ask("/webhook", delivery)).status, 200)
  assert.strictEqual((await ask("/webhook", { ...delivery, body: "{}" })).status, 400)
}
