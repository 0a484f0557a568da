/**
 * At least three faults for each kind of message, over HTTP to the simulated Cloud API: what upstream refuses, and what it
 * accepts and then reports as failed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

type Json = ReturnType<typeof JSON.parse>

/** A content that goes wrong with this code; `later` if upstream accepts the message first. */
interface Fault {
  readonly content: Json
  readonly code: number
  readonly later?: true
}

const link = "https://files.example/a"
const nowhere = "https://files.invalid/a"
const x = (length: number) => "x".repeat(length)
const body = { text: "Which?" }
const reply = (id: string, title = "Yes") => ({ type: "reply", reply: { id, title } })
const buttons = (...buttons: ReadonlyArray<Json>) => ({ type: "button", body, action: { buttons } })
const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `${i}`, title: "Noon" }))
const flow = (flow_id: string, flow_message_version = "3") => ({
  type: "flow",
  body,
  action: { name: "flow", parameters: { flow_message_version, flow_id, flow_cta: "Book" } }
})
const template = (name: string, ...parameters: ReadonlyArray<Json>) => ({
  name,
  language: { code: "en_US" },
  ...(parameters.length === 0 ? {} : { components: [{ type: "body", parameters }] })
})

const missing: Fault = { content: {}, code: 100 }
const two: Fault = { content: { link, id: "1" }, code: 100 }
const noUrl: Fault = { content: { link: "ftp://files.example/a" }, code: 131009 }
const unknownFile: Fault = { content: { id: "42" }, code: 100 }
const unreachable: Fault = { content: { link: nowhere }, code: 131053, later: true }
/** An id that the test puts in place: an uploaded text. */
const text = { id: "TEXT" }
const wrongType: Fault = { content: text, code: 131053, later: true }
const longCaption: Fault = { content: { link, caption: x(1025) }, code: 100 }

/** The faults by kind. A kind with fewer than three does not compile. */
const faults: { readonly [Kind in Message.MessageType]: readonly [Fault, Fault, Fault, ...ReadonlyArray<Fault>] } = {
  template: [
    { content: template("no_such_template"), code: 132001 },
    { content: template("pending_review", { type: "text", text: "a" }), code: 132001 },
    { content: template("paused_offer"), code: 132015 },
    { content: template("disabled_offer"), code: 132016 },
    { content: template("order_update", { type: "text", text: "a" }), code: 132000 },
    { content: template("order_update", { type: "text", text: "a" }, { type: "text", text: x(1024) }), code: 132005 },
    { content: template("order_update", { type: "text", text: "a" }, { type: "image", image: { link } }), code: 132012 }
  ],
  text: [
    { content: {}, code: 131008 },
    { content: { body: "" }, code: 131008 },
    { content: { body: 7 }, code: 100 },
    { content: { body: x(4097) }, code: 100 }
  ],
  image: [missing, two, noUrl, unknownFile, unreachable, wrongType, longCaption],
  video: [missing, two, noUrl, unknownFile, unreachable, wrongType, longCaption],
  audio: [missing, two, noUrl, unknownFile, unreachable, wrongType, { content: { link, caption: "a" }, code: 100 }],
  document: [missing, two, noUrl, unknownFile, unreachable, longCaption],
  sticker: [missing, two, noUrl, unknownFile, unreachable, wrongType, { content: { link, caption: "a" }, code: 100 }],
  location: [
    { content: { longitude: 1 }, code: 131008 },
    { content: { latitude: 91, longitude: 1 }, code: 131009 },
    { content: { latitude: 1, longitude: "x" }, code: 131009 }
  ],
  contacts: [
    { content: {}, code: 100 },
    { content: [], code: 131008 },
    { content: [{ name: { formatted_name: "Ana" } }], code: 131008 },
    {
      content: Array.from({ length: 258 }, () => ({ name: { formatted_name: "Ana", first_name: "Ana" } })),
      code: 131009
    }
  ],
  interactive: [
    { content: { type: "hologram", body }, code: 100 },
    { content: buttons(), code: 131009 },
    { content: buttons(...["a", "b", "c", "d"].map((id) => reply(id))), code: 131009 },
    { content: buttons(reply("a"), reply("a")), code: 131009 },
    { content: buttons(reply("a", x(21))), code: 100 },
    {
      content: { ...buttons(reply("a")), header: { type: "image", image: { link: nowhere } } },
      code: 131053,
      later: true
    },
    { content: { type: "list", body, action: { button: "Times", sections: [{ rows: rows(11) }] } }, code: 131009 },
    { content: { type: "cta_url", body, action: { name: "cta_url", parameters: { url: link } } }, code: 131008 },
    { content: flow("1", "2"), code: 131009 },
    { content: flow("0"), code: 132068 },
    { content: { type: "product", body, action: { catalog_id: "0", product_retailer_id: "1" } }, code: 131009 },
    {
      content: {
        type: "product_list",
        header: { type: "text", text: "All" },
        body,
        action: { catalog_id: "1", sections: [{ title: "a", product_items: [{ product_retailer_id: "0" }] }] }
      },
      code: 131009
    },
    { content: { type: "carousel", body, action: { cards: [{ card_index: 0, type: "cta_url" }] } }, code: 131009 }
  ],
  reaction: [
    { content: { emoji: "👍" }, code: 131008 },
    { content: { message_id: "wamid.1" }, code: 131008 },
    { content: { message_id: "1", emoji: "👍" }, code: 131009 },
    { content: { message_id: "wamid.1", emoji: "👍👍" }, code: 131009 }
  ]
}

const to = "+16505551234"

const posted = (api: CloudApi.CloudApi, path: string, body: BodyInit, type?: string): Effect.Effect<Json> =>
  Effect.promise(async () => {
    const response = await fetch(`${api.url}/v25.0/${api.identity.numbers[0].id}/${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${api.identity.accessToken}`,
        ...(type === undefined ? {} : { "content-type": type })
      },
      body
    })
    return response.json()
  })

/** Uploads a text, and returns its id. */
const uploaded = (api: CloudApi.CloudApi) => {
  const form = new FormData()
  form.set("messaging_product", "whatsapp")
  form.set("file", new File(["words"], "a.txt", { type: "text/plain" }))
  return Effect.map(posted(api, "media", form), ({ id }) => String(id))
}

/** The codes with which messages failed, as webhooks report them. */
const failures = (api: CloudApi.CloudApi): ReadonlyArray<number> =>
  api.courier.told().flatMap(({ value }) =>
    ((value as Json).statuses ?? []).flatMap(({ errors = [] }: Json) => errors.map(({ code }: Json) => code))
  )

describe.each(Object.entries(faults))("the simulated Cloud API, sent a wrong %s,", (type, all) => {
  it.effect.each(all.map((fault) => [JSON.stringify(fault.content).slice(0, 100), fault] as const))(
    "answers or reports the code of upstream: %s",
    ([, { code, content, later }]) =>
      Effect.gen(function*() {
        const api = yield* CloudApi.make({ settings: { window: false } })
        const given = content === text ? { id: yield* uploaded(api) } : content
        const message = { messaging_product: "whatsapp", to, type, [type]: given }
        const answer = yield* posted(api, "messages", JSON.stringify(message), "application/json")
        if (later !== true) {
          assert.strictEqual(answer.error?.code, code, JSON.stringify(answer))
          return
        }
        assert.lengthOf(answer.messages, 1, JSON.stringify(answer))
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(failures(api), [code])
      })
  )
})

it("the faults are of every kind that a message may be", () => {
  assert.sameMembers(Object.keys(faults), Object.keys(Message.contents))
})
