/**
 * The message objects of Meta's OpenAPI document and the samples of `fixtures`, walked both ways: what they say is sent as
 * they have it, and taken with no field lost but Meta's own media ids and addresses. And the answers of both.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Id, type InboundItem, Message, Template, TemplateSlots } from "@wac/core"
import { Predicate, Result, Schema } from "effect"
import * as fs from "node:fs"
import * as NumberInfo from "../src/NumberInfo.ts"
import * as Payload from "../src/Payload.ts"
import * as SendRequest from "../src/SendRequest.ts"
import * as SendResponse from "../src/SendResponse.ts"
import * as TemplateList from "../src/TemplateList.ts"
import * as WebhookPost from "../src/WebhookPost.ts"
import { send, template } from "./samples.ts"

type Json = ReturnType<typeof JSON.parse>

const fixture = (name: string): Json =>
  JSON.parse(fs.readFileSync(new URL(`fixtures/${name}`, import.meta.url), "utf8"))

const decode = Schema.decodeUnknownResult(Message.OutboundMessage)

const media = "med_01ARZ3NDEKTSV4RRFFQ69G5FAV" as Id.MediaId
const quoted = "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"

/** An example with its blanks filled in. */
const filled = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(filled)
  if (typeof json === "object" && json !== null) {
    return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, filled(value)]))
  }
  if (typeof json !== "string") return json
  if (/Phone-Number|^16315/.test(json)) return "+16505551234"
  if (/^<?http\(s\)/.test(json)) return "https://files.example/a"
  if (json === "language-and-locale-code") return "en_US"
  return json === "<HEADER_TYPE>" ? "text" : json
}

/** What of an example is no part of the message, or is a blank that Meta fills itself. */
const notOfMessage = new Set(["messaging_product", "recipient_type", "product_policy", "message_activity_sharing"])

/** Examples that are no message as Meta takes it now. */
const exceptions: { readonly [name: string]: string } = {
  "Send Sample Issue Resolution Template": "its buttons have truth values in the place of payloads",
  "Send typing indicator and read receipt": "is no message: see ReadRequest"
}

const file = ({ id, ...rest }: Json): Json => ({ ...(id === undefined ? {} : { media }), ...rest })

const files = ["image", "video", "audio", "document", "sticker"]

const header = (parameter: Json): Json => ({
  [parameter.type]: files.includes(parameter.type) ? file(parameter[parameter.type]) : parameter[parameter.type]
})

const value = ({ parameter_name: _, type, ...rest }: Json): Json => type === "text" ? rest.text : rest

const button = ({ index, parameters: [parameter], sub_type }: Json): Json => ({
  index: Number(index),
  ...(sub_type === "quick_reply"
    ? { payload: parameter.payload }
    : parameter.action?.thumbnail_product_retailer_id !== undefined
    ? { thumbnailProductRetailerId: parameter.action.thumbnail_product_retailer_id }
    : { flowToken: parameter.action.flow_token, flowData: parameter.action.flow_action_data })
})

const buttonTypes: { readonly [type: string]: string } = {
  quick_reply: "QUICK_REPLY",
  flow: "FLOW",
  CATALOG: "CATALOG"
}

/** A template that an example fills. */
const templateFor = ({ components = [], name }: Json): Template.Template => {
  const of = (type: string): Json => components.find((component: Json) => component.type === type)
  const listed = [
    ...(of("header") === undefined
      ? []
      : [{ type: "HEADER", format: of("header").parameters[0].type.toUpperCase() }]),
    { type: "BODY", text: (of("body")?.parameters ?? []).map((_: Json, i: number) => `{{${i + 1}}}`).join(" ") },
    {
      type: "BUTTONS",
      buttons: components.filter(({ type }: Json) => type === "button").map(({ sub_type }: Json) => ({
        type: buttonTypes[sub_type]
      }))
    }
  ]
  const known = { category: "marketing", components: listed }
  return {
    ...template,
    ...known,
    name,
    variables: Template.variablesOf(listed),
    unfillable: TemplateSlots.unfillableOf(known)
  }
}

