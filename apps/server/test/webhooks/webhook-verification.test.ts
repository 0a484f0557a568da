import { assert, describe, it } from "@effect/vitest"
import { E164, Inbound } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { verify } from "@wac/verifier"
import { Clock, Effect } from "effect"
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { Webhook as StandardWebhook } from "standardwebhooks"
import Stripe from "stripe"
import { type Delivered, hello, ready, receiver, send, setWebhook } from "../harness.ts"

const reference = "заказ №7 👋🏽 – naïve \u2028 \"quoted\" \\ </script>"
const reply = "Olá, ça va? 日本語 🎉\r\n\ttab \u0000 \ud83d"

const { webhooks } = new Stripe("sk_test_unused")

/** A delivery as each library wants it. */
interface Sent {
  readonly body: Buffer
  readonly headers: Delivered["headers"]
}

const sentOf = ({ body, headers }: Delivered): Sent => ({ body: Buffer.from(body), headers })

/**
 * What stripe-go does, of which there is no JavaScript: `ValidatePayload` alone, and `ConstructEvent`, which goes on to
 * read the body as a Stripe event of the API version that its release is made for.
 */
const stripeGo = (() => {
  const toleranceSeconds = 300
  const releaseVersion = "2025-03-31.basil"
  const validatePayload = (body: Buffer, header: string, secret: string): void => {
    let at: string | undefined
    const given: Array<Buffer> = []
    for (const pair of header.split(",")) {
      const [name, value, ...more] = pair.split("=")
      if (value === undefined || more.length > 0) throw new Error("webhook has invalid signature header")
      if (name === "t") at = /^[+-]?\d+$/.test(value) ? value : undefined
      if (name === "v1" && /^([0-9a-fA-F]{2})+$/.test(value)) given.push(Buffer.from(value, "hex"))
    }
    if (at === undefined) throw new Error("webhook has invalid signature header")
    if (Date.now() / 1000 - Number(at) > toleranceSeconds) throw new Error("timestamp wasn't within tolerance")
    const expected = createHmac("sha256", secret).update(`${at}.`).update(body).digest()
    if (!given.some((signature) => expected.equals(signature))) throw new Error("webhook had no valid signature")
  }
  const constructEvent = (body: Buffer, header: string, secret: string): unknown => {
    validatePayload(body, header, secret)
    const event = JSON.parse(body.toString())
    if (event.api_version !== releaseVersion) {
      throw new Error(`received event with API version ${event.api_version ?? ""}, expected ${releaseVersion}`)
    }
    return event
  }
  return { validatePayload, constructEvent }
})()

/** What each library makes of a delivery: the event, or an exception. */
const libraries = {
  stripe: async ({ body, headers }: Sent, secret: string): Promise<unknown> =>
    webhooks.constructEvent(body, headers["x-service-signature"]!, secret),
  "stripe, asynchronously": async ({ body, headers }: Sent, secret: string): Promise<unknown> =>
    await webhooks.constructEventAsync(body, headers["x-service-signature"]!, secret),
  "stripe-go's ValidatePayload": async ({ body, headers }: Sent, secret: string): Promise<unknown> => {
    stripeGo.validatePayload(body, headers["x-service-signature"]!, secret)
    return JSON.parse(body.toString())
  },
  standardwebhooks: async ({ body, headers }: Sent, secret: string): Promise<unknown> =>
    new StandardWebhook(secret).verify(body, headers),
  "@wac/verifier": async ({ body, headers }: Sent, secret: string): Promise<unknown> => {
    const result = await verify(body, headers["x-service-signature"], secret)
    if (!result.ok) throw new Error(result.reason)
    return JSON.parse(body.toString())
  }
}

/** Deliveries of every kind of text, as they came over the wire. */
const deliveries = Effect.fnUntraced(function*(envelope: string) {
  const server = yield* ready()
  const customer = yield* receiver
  const { signingSecret } = yield* setWebhook(server, { url: customer.url, envelope })
  const answer = yield* send(server, { ...hello(), client_reference: reference })
  assert.strictEqual(answer.status, 200, answer.text)
  const lifecycle = yield* customer.take(3)
  const at = yield* Clock.currentTimeMillis
  yield* Inbound.Inbound.use((inbound) =>
    inbound.receive([{
      _tag: "Message",
      message: {
        providerNumberId: SandboxProvider.firstNumber.providerNumberId,
        providerMessageId: "wamid.é",
        customer: { phone: E164.E164.make("+15551234567"), userId: null },
        at,
        type: "text",
        content: { body: reply },
        context: null,
        preference: undefined
      }
    }])
  ).pipe(Effect.provideContext(server.services))
  const received = [...lifecycle, ...yield* customer.take(1)]
  assert.deepStrictEqual(received.map(({ event }) => event.type), [
    "message.sent",
    "message.delivered",
    "message.read",
    "message.received"
  ])
  return { received, signingSecret, server }
})

/** Resolves to the message of the exception; fails if there is none. */
const refusalOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(() => assert.fail("it was taken"), (error: Error) => error.message)

