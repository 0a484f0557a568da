/**
 * Every event that the core builds is one that the API definition describes, without a field that it does not name.
 */
import { assert, describe, it } from "@effect/vitest"
import { Campaign, Event, type Id, InboundMessage, Message, type ProviderWebhook } from "@wac/core"
import * as CampaignEvent from "@wac/core/campaigns/CampaignEvent"
import { WhatsAppWebhook } from "@wac/whatsapp"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import * as fs from "node:fs"
import { ReceivedContentByType } from "../src/events/ReceivedContent.ts"
import { RecordedEvent } from "../src/events/RecordedEvent.ts"

/** Any part of a post. */
type Json = ReturnType<typeof JSON.parse>

const decode = Schema.decodeUnknownSync(RecordedEvent, { onExcessProperty: "error" })

/** Asserts that an event is described, as receivers read it. */
const assertDescribed = (event: Event.Event) => {
  const wire = JSON.parse(Event.body(event, "combined"))
  assert.deepStrictEqual<unknown>(decode(wire), wire)
}

const now = 1_772_366_400_000
const id = "00000000000000000000000001"
const workspaceId = `ws_${id}` as Id.WorkspaceId
const recorded = { id: `evt_${id}` as Id.EventId, createdAt: now }

const unsent = (reference: object = {}) =>
  Message.unsent({
    id: `msg_${id}` as Id.MessageId,
    workspaceId,
    apiKeyId: null,
    campaignId: null,
    variant: null,
    phoneNumberId: `pn_${id}` as Id.PhoneNumberId,
    from: "+12025550100",
    content: { to: "+12025550123", type: "text", text: { body: "Hello" }, ...reference },
    createdAt: now,
    status: "sending"
  })

const statuses = ["sent", "delivered", "read", "failed"] as const

const report = (status: (typeof statuses)[number], more: Partial<Message.Report> = {}): Message.Report => ({
  status,
  at: now,
  providerMessageId: "wamid.1",
  error: status === "failed" ? Message.notSent : null,
  ...more
})

describe("every event is as the API definition describes it", () => {
  const pricings = [
    undefined,
    { billable: true, model: "PMP", type: "regular", category: "utility" },
    { billable: null, model: "CBP", type: "", category: "service" }
  ]
  const errors = [
    Message.notSent,
    Message.deliveryUnknown,
    { code: "forbidden", message: "refused", provider: { code: "131047", message: "Re-engagement message" } }
  ]

  it.each(statuses)("events of messages reported as %s are as described, first or after another report", (status) => {
    const befores = [undefined, ...statuses]
    let events = 0
    for (const before of befores) {
      for (const pricing of pricings) {
        for (const error of errors) {
          for (const reference of [{}, { clientReference: "order 7" }]) {
            for (const providerMessageId of [null, "wamid.1"]) {
              const told = report(status, {
                providerMessageId,
                ...(pricing === undefined ? {} : { pricing }),
                ...(status === "failed" ? { error } : {})
              })
              const first = before === undefined
                ? unsent(reference)
                : Message.apply(unsent(reference), report(before), now).message
              const { message, transitions } = Message.apply(first, told, now)
              const ids = { events: transitions.map(() => recorded.id) }
              const moved = Event.ofTransitions(message, transitions, ids, now)
              moved.events.forEach(assertDescribed)
              events += moved.events.length
            }
          }
        }
      }
    }
    assert.isAbove(events, 10)
  })

  it.each(Campaign.endings)("the event of a campaign that is %s is as described", (status) => {
    const campaign = Campaign.make(
      { id: `cmp_${id}` as Id.CampaignId, workspaceId, createdAt: now },
      { name: "Spring", template: { name: "promo", language: "en_US" } }
    )
    assertDescribed(CampaignEvent.ofCompleted({ ...campaign, status }, recorded))
  })

  it("the event of a webhook's test is as described", () => {
    assertDescribed(Event.ofTest({ id: `wh_${id}` as Id.WebhookId, workspaceId }, recorded))
  })
})

const fixtures = new URL("../../whatsapp/test/fixtures/", import.meta.url)

const read = (name: string) => JSON.parse(fs.readFileSync(new URL(name, fixtures), "utf8"))

const media = {
  id: "1",
  mime_type: "audio/ogg",
  sha256: "YWJj",
  caption: "See",
  url: "https://example.com/1",
  voice: true
}