/** An example as our callers write it. */
const ours = (example: Json): Json => {
  const { context, to, type } = example
  const content = example[type]
  const addressed = { to, type, ...(context === undefined ? {} : { context: { message_id: quoted } }) }
  if (type === "template") {
    const components: ReadonlyArray<Json> = content.components ?? []
    const of = (name: string) => components.find((component) => component.type === name)?.parameters
    const buttons = components.filter((component) => component.type === "button").map(button)
    return {
      ...addressed,
      template: {
        name: content.name,
        language: content.language.code,
        ...(of("header") === undefined ? {} : { header: header(of("header")[0]) }),
        ...(of("body") === undefined ? {} : { bodyParams: of("body").map(value) }),
        ...(buttons.length === 0 ? {} : { buttons })
      }
    }
  }
  if (type === "text") {
    const { preview_url, ...text } = content
    return { ...addressed, text: { ...text, ...(preview_url === undefined ? {} : { previewUrl: preview_url }) } }
  }
  if (type === "reaction") return { ...addressed, reaction: { ...content, message_id: quoted } }
  return { ...addressed, [type]: files.includes(type) ? file(content) : content }
}

/** Numbers of buttons as text, words in small letters, and what Meta takes for granted. */
const normal = ({ type, ...example }: Json): Json => {
  const body: Json = Object.fromEntries(
    Object.entries<Json>({ ...example, type }).filter(([name]) => !notOfMessage.has(name))
  )
  if (type === "text") return { ...body, text: { preview_url: false, ...body.text } }
  if (type !== "template" || body.template.components === undefined) return body
  const components = body.template.components.map((component: Json) => ({
    ...component,
    ...(component.index === undefined ? {} : { index: `${component.index}` }),
    ...(component.sub_type === undefined ? {} : { sub_type: component.sub_type.toLowerCase() })
  }))
  return { ...body, template: { ...body.template, components } }
}

describe("every message object of Meta's OpenAPI document", () => {
  const examples = Object.entries<Json>(fixture("sends.json"))

  it.each(examples.filter(([name]) => !(name in exceptions)))("%s is sent as it is", (_name, given) => {
    // some leave out what they are
    const example = { type: "interactive" in given ? "interactive" : "text", ...filled(given) }
    const written = ours(example)
    const read = decode(written, { onExcessProperty: "error" })
    const message = Result.isSuccess(read) ? read.success : assert.fail(`${JSON.stringify(written)} ${read.failure}`)
    const name = example.context?.message_id ?? example.reaction?.message_id ?? null
    const file = example[example.type]?.id
    const { biz_opaque_callback_data: _reference, ...body } = SendRequest.bodyOf(send(message, {
      template: example.type === "template" ? templateFor(example.template) : undefined,
      refers: { quoted: name, mediaIds: new Map(file === undefined ? [] : [[media, file]]) }
    }))
    assert.deepStrictEqual(normal(body), normal(example))
  })

  it("the document has 53 messages, and every exception is one of them", () => {
    assert.lengthOf(examples, 53)
    assert.sameMembers(Object.keys(exceptions), examples.map(([name]) => name).filter((name) => name in exceptions))
  })
})

/** Words and numbers of a value, wherever they stand. Telephone numbers have their plus, and numbers are text. */
const leaves = (json: unknown): ReadonlyArray<string> => {
  if (Array.isArray(json)) return json.flatMap(leaves)
  if (Predicate.isObject(json)) return Object.values(json).flatMap(leaves)
  if (typeof json === "string" && /^\{.*\}$/s.test(json)) return leaves(JSON.parse(json))
  return json === null || json === undefined || json === "" ? [] : [`${json}`.replace(/^\+/, "")]
}

/** What Meta's files are called by Meta alone, and where its errors are explained. */
const withoutNames = (json: Json, inFile = false): Json =>
  Array.isArray(json)
    ? json.map((element) => withoutNames(element))
    : typeof json === "object" && json !== null
    ? Object.fromEntries(
      Object.entries<Json>(json)
        .filter(([name]) => !(inFile && (name === "id" || name === "url")) && name !== "href")
        // we write digests in hexadecimal
        .map(([name, value]) =>
          inFile && name === "sha256" && Buffer.from(value, "base64").length === 32
            ? [name, Buffer.from(value, "base64").toString("hex")]
            : [name, withoutNames(value, files.includes(name))]
        )
    )
    : json

/** Whether each leaf is somewhere in what was read: on its own, or within a sentence that Meta's words became a part of. */
const assertKept = (what: Json, items: ReadonlyArray<InboundItem.InboundItem>, where: string) => {
  const kept = leaves(items)
  for (const leaf of leaves(what)) {
    const seconds = /^\d{10}$/.test(leaf) ? `${leaf}000` : leaf
    const words = leaf.replace(/\.$/, "")
    assert.isTrue(kept.some((one) => one === leaf || one === seconds || one.includes(words)), `${where}: ${leaf}`)
  }
}

