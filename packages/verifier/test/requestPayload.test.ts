import { assert, describe, it } from "vitest"
import { requestPayload, sign, verify } from "../src/index.ts"
import { vectors } from "./vectors.ts"

const { secret, timestamp } = vectors
const request = { method: "POST", target: "/v1/messages?a=1", idempotencyKey: "key-1", body: "{\"text\":\"olá\"}" }
const text = (payload: Uint8Array) => new TextDecoder().decode(payload)

describe("requestPayload", () => {
  it("requestPayload puts the four parts on separate lines", () => {
    assert.strictEqual(text(requestPayload(request)), "POST\n/v1/messages?a=1\nkey-1\n{\"text\":\"olá\"}")
  })

  it("requestPayload treats an absent, null and empty key as equal", () => {
    for (const idempotencyKey of [undefined, null, ""]) {
      assert.strictEqual(text(requestPayload({ ...request, idempotencyKey, body: "" })), "POST\n/v1/messages?a=1\n\n")
    }
    assert.strictEqual(text(requestPayload({ method: "DELETE", target: "/a", body: "" })), "DELETE\n/a\n\n")
  })

  it("requestPayload converts the method to upper case and does not change the target", () => {
    const payload = requestPayload({ ...request, method: "patch", target: "/A/%2f/../b?q=%C3%A1&&" })
    assert.strictEqual(text(payload), "PATCH\n/A/%2f/../b?q=%C3%A1&&\nkey-1\n{\"text\":\"olá\"}")
  })

  it("requestPayload does not change the bytes of the body", () => {
    const body = Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x0d, 0x0a, 0x00)
    assert.deepEqual(requestPayload({ ...request, body }).slice(-7), body)
  })

  it("a signature over requestPayload is valid for no other request", async () => {
    const header = await sign(requestPayload(request), secret, timestamp)
    for (
      const changed of [
        { method: "PUT" },
        { target: "/v1/messages?a=2" },
        { target: "/v1/messages" },
        { idempotencyKey: "key-2" },
        { idempotencyKey: null },
        { body: "{\"text\":\"ola\"}" }
      ]
    ) {
      assert.deepEqual(
        await verify(requestPayload({ ...request, ...changed }), header, secret, { now: timestamp }),
        { ok: false, reason: "signature_mismatch" }
      )
    }
  })

  it("requestPayload refuses a line feed in a part, which would let two requests share one content", () => {
    assert.throws(() => requestPayload({ ...request, target: "/v1/messages\nkey-1" }), TypeError)
    assert.throws(() => requestPayload({ ...request, idempotencyKey: "a\nb" }), TypeError)
    assert.throws(() => requestPayload({ ...request, method: "POST\n/" }), TypeError)
  })

  it("requestPayload refuses empty parts and parts of the wrong type", () => {
    const loose = requestPayload as (input: unknown) => Uint8Array
    for (
      const changed of [
        { method: "" },
        { method: undefined },
        { method: 1 },
        { target: "" },
        { target: new URL("https://example.com/a") },
        { idempotencyKey: 1 },
        { idempotencyKey: ["a\nb"] },
        { body: undefined },
        { body: {} }
      ]
    ) {
      assert.throws(() => loose({ ...request, ...changed }), TypeError)
    }
  })
})