/** What the samples have no message of: by type, and the kinds of some. */
const others: ReadonlyArray<readonly [type: string, content: unknown]> = [
  ["audio", media],
  ["video", { id: "1" }],
  ["document", { ...media, filename: "invoice.pdf" }],
  ["sticker", { ...media, animated: false }],
  ["location", { latitude: 52.52, longitude: 13.405, name: "Office", address: "1 Street", url: "https://example.com" }],
  ["interactive", { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json: "{\"size\":42}" } }],
  ["interactive", { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json: "{" } }],
  ["interactive", { type: "call_permission_reply", call_permission_reply: { response: "accept" } }],
  ["button", { payload: "STOP" }],
  ["edit", { original_message_id: "wamid.0", message: { type: "text", text: { body: "At noon" } } }],
  ["edit", { original_message_id: "wamid.0", message: { type: "image", image: media } }],
  ["edit", { original_message_id: "wamid.0", message: { type: "hologram", hologram: { id: 1 } } }],
  ["revoke", { original_message_id: "wamid.0" }],
  ["hologram", { id: 1 }],
  ["text", { words: "without a body" }]
]

const value = { messaging_product: "whatsapp", metadata: { display_phone_number: "12025550100", phone_number_id: "1" } }

const postOf = (field: string, told: object) => ({
  object: "whatsapp_business_account",
  entry: [{ id: "1", changes: [{ field, value: { ...value, ...told } }] }]
})

const party = { from: "12025550123", id: "wamid.1", timestamp: "1772366000" }

/** Every post of the WhatsApp provider's samples, and others. */
const posts: ReadonlyArray<readonly [name: string, post: unknown]> = [
  ...others.map(([type, content]) =>
    [
      `${type} ${JSON.stringify(content)}`,
      postOf("messages", {
        contacts: [{ wa_id: party.from, profile: { name: "Ana", username: "ana" }, user_id: "US.1" }],
        messages: [{
          ...party,
          type,
          [type]: content,
          context: { id: "wamid.0", from: "12025550100", forwarded: true }
        }]
      })
    ] as const
  ),
  ["in a group", postOf("messages", { messages: [{ ...party, group_id: "g", type: "text", text: { body: "Hi" } }] })],
  ["a call", postOf("calls", { calls: [{ ...party, event: "connect", direction: "USER_INITIATED" }] })],
  ...Object.entries(read("posts.json")),
  ...fs.readdirSync(new URL("posts", fixtures)).map((name) => [name, read(`posts/${name}`)] as const)
]

const webhook: Effect.Effect<ProviderWebhook.ProviderWebhook> = WhatsAppWebhook.make({
  appSecret: Redacted.make("secret"),
  verifyToken: Redacted.make("token")
}).pipe(Effect.provide(Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))))

const messageId = `msg_${id}` as Id.MessageId

/** A post with the id of one of our numbers, which some samples leave out. */
const named = (post: Json) => ({
  ...post,
  entry: post.entry.map((entry: Json) => ({
    ...entry,
    changes: entry.changes.map((change: Json) => ({
      ...change,
      value: { metadata: { phone_number_id: "1" }, ...change.value }
    }))
  }))
})

/** The events of the messages in a post, with our ids of files and of messages that are known, and without. */
const eventsOf = Effect.fnUntraced(function*(post: unknown) {
  const { read } = yield* webhook
  const items = yield* read(new TextEncoder().encode(JSON.stringify(named(post))), now)
  return items.filter((item) => item._tag === "Message").flatMap(({ message }) =>
    [undefined, messageId].flatMap((known) => {
      const told = InboundMessage.named(message, () => known)
      const own = told.file === undefined ? told : InboundMessage.withMedia(told, `med_${id}` as Id.MediaId)
      return [own, { ...own, isEcho: true }].map((one) =>
        Event.ofInbound(one, { workspaceId, phoneNumber: "+12025550100" }, { ...recorded, messageId })
      )
    })
  )
})

describe("every message of a customer is as the API definition describes it", () => {
  it.effect.each(posts)("%s", ([, post]) =>
    Effect.gen(function*() {
      const events = yield* eventsOf(post)
      events.forEach(assertDescribed)
    }))

  it.effect("the posts have every type of content", () =>
    Effect.gen(function*() {
      const events = (yield* Effect.forEach(posts, ([, post]) => eventsOf(post))).flat()
      const types = new Set(events.map(({ data }) => data["type"]))
      assert.deepStrictEqual([...types].sort(), Object.keys(ReceivedContentByType.fields).sort())
    }))
})
