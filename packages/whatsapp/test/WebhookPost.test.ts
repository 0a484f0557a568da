import { assert, describe, it } from "@effect/vitest"
import type { InboundItem } from "@wac/core"
import { SeededRandom } from "@wac/testkit"
import { Predicate, Schema } from "effect"
import * as Payload from "../src/Payload.ts"
import * as WebhookPost from "../src/WebhookPost.ts"
import {
  account,
  ana,
  change,
  conversation,
  entry,
  type Json,
  message,
  now,
  number,
  post,
  product,
  read,
  readPost,
  secondsAgo,
  skipped,
  status
} from "./posts.ts"

const text = (id: string) => message({ id, type: "text", text: { body: "hi" } })

/** Ids of messages and statuses, and kinds of what was passed over, in order. */
const outline = (items: ReadonlyArray<InboundItem.InboundItem>) =>
  items.map((item) =>
    item._tag === "Message"
      ? item.message.providerMessageId
      : item._tag === "Status"
      ? item.report.providerMessageId
      : item._tag === "Skipped"
      ? item.kind
      : item._tag
  )

describe("a post", () => {
  it("a post yields the items of every entry and change, in order", () => {
    const items = readPost(post(
      entry([
        conversation({ contacts: [ana], messages: [text("m1"), text("m2")], statuses: [status({ id: "s1" })] }),
        change("security", { event: "PIN_CHANGED" }),
        conversation({ statuses: [status({ id: "s2" }), status({ id: "s3" })] })
      ]),
      entry([change("message_template_components_update", {})], now / 1000),
      entry([conversation({ messages: [text("m3")] })])
    ))
    assert.deepStrictEqual(outline(items), [
      "m1",
      "m2",
      "s1",
      "security:pin_changed",
      "s2",
      "s3",
      "TemplatesChanged",
      "m3"
    ])
  })

  it("a post with 1,000 items yields the same results as 1,000 posts with one item", () => {
    const statuses = Array.from({ length: 1000 }, (_, i) => status({ id: `wamid.out.${i}`, status: "read" }))
    const items = read({ statuses })
    assert.lengthOf(items, 1000)
    assert.deepStrictEqual(items[999], read({ statuses: [statuses[999]!] })[0])
  })

  it("a post with 1,000 customers keeps each message with its customer", () => {
    const contacts = Array.from({ length: 1000 }, (_, i) => ({ wa_id: `1555702${1000 + i}`, user_id: `US.${i}` }))
    const messages = contacts.map(({ wa_id }, i) =>
      message({ id: `m${i}`, from: wa_id, type: "text", text: { body: "hi" } })
    )
    const customers = read({ contacts, messages }).map((item) => item._tag === "Message" && item.message.customer)
    assert.deepStrictEqual(customers, contacts.map(({ user_id, wa_id }) => ({ phone: `+${wa_id}`, userId: user_id })))
  })

  it("an item that is twice in a post is returned twice", () => {
    assert.deepStrictEqual(outline(read({ messages: [text("m1"), text("m1")] })), ["m1", "m1"])
  })

  it("routes every item by the number that its change names", () => {
    const other = { ...product, metadata: { phone_number_id: 42 }, messages: [text("m2")] }
    const numbers = readPost(post(entry([conversation({ messages: [text("m1")] }), change("messages", other)])))
      .map((item) => item._tag === "Message" && item.message.providerNumberId)
    assert.deepStrictEqual(numbers, [number, "42"])
  })

  it("items of several kinds are read from one value", () => {
    const items = read({
      messages: [text("m1")],
      message_echoes: [{ id: "e1" }],
      statuses: [status({ id: "s1" })],
      calls: [{ id: "c1" }, { id: "c2" }, { id: "c3", from: ana.wa_id }],
      errors: [{ code: 130429, title: "Rate limit hit" }],
      user_preferences: [{ wa_id: ana.wa_id, value: "stop" }],
      "<b>new</b>": [{}]
    })
    assert.deepStrictEqual(outline(items), [
      "m1",
      "s1",
      "error:130429",
      "Preference",
      "call:without_sender",
      "call:without_sender",
      "c3",
      "messages:message_echoes",
      "messages:other"
    ])
  })

  it("a post of the field user_id_update has a customer's user ids before and after, with their parents", () => {
    const update = (fields: { readonly [name: string]: Json }) =>
      readPost(post(entry([change("user_id_update", {
        ...product,
        contacts: [{ profile: { name: "A" } }],
        user_id_update: [{ detail: "User id for A has been updated.", timestamp: secondsAgo(60), ...fields }]
      })])))
    const moved = (from: object, to: object) => [{
      _tag: "CustomerMoved",
      providerNumberId: number,
      from,
      to,
      at: now - 60_000
    }]
    const user_id = { previous: "CO.880001", current: "CO.880002" }
    const [from, to] = ["CO.880001", "CO.880002"].map((userId) => ({ phone: null, userId }))
    assert.deepStrictEqual<unknown>(update({ user_id }), moved(from!, to!))
    const parent_user_id = { previous: "CO.ENT.1", current: "CO.ENT.2" }
    assert.deepStrictEqual<unknown>(
      update({ user_id, parent_user_id }),
      moved({ ...from, aliases: ["CO.ENT.1"] }, { ...to, aliases: ["CO.ENT.2"] })
    )
    assert.deepStrictEqual<unknown>(update({ user_id: { previous: "CO.1" } }), [skipped("user_id_update:incomplete")])
  })

  it("fields that are not supported are ignored, and nothing in them is read as a message", () => {
    const value = { ...product, messages: [text("m1")], history: [{ threads: [{ messages: [text("m2")] }] }] }
    for (
      const field of [
        "history",
        "smb_app_state_sync",
        "message_echoes",
        "standby",
        "partner_solutions",
        "payment_configuration_update"
      ]
    ) assert.deepStrictEqual(readPost(post(entry([change(field, value)]))), [skipped(`field:${field}`)])
    assert.deepStrictEqual(readPost(post(entry([change("a field of <b>", value)]))), [skipped("field:other")])
    assert.deepStrictEqual(readPost(post(entry([change("smb_message_echoes", value)]))), [
      skipped("smb_message_echoes:empty")
    ])
  })

  it("the name of a field is read from either of its places, and may be missing", () => {
    const value = { ...product, messages: [text("m1")] }
    assert.deepStrictEqual(outline(readPost(post(entry([{ value }])))), ["m1"])
    const security = { event: "PIN_CHANGED" }
    assert.deepStrictEqual(outline(readPost(post(entry([{ value: { ...security, field: "security" } }])))), [
      "security:pin_changed"
    ])
    assert.deepStrictEqual(
      outline(readPost({ entry: [{ id: account, field: "security", object: "x", changes: [{ value: security }] }] })),
      ["security:pin_changed"]
    )
  })

  it("empty posts, entries and changes are counted as ignored", () => {
    for (
      const entries of [[], [{}], [null], [{ changes: [] }], [{ changes: "x" }]] as ReadonlyArray<ReadonlyArray<Json>>
    ) {
      assert.deepStrictEqual(readPost(post(...entries)), [skipped(entries.length === 0 ? "post:empty" : "entry:empty")])
    }
    assert.deepStrictEqual(readPost(post(entry([null, {}, { field: "messages", value: 7 }]))), [
      skipped("change"),
      skipped("change"),
      skipped("change:messages")
    ])
  })

  it("a post of another product, or of none, cannot be read", () => {
    for (
      const json of [
        { object: "instagram", entry: [entry([])] },
        { object: "page" },
        { object: 7, entry: [] },
        {},
        [],
        [post()],
        null,
        "whatsapp_business_account",
        7
      ] as ReadonlyArray<Json>
    ) assert.isUndefined(WebhookPost.read(json, now))
  })
})