describe("deliveries of the server", () => {
  for (const envelope of ["combined", "a", "b"]) {
    it.live(`every library verifies a delivery (envelope ${envelope})`, () =>
      Effect.gen(function*() {
        const { received, signingSecret } = yield* deliveries(envelope)
        for (const each of received) {
          for (const [name, verifies] of Object.entries(libraries)) {
            const event = yield* Effect.promise(() => verifies(sentOf(each), signingSecret))
            assert.deepStrictEqual(event, each.event, name)
          }
        }
        const [first, , , last] = received
        if (envelope === "combined") {
          assert.strictEqual(first!.event.data.client_reference, reference)
          assert.include(Buffer.from(first!.body).toString(), "👋🏽")
        }
        assert.strictEqual(last!.event.data.text.body, reply)
        assert.include(Buffer.from(last!.body).toString(), "日本語 🎉")
      }).pipe(Effect.scoped))
  }

  it.live("stripe-go's ConstructEvent refuses a delivery for its API version, so the guide names ValidatePayload", () =>
    Effect.gen(function*() {
      const { received, signingSecret } = yield* deliveries("combined")
      for (const { body, headers } of received.map(sentOf)) {
        assert.throws(
          () => stripeGo.constructEvent(body, headers["x-service-signature"]!, signingSecret),
          /received event with API version/
        )
      }
      const guide = readFileSync(new URL("../../../../docs/guides/receiving.md", import.meta.url), "utf8")
      assert.match(guide, /`stripe-go` +\| `webhook\.ValidatePayload\(/)
    }).pipe(Effect.scoped))

  it.live("every library refuses a delivery with one changed bit", () =>
    Effect.gen(function*() {
      const { received, signingSecret } = yield* deliveries("combined")
      for (const each of [received[0]!, received[3]!]) {
        const { body, headers } = sentOf(each)
        for (const [name, verifies] of Object.entries(libraries)) {
          for (let i = 0; i < body.length; i++) {
            const changed = Buffer.from(body)
            changed[i]! ^= 1
            const message = yield* Effect.promise(() => refusalOf(verifies({ body: changed, headers }, signingSecret)))
            assert.match(message, /signature/i, `${name}, byte ${i}`)
          }
        }
      }
    }).pipe(Effect.scoped))

  it.live("every library refuses a delivery that is shortened, extended, signed with a different secret, or too old", () =>
    Effect.gen(function*() {
      const { received, server, signingSecret } = yield* deliveries("combined")
      const [first, second] = received.map(sentOf) as [Sent, Sent]
      const { body, headers } = first
      const later = (at: string) => `${Number(at) + 1}`
      const changes: { readonly [what: string]: readonly [Sent, secret: string] } = {
        "cut": [{ body: body.subarray(0, -1), headers }, signingSecret],
        "longer": [{ body: Buffer.concat([body, Buffer.from(" ")]), headers }, signingSecret],
        "another event's body": [{ body: second.body, headers }, signingSecret],
        "another secret": [first, `${signingSecret.slice(0, -1)}${signingSecret.endsWith("A") ? "B" : "A"}`],
        "the secret of an API key": [first, server.key.signingSecret],
        "another time": [{
          body,
          headers: {
            ...headers,
            "x-service-signature": headers["x-service-signature"]!.replace(/^t=(\d+)/, (_, at) => `t=${later(at)}`),
            "webhook-timestamp": later(headers["webhook-timestamp"]!)
          }
        }, signingSecret]
      }
      for (const [what, [sent, secret]] of Object.entries(changes)) {
        for (const [name, verifies] of Object.entries(libraries)) {
          const message = yield* Effect.promise(() => refusalOf(verifies(sent, secret)))
          assert.match(message, /signature/i, `${name}, ${what}`)
        }
      }
    }).pipe(Effect.scoped))

  it.live("the header has the specified form, and the event's id is signed", () =>
    Effect.gen(function*() {
      const begun = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const { received, signingSecret } = yield* deliveries("combined")
      assert.match(signingSecret, /^whsec_[0-9A-Za-z]{40}$/)
      for (const { arrivedAt, body, event, headers } of received) {
        const [, at] = /^t=(\d+),v1=[0-9a-f]{64}$/.exec(headers["x-service-signature"]!)!
        assert.isAtLeast(Number(at), begun)
        assert.isAtMost(Number(at), arrivedAt / 1000)
        assert.strictEqual(headers["webhook-timestamp"], at)
        assert.strictEqual(headers["webhook-id"], event.id)
        assert.match(headers["webhook-signature"]!, /^v1,[0-9A-Za-z+/]{43}=$/)
        const renamed = { body: Buffer.from(body), headers: { ...headers, "webhook-id": `${event.id}x` } }
        const message = yield* Effect.promise(() => refusalOf(libraries.standardwebhooks(renamed, signingSecret)))
        assert.match(message, /signature/i)
      }
    }).pipe(Effect.scoped))

  it.live("a delivery is refused as a replay 301 seconds later", () =>
    Effect.gen(function*() {
      const { received: [first], signingSecret } = yield* deliveries("combined")
      const { body, headers } = sentOf(first!)
      const header = headers["x-service-signature"]!
      const at = Number(headers["webhook-timestamp"])
      const verifiedAt = (now: number) => Effect.promise(() => verify(body, header, signingSecret, { now }))
      assert.deepStrictEqual(yield* verifiedAt(at + 300), { ok: true, timestamp: at })
      assert.deepStrictEqual(yield* verifiedAt(at + 301), { ok: false, reason: "timestamp_too_old" })
      assert.deepStrictEqual(yield* verifiedAt(at - 301), { ok: false, reason: "timestamp_too_new" })
      const constructAt = (now: number) =>
        webhooks.constructEvent(body, header, signingSecret, 300, undefined, now * 1000)
      assert.strictEqual(constructAt(at + 300).id, first!.event.id)
      assert.throws(() => constructAt(at + 301), /tolerance/i)
    }).pipe(Effect.scoped))
})