/** What is said of a message beside what the customer said: our own words take its place. */
const message = ({ system, ...rest }: Json): Json => {
  const { body: _, type: __, ...moved } = system ?? {}
  return withoutNames(system === undefined ? rest : { from: rest.from, timestamp: rest.timestamp, moved })
}

/** Of a status: who is meant is known from the message, and a failure is told in our words and Meta's. */
const status = (
  { biz_opaque_callback_data: _, conversation: __, pricing, recipient_id: ___, recipient_user_id: ____, ...rest }: Json
): Json => withoutNames({ ...rest, ...(pricing === undefined ? {} : { pricing }) })

/** 2030-01-01: no sample is of later. */
const afterAll = 1_893_456_000_000

/** What no post of Meta's looks like: messages without an id, or with words in the place of numbers. */
const incomplete = new Set(["chatwoot-document-accented.json", "kapso-all-fields.json"])

describe("every post of Meta's OpenAPI document and of others' samples", () => {
  const posts: ReadonlyArray<readonly [name: string, post: Json]> = [
    ...Object.entries<Json>(fixture("posts.json")),
    ...fs.readdirSync(new URL("fixtures/posts", import.meta.url)).map((name) =>
      [name, fixture(`posts/${name}`)] as const
    )
  ]

  it("there are more than 40 posts", () => {
    assert.isAbove(posts.length, 40)
  })

  it.each(posts)("%s is taken with no field lost", (name, post) => {
    for (const entry of post.entry) {
      for (const change of entry.changes) {
        // some samples leave out which number of ours it is
        const value = { metadata: { phone_number_id: "1" }, ...change.value }
        const told = { ...post, entry: [{ ...entry, changes: [{ ...change, value }] }] }
        const items = [
          ...WebhookPost.read(Payload.parse(JSON.stringify(told)), afterAll) ?? assert.fail("it is no post")
        ]
        assert.isNotEmpty(items)
        if (incomplete.has(name)) continue
        const { messages = [], statuses = [] } = change.value
        for (const one of messages) assertKept(message(one), items, name)
        for (const one of statuses) assertKept(status(one), items, name)
        for (const { profile, user_id, wa_id } of messages.length === 0 ? [] : change.value.contacts ?? []) {
          // one sample has words in the place of the number
          assertKept({ profile, user_id, wa_id: /^\d+$/.test(wa_id) ? wa_id : undefined }, items, name)
        }
      }
    }
  })
})

describe("every answer of Meta's documents", () => {
  const sent = (answer: Json) => {
    const outcome = SendResponse.outcomeOf(
      { _tag: "Answered", status: 200, json: answer, regainAfter: undefined },
      undefined
    )
    const { wa_id } = answer.contacts[0]
    assert.deepStrictEqual(outcome, {
      _tag: "Accepted",
      providerMessageId: answer.messages[0].id,
      recipient: { phone: `+${wa_id}`, userId: null }
    })
  }
  const refused = (answer: Json) => {
    const { code, error_data, error_subcode, message } = answer.error
    const error = SendResponse.errorOf(answer, []) ?? assert.fail("it is no error")
    assert.deepInclude(error, { code, subcode: error_subcode })
    assert.include(error.message, message.replace(/^\(#\d+\) /, ""))
    assert.include(error.message, error_data.details)
  }
  const read: { readonly [name: string]: (answer: Json) => void } = {
    "meta-send-response.json": sent,
    "meta-marketing-response-successful-response.json": sent,
    "metadocs-error-100.json": refused,
    "metadocs-error-130429.json": refused,
    "metadocs-messaging-limit.json": (answer: Json) =>
      assert.deepStrictEqual(NumberInfo.read(answer, 0).change, { messagingLimit: 250 }),
    "meta-template-list-response.json": ({ data }: Json) => {
      for (const one of data) {
        const { category, components, id, language, name, status } = one
        assert.deepInclude(TemplateList.templateOf(one), {
          providerTemplateId: id,
          name,
          language,
          category: category.toLowerCase(),
          status: status.toLowerCase(),
          components
        })
      }
    },
    // the answer to a question for fewer fields than we need
    "metadocs-template-list-page.json": ({ data }: Json) => {
      for (const one of data) {
        assert.isUndefined(TemplateList.templateOf(one))
        const { category, id, name, status } = one
        assert.deepInclude(TemplateList.templateOf({ ...one, language: "en_US" }), {
          providerTemplateId: id,
          name,
          category: category.toLowerCase(),
          status: status.toLowerCase()
        })
      }
    }
  }

  it.each(fs.readdirSync(new URL("fixtures/answers", import.meta.url)))("%s is understood", (name) => {
    read[name]!(fixture(`answers/${name}`))
  })
})