const complete: Json = post(
  entry([
    conversation({
      contacts: [ana],
      messages: [
        text("m1"),
        message({
          id: "m2",
          type: "button",
          button: { text: "Stop", payload: "p" },
          context: { id: "wamid.out.1", from: "1" }
        }),
        message({
          id: "m3",
          type: "interactive",
          interactive: { type: "nfm_reply", nfm_reply: { response_json: "{}" } }
        }),
        message({ id: "m4", type: "reaction", reaction: { message_id: "m1", emoji: "x" } }),
        message({ id: "m5", type: "image", image: { id: "1" }, referral: { source_id: "ad" } }),
        message({ id: "m6", type: "location", location: { latitude: 1, longitude: 2 } }),
        message({ id: "m7", type: "unsupported", errors: [{ code: 131051 }] }),
        message({ id: "m8", type: "system", system: { type: "user_changed_number", wa_id: "15557020099" } })
      ],
      statuses: [
        status({ id: "s1", biz_opaque_callback_data: "msg_01JQ8M6Z0V7QK3X9D2RS4TB5CN" }),
        status({ id: "s2", status: "failed", errors: [{ code: 131050, title: "t", error_data: { details: "d" } }] })
      ],
      errors: [{ code: 131048 }],
      user_preferences: [{ wa_id: ana.wa_id, value: "stop", category: "marketing_messages", timestamp: 1 }]
    })
  ]),
  entry([
    change("account_update", {
      event: "ACCOUNT_RESTRICTION",
      restriction_info: [{ restriction_type: "RESTRICTED_BIZ_INITIATED_MESSAGING", expiration: 1 }]
    }),
    change("account_review_update", { decision: "REJECTED" }),
    change("phone_number_quality_update", { display_phone_number: "1", event: "FLAGGED", current_limit: "TIER_1K" }),
    change("business_capability_update", { max_daily_conversations_per_business: "TIER_2K" }),
    change("message_template_status_update", {
      event: "REJECTED",
      message_template_name: "t",
      message_template_language: "en-US",
      reason: "SCAM"
    })
  ], now / 1000)
)

