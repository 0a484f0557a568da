import { assert, describe, it } from "@effect/vitest"
import { PlainJson, ProviderWebhook } from "@wac/core"
import { Effect, Layer, Predicate, Redacted, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { createHmac } from "node:crypto"
import * as WhatsAppWebhook from "../src/WhatsAppWebhook.ts"
import { conversation, entry, message, now, post } from "./posts.ts"

const appSecret = "5f4dcc3b5aa765d61d8327deb882cf99"
const verifyToken = "a token of ours, größer"

const crypto = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))

const webhook = ProviderWebhook.ProviderWebhook.pipe(
  Effect.filterOrElse(Predicate.isNotUndefined, () => Effect.die("no webhook")),
  Effect.provide(
    WhatsAppWebhook.layer({ appSecret: Redacted.make(appSecret), verifyToken: Redacted.make(verifyToken) }).pipe(
      Layer.provide(crypto)
    )
  )
)

const bytes = (text: string) => new TextEncoder().encode(text)

describe("the handshake", () => {
  const asked = { "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": verifyToken }

  it.effect("a handshake with the token gets the challenge", () =>
    Effect.gen(function*() {
      const { handshake, name } = yield* webhook
      assert.strictEqual(name, "whatsapp")
      assert.strictEqual(handshake(asked), "1158201444")
      assert.strictEqual(handshake({ ...asked, more: "x" }), "1158201444")
    }))

  it.effect("a handshake without the token, the mode or a challenge fails", () =>
    Effect.gen(function*() {
      const { handshake } = yield* webhook
      const { "hub.challenge": _challenge, ...unchallenged } = asked
      const { "hub.mode": _mode, ...modeless } = asked
      const { "hub.verify_token": _token, ...tokenless } = asked
      for (
        const query of [
          {},
          unchallenged,
          modeless,
          tokenless,
          { ...asked, "hub.mode": "unsubscribe" },
          { ...asked, "hub.verify_token": "" },
          { ...asked, "hub.verify_token": `${verifyToken} ` },
          { ...asked, "hub.verify_token": verifyToken.slice(0, -1) },
          { ...asked, "hub.verify_token": verifyToken.toUpperCase() }
        ]
      ) assert.isUndefined(handshake(query))
    }))

  it.effect("without a token or a secret of ours cannot be set up", () =>
    Effect.gen(function*() {
      for (const empty of [{ appSecret: Redacted.make("") }, { verifyToken: Redacted.make("") }]) {
        const agreed = { appSecret: Redacted.make(appSecret), verifyToken: Redacted.make(verifyToken), ...empty }
        const exit = yield* Effect.exit(Effect.provide(WhatsAppWebhook.make(agreed), crypto))
        assert.strictEqual(exit._tag, "Failure")
      }
    }))
})

describe("a signature", () => {
  // as Meta writes what is not ASCII
  const body = bytes(
    "{\"object\":\"whatsapp_business_account\",\"entry\":[{\"name\":\"Curr\\u00edculum \\ud83d\\ude2e \\/ @\"}]}"
  )
  const hex = createHmac("sha256", appSecret).update(body).digest("hex")
  const verify = (header: string | undefined, given: Uint8Array = body) =>
    Effect.flatMap(
      webhook,
      ({ verify }) => verify(given, (name) => name === "x-hub-signature-256" ? header : undefined)
    )

  it.effect("a signature is over the bytes as they came, in hexadecimal of either case", () =>
    Effect.gen(function*() {
      assert.isTrue(yield* verify(`sha256=${hex}`))
      assert.isTrue(yield* verify(`sha256=${hex.toUpperCase()}`))
      const rewritten = bytes(JSON.stringify(JSON.parse(new TextDecoder().decode(body))))
      assert.isFalse(yield* verify(`sha256=${hex}`, rewritten))
      assert.isFalse(yield* verify(`sha256=${hex}`, bytes("")))
    }))

  it.effect("a signature with another secret, changed bytes or another form is invalid", () =>
    Effect.gen(function*() {
      const other = createHmac("sha256", `${appSecret}0`).update(body).digest("hex")
      const sha1 = createHmac("sha1", appSecret).update(body).digest("hex")
      for (
        const header of [
          undefined,
          "",
          hex,
          "sha256=",
          `sha256=${other}`,
          `sha1=${sha1}`,
          `sha256=${sha1}`,
          `sha256=${hex}0`,
          `sha256=${hex.slice(2)}`,
          `sha256=${hex.slice(0, -1)}g`,
          `sha256=${hex},sha256=${hex}`,
          `sha256=${other}, sha256=${hex}`,
          `sha256=${hex}, sha256=${hex}`,
          ` sha256=${hex}\n`
        ]
      ) assert.isFalse(yield* verify(header), header ?? "none")
    }))

  it.effect.prop(
    "a signature covers every byte",
    { at: Schema.Int, bit: Schema.Int },
    ({ at, bit }) =>
      Effect.gen(function*() {
        const changed = body.slice()
        changed[Math.abs(at) % body.length]! ^= 1 << (Math.abs(bit) % 8)
        assert.isFalse(yield* verify(`sha256=${hex}`, changed))
      })
  )
})

