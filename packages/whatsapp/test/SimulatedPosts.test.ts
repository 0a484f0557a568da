/**
 * What the simulated Cloud API posts, as it came over the wire.
 */
import { assert, describe, it } from "@effect/vitest"
import { type InboundItem, ProviderWebhook } from "@wac/core"
import { CloudApi, RecordingReceiver } from "@wac/testkit"
import { Clock, Effect, Layer, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import * as WhatsAppWebhook from "../src/WhatsAppWebhook.ts"

type Item = InboundItem.InboundItem

/** Everything that came of what the simulator was made to tell. */
const told = Effect.fnUntraced(function*(
  settings: CloudApi.Options["settings"],
  tell: (api: CloudApi.CloudApi) => Effect.Effect<unknown, string>
) {
  const receiver = yield* RecordingReceiver.make
  const api = yield* CloudApi.make({
    callback: receiver.url,
    settings: { batchLinger: 200, batchMost: 1000, numericTimestamps: 0.5, ...settings }
  })
  const { read, verify } = (yield* Effect.provide(
    ProviderWebhook.ProviderWebhook,
    WhatsAppWebhook.layer({
      appSecret: Redacted.make(api.identity.appSecret),
      verifyToken: Redacted.make(api.identity.verifyToken)
    }).pipe(Layer.provide(Mac.layerWebCrypto), Layer.provide(SecureRandom.layerWebCrypto))
  ))!
  yield* tell(api)
  yield* api.courier.settled
  const items: Array<Item> = []
  const now = yield* Clock.currentTimeMillis
  for (const { body, headers } of yield* receiver.requests) {
    assert.isTrue(yield* verify(body, (name) => headers[name]))
    items.push(...yield* read(body, now))
  }
  return items
})

const messages = (items: ReadonlyArray<Item>) => items.flatMap((item) => item._tag === "Message" ? [item.message] : [])

const from = "+15550100123"

describe("the simulated Cloud API", () => {
  it.live("has its messages of each kind read, in posts of any shape", () =>
    Effect.gen(function*() {
      for (const batchShape of ["value", "changes", "entries"] as const) {
        const items = yield* told(
          { batchShape, userIds: true, omitContacts: 0.5, jitter: 0 },
          ({ receive }) =>
            Effect.forEach([
              "text",
              "button",
              "button_reply",
              "list_reply",
              "flow_reply",
              "reaction",
              "unreaction",
              "image",
              "audio",
              "video",
              "document",
              "sticker",
              "location",
              "contacts",
              "order",
              "referral",
              "edit",
              "unsupported",
              "revoke",
              "request_welcome",
              "identity"
            ], (kind) => receive({ kind, from }))
        )
        assert.sameMembers(messages(items).map(({ type }) => type), [
          "text",
          "button",
          "interactive",
          "interactive",
          "interactive",
          "reaction",
          "reaction",
          "image",
          "audio",
          "video",
          "document",
          "sticker",
          "location",
          "contacts",
          "order",
          "text",
          "unsupported",
          "unsupported"
        ])
        assert.sameMembers(items.flatMap((item) => item._tag === "Skipped" ? [item.kind] : []), [
          "message:revoke",
          "message:request_welcome",
          "system:customer_identity_changed"
        ])
        for (const { at, customer, late, providerNumberId } of messages(items)) {
          assert.strictEqual(customer.phone, from)
          assert.isString(customer.userId)
          assert.isFalse(late)
          assert.isAtMost(Math.abs(at - (yield* Clock.currentTimeMillis)), 30_000)
          assert.strictEqual(providerNumberId, CloudApi.identity.numbers[0].id)
        }
        const texts = messages(items).filter(({ type }) => type === "text").map(({ content }) => content)
        assert.deepInclude(texts, { body: "Olá! Is my order <42> on its way? 📦 a@b.example 100%" })
      }
    }).pipe(Effect.scoped))

  it.live("has customers without a number, wishes and moves read", () =>
    Effect.gen(function*() {
      const items = yield* told({}, ({ move, prefer, receive }) =>
        Effect.all([
          receive({ userId: "US.13491208655302741918", username: "ana", text: "stop" }),
          receive({ from, at: 1_600_000_000_000 }),
          prefer(from, "stop"),
          prefer(from, "resume"),
          move(from, "+15550100999")
        ]))
      const [first, second] = messages(items)
      assert.deepInclude(first, {
        customer: { phone: null, userId: "US.13491208655302741918" },
        preference: "opt_out",
        late: false
      })
      assert.deepInclude(second, { at: 1_600_000_000_000, late: true })
      const wishes = items.flatMap((item) => item._tag === "Preference" ? [[item.customer.phone, item.preference]] : [])
      assert.deepStrictEqual(wishes, [[from, "opt_out"], [from, "opt_in"]])
      const moves = items.flatMap((item) => item._tag === "CustomerMoved" ? [[item.from.phone, item.to.phone]] : [])
      assert.deepStrictEqual(moves, [[from, "+15550100999"]])
    }).pipe(Effect.scoped))

  it.live("has changes of its numbers and templates read", () =>
    Effect.gen(function*() {
      const { account, numbers: [{ id }] } = CloudApi.identity
      const template = { name: "spring_sale", language: "pt_BR" }
      const items = yield* told({}, ({ alert, changeNumber, changeTemplate, complain }) =>
        Effect.all([
          changeNumber(id, { throughput: { level: "HIGH" } }),
          changeNumber(id, { whatsapp_business_manager_messaging_limit: "TIER_10K" }),
          changeNumber(id, { status: "FLAGGED" }),
          changeTemplate(template),
          changeTemplate({ ...template, status: "PAUSED" }),
          changeTemplate({ ...template, quality: "RED" }),
          changeTemplate({ ...template, category: "MARKETING" }),
          complain({ code: 131048 }),
          complain({ code: 130429 }),
          alert({})
        ]))
      const phoneNumber = { phoneNumber: "+15550783881" }
      const changes = items.flatMap((item) => item._tag === "Number" ? [[item.number, item.change]] : [])
      const [, , , , [, blocked]] = changes as [unknown, unknown, unknown, unknown, [unknown, { block: object }]]
      assert.deepInclude(blocked.block, { reason: "quality" })
      assert.deepStrictEqual<unknown>(changes, [
        [phoneNumber, { tier: "high" }],
        [phoneNumber, { messagingLimit: 10_000 }],
        [{ providerAccountId: account }, { messagingLimit: 10_000 }],
        [phoneNumber, { quality: "red", messagingLimit: 10_000 }],
        [{ providerNumberId: id }, blocked]
      ])
      const templates = items.flatMap((item) =>
        item._tag === "Template" ? [[item.name, item.language, item.change]] : []
      )
      assert.deepStrictEqual<unknown>(templates, [
        ["spring_sale", "pt_BR", { status: "approved", rejectionReason: null, category: "utility" }],
        ["spring_sale", "pt_BR", { status: "paused", rejectionReason: null, category: "utility" }],
        ["spring_sale", "pt_BR", { quality: "red" }],
        ["spring_sale", "pt_BR", { category: "marketing" }]
      ])
      assert.sameMembers(items.flatMap((item) => item._tag === "Skipped" ? [item.kind] : []), [
        "error:130429",
        "account_alerts:increased_capabilities_eligibility_deferred"
      ])
    }).pipe(Effect.scoped))
})
