import { assert, describe, it } from "vitest"
import { type HeadersLike, type Receipt, receive, type ReceiveReason, sign } from "../src/index.ts"
import { delivery, event, secret } from "./delivery.ts"
import { vectors } from "./vectors.ts"

const loose = receive as (...args: ReadonlyArray<unknown>) => Promise<Receipt>
const bytesOf = (text: string) => new TextEncoder().encode(text)

const reasonOf = (receipt: Receipt): ReceiveReason => {
  assert.isFalse(receipt.ok)
  const { message, reason } = receipt as Exclude<Receipt, { ok: true }>
  assert.match(message, /^.{10,200}$/)
  assert.notInclude(message, secret)
  return reason
}

/** What is told of this body, genuinely signed. */
const told = async (body: string | Uint8Array, options: object = {}) => {
  const header = await sign(body, secret)
  return loose(body, { "x-service-signature": header }, secret, options)
}

describe("receive", () => {
  it("receive returns the event and the signed time, from bytes and from text", async () => {
    const text = JSON.stringify(event)
    const header = await sign(text, secret, vectors.timestamp)
    for (const body of [text, bytesOf(text), Buffer.from(text)]) {
      const receipt = await receive(body, { "X-Service-Signature": header }, secret, { now: vectors.timestamp })
      assert.deepEqual<unknown>(receipt, { ok: true, event, timestamp: vectors.timestamp })
    }
  })

  it("receive finds the header in Headers, in Node's headers and in any record", async () => {
    const { body, headers } = await delivery()
    const value = headers["X-Service-Signature"]!
    const all: ReadonlyArray<HeadersLike> = [
      new Headers(headers),
      { "x-service-signature": value, "set-cookie": ["a", "b"] },
      { "X-SERVICE-SIGNATURE": value },
      { "X-Service-Signature": [value] },
      new Map([["X-Service-Signature", value]]) as unknown as Headers
    ]
    for (const each of all) {
      assert.isTrue((await receive(body, each, secret)).ok)
    }
  })

  it("receive reports a header that is missing or was sent twice", async () => {
    const { body, headers } = await delivery()
    const value = headers["X-Service-Signature"]!
    for (const none of [{}, new Headers(), null, undefined, 5, "t=1,v1=2", { "x-service-signature": undefined }]) {
      assert.strictEqual(reasonOf(await loose(body, none, secret)), "missing_header")
    }
    for (
      const twice of [{ "x-service-signature": [value, value] }, {
        "X-Service-Signature": value,
        "x-Service-signature": value
      }]
    ) {
      assert.strictEqual(reasonOf(await loose(body, twice, secret)), "malformed_header")
    }
  })

  it("receive refuses objects, lists and other bodies that are not raw as body_already_parsed", async () => {
    const { headers } = await delivery()
    for (const body of [event, {}, [], Object.create(null)]) {
      const receipt = await loose(body, headers, secret)
      assert.strictEqual(reasonOf(receipt), "body_already_parsed")
      assert.include(receipt, { message: "the body was already parsed; pass the raw bytes" })
    }
    for (const body of [undefined, null, 5, new ArrayBuffer(3), new DataView(new ArrayBuffer(3))]) {
      assert.strictEqual(reasonOf(await loose(body, headers, secret)), "invalid_body")
    }
  })

  it("receive reports every reason of verify, each with a message", async () => {
    const { body, headers } = await delivery()
    assert.strictEqual(reasonOf(await receive(body, headers, undefined)), "missing_secret")
    assert.strictEqual(reasonOf(await receive(body, headers, vectors.previousSecret)), "signature_mismatch")
    assert.strictEqual(reasonOf(await receive(`${body} `, headers, secret)), "signature_mismatch")
    assert.strictEqual(reasonOf(await receive(body, headers, secret, { now: 0 })), "timestamp_too_new")
    assert.strictEqual(reasonOf(await receive(body, headers, secret, { now: 1e11 })), "timestamp_too_old")
    assert.strictEqual(reasonOf(await receive(body, headers, secret, { tolerance: -1 })), "invalid_options")
    for (const options of [300, { envelope: "c" }, { envelope: "toString" }]) {
      assert.strictEqual(reasonOf(await loose(body, headers, secret, options)), "invalid_options")
    }
  })

  it("receive refuses a signed body that is not JSON or not UTF-8 as malformed_json", async () => {
    for (const body of ["", "{", "undefined", "{\"type\":\"a\"", Uint8Array.of(0x22, 0xff, 0x22)]) {
      assert.strictEqual(reasonOf(await told(body)), "malformed_json")
    }
  })

  it("receive refuses signed JSON without a type and data as not_an_event", async () => {
    const { data: _, ...noData } = event
    const { type: __, ...noType } = event
    for (const body of [null, 1, "a", [event], {}, noData, noType, { ...event, type: 1 }, { ...event, data: [] }]) {
      assert.strictEqual(reasonOf(await told(JSON.stringify(body))), "not_an_event")
    }
  })

  it("receive accepts only the expected envelope, and the combined envelope for all", async () => {
    const a = { id: event.id, type: event.type, created_at: event.created_at, data: { message_id: "msg_1" } }
    const b = { type: event.type, tenant_id: event.tenant_id, data: { message_id: "msg_1" } }
    const fits = async (body: object, envelope?: string) => {
      const receipt = await told(JSON.stringify(body), envelope === undefined ? {} : { envelope })
      return receipt.ok || reasonOf(receipt)
    }
    assert.deepEqual(await Promise.all([fits(event), fits(event, "combined"), fits(event, "a"), fits(event, "b")]), [
      true,
      true,
      true,
      true
    ])
    assert.deepEqual(await Promise.all([fits(a), fits(a, "a"), fits(a, "b")]), [
      "other_envelope",
      true,
      "other_envelope"
    ])
    assert.deepEqual(await Promise.all([fits(b), fits(b, "a"), fits(b, "b")]), [
      "other_envelope",
      "other_envelope",
      true
    ])
  })

  it("receive returns an event of an unknown type", async () => {
    const newer = { ...event, type: "message.pondered", data: { depth: 3 } }
    assert.deepEqual<unknown>((await told(JSON.stringify(newer)) as { readonly event: unknown }).event, newer)
  })

  it("receive parses the verified bytes, even if the caller's buffer changes meanwhile", async () => {
    const { body, headers } = await delivery()
    const bytes = bytesOf(body as string)
    const receiving = receive(bytes, headers, secret)
    bytes.fill(0x20)
    assert.deepEqual<unknown>((await receiving as { readonly event: unknown }).event, event)
  })
})