describe("reading", () => {
  const read = (body: Uint8Array) => Effect.flatMap(webhook, (webhook) => webhook.read(body, now))

  it.effect("a post is read as its items", () =>
    Effect.gen(function*() {
      const text = message({ type: "text", text: { body: "Größe?" } })
      const items = yield* read(bytes(JSON.stringify(post(entry([conversation({ messages: [text] })])))))
      assert.deepStrictEqual(items.map(({ _tag }) => _tag), ["Message"])
    }))

  it.effect("bytes that are not a post fail with a message that contains nothing of them", () =>
    Effect.gen(function*() {
      for (
        const [body, message] of [
          ["", "it is not JSON"],
          ["{\"text\":\"my secret", "it is not JSON"],
          ["[".repeat(PlainJson.maxValues), "it is not JSON"],
          [`[${"0,".repeat(PlainJson.maxValues)}0]`, `it has more than ${PlainJson.maxValues} values`],
          ["{\"object\":\"my secret\"}", "it is not a WhatsApp webhook"],
          ["7", "it is not a WhatsApp webhook"]
        ] as const
      ) {
        const error = yield* Effect.flip(read(bytes(body)))
        assert.strictEqual(error._tag, "UnreadablePost")
        assert.strictEqual(error.message, message)
      }
    }))

  it.effect("a post that nests as deep as it is long is read", () =>
    Effect.gen(function*() {
      const depth = PlainJson.maxValues - 100
      const text = JSON.stringify(message({ type: "text", text: { body: "hi" } }))
      const metadata = "\"metadata\":{\"phone_number_id\":\"1\"}"
      const items = yield* read(bytes(
        `{"object":"whatsapp_business_account","entry":[${"[".repeat(depth)}${"]".repeat(depth)},` +
          `{"changes":[{"field":"messages","value":{${metadata},"messages":[${text}]}}]}]}`
      ))
      assert.deepStrictEqual(items.map(({ _tag }) => _tag), ["Skipped", "Message"])
    }))

  // the turns are counted and no time, so that the test holds on a machine of any speed
  it.live.each<readonly [what: string, change: Schema.Json]>([
    ["statuses", conversation({ statuses: Array.from({ length: 10_000 }, () => ({})) })],
    ["messages", conversation({ messages: Array.from({ length: 10_000 }, () => 0) })],
    ["errors", conversation({ errors: Array.from({ length: 10_000 }, () => []) })],
    ["items of an unknown kind", conversation({ later: Array.from({ length: 10_000 }, () => "") })]
  ])("a post of very many %s is read in many turns of the event loop", ([, change]) =>
    Effect.gen(function*() {
      let turns = 0
      let isReading = true
      const next = () => {
        turns++
        if (isReading) setImmediate(next)
      }
      setImmediate(next)
      const items = yield* read(bytes(JSON.stringify(post(entry([change])))))
      isReading = false
      assert.isAtLeast(items.length, 10_000)
      assert.isAtLeast(turns, Math.floor(items.length / WhatsAppWebhook.itemsAtOnce))
    }))

  it.effect("a post of as many values as Meta can have put into it is read", () =>
    Effect.gen(function*() {
      const status = {
        id: "wamid.x",
        status: "delivered",
        timestamp: "1700000000",
        recipient_id: "491700000000",
        biz_opaque_callback_data: "msg_01",
        conversation: { id: "x", origin: { type: "utility" } },
        pricing: { billable: true, pricing_model: "PMP", category: "utility", type: "regular" }
      }
      const statuses = Array.from({ length: 1000 }, () => status)
      const items = yield* read(bytes(JSON.stringify(post(entry([conversation({ statuses })])))))
      assert.lengthOf(items, 1000)
    }))

  it.effect.prop("any bytes are read or refused", { body: Schema.Uint8Array }, ({ body }) =>
    Effect.gen(function*() {
      const result = yield* Effect.result(read(body))
      assert.include(["Success", "Failure"], result._tag)
    }))
})