const latest = Date.UTC(10_000, 0)

/** What a storage could not hold, or an event could not be written with; undefined when there is nothing of it. */
const flaw = (u: unknown, name = ""): unknown => {
  if (Predicate.isString(u)) return u.isWellFormed() && !u.includes("\0") ? undefined : [name, u]
  if (Predicate.isNumber(u)) {
    const isTime = ["at", "since", "until"].includes(name)
    return Number.isFinite(u) &&
        (!isTime || (Number.isInteger(u) && u > 0 && u < (name === "until" ? latest : now + 1)))
      ? undefined
      : [name, u]
  }
  if (Array.isArray(u)) return u.map((element) => flaw(element)).find(Predicate.isNotUndefined)
  if (Predicate.isObject(u)) {
    return Object.entries(u).map(([key, value]) => flaw(key) ?? flaw(value, key)).find(Predicate.isNotUndefined)
  }
  return u === undefined || u === null || Predicate.isBoolean(u) ? undefined : [name, u]
}

/** Reads it, if it is a post, and fails for what could not be stored or counted. */
const check = (json: Json, name = ""): void => {
  const items = [...WebhookPost.read(Payload.parse(JSON.stringify(json)), now) ?? []]
  assert.isUndefined(flaw(items), name)
  for (const item of items) if (item._tag === "Skipped") assert.match(item.kind, /^[a-z_]{1,40}(:[a-z0-9_]{1,64})?$/)
}

/** What may stand anywhere. */
const oddities: ReadonlyArray<Json> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e18,
  Number.MAX_VALUE,
  "",
  " ",
  "\0",
  "\uD800",
  "x".repeat(600),
  "constructor",
  "__proto__",
  "toString",
  "131050",
  [],
  {},
  [null],
  [[]],
  { id: {} },
  { code: 1e300 },
  { constructor: null, __proto: 1 }
]

/** The same with some of its parts replaced, left out or doubled. */
const spoilt = (json: Json, random: SeededRandom.SeededRandom, chance: number): Json => {
  if (random.below(1000) < chance) return random.pick(oddities)
  if (Array.isArray(json)) {
    return json.flatMap((element) =>
      Array.from({ length: [0, 2][random.below(40)] ?? 1 }, () => spoilt(element, random, chance))
    )
  }
  return Predicate.isObject(json)
    ? Object.fromEntries(
      Object.entries(json).filter(() => random.below(60) > 0).map(([name, value]) => [
        random.below(80) === 0 ? random.pick(["__proto__", "constructor", "id", "type", "field"]) : name,
        spoilt(value as Json, random, chance)
      ])
    )
    : json
}

describe("whatever is posted", () => {
  it("read as it was meant holds every kind of item", () => {
    const tags = new Set(readPost(complete).map(({ _tag }) => _tag))
    assert.deepStrictEqual([...tags].sort(), ["CustomerMoved", "Message", "Number", "Preference", "Status", "Template"])
  })

  it.prop("any JSON is read or is no post, and what is read can be stored", { json: Schema.Json }, ({ json }) => {
    check(json)
    check(post(json))
    check(post({ changes: [json] }))
    check(post(entry([change("messages", json)])))
  })

  it("a post with anything in it spoilt is read, and what is read can be stored", () => {
    for (let seed = 0; seed < 1000; seed++) {
      check(spoilt(complete, SeededRandom.make(seed), [2, 10, 50][seed % 3]!), `seed ${seed}`)
    }
  })

  it("good items among spoilt ones are read as if they were alone", () => {
    const goodMessage = text("good.m")
    const goodStatus = status({ id: "good.s" })
    const isGood = (item: InboundItem.InboundItem) => outline([item])[0]?.startsWith("good.") === true
    const expected = read({ messages: [goodMessage], statuses: [goodStatus] })
    for (let seed = 0; seed < 1000; seed++) {
      const random = SeededRandom.make(seed)
      const spoil = (json: Json) => spoilt(json, random, 100)
      const broken = Array.from({ length: 4 }, () => spoil(text("bad.m")))
      const json = post(
        spoil(complete),
        entry([
          spoil(conversation({ messages: [text("bad.m")] })),
          conversation({
            messages: random.shuffle([...broken, goodMessage]),
            statuses: random.shuffle([...broken, spoil(status({ id: "bad.s" })), goodStatus]),
            errors: [spoil({ code: 1 })],
            calls: spoil([])
          }),
          spoil(null)
        ]),
        spoil(entry([]))
      )
      assert.deepStrictEqual(readPost(json).filter(isGood), expected, `seed ${seed}`)
    }
  })
})
