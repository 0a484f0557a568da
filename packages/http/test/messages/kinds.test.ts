/**
 * Every kind of message as it comes over the wire: what is within upstream's limits is read, and what is beyond is
 * refused with the place of it.
 */
import { assert, describe, it } from "@effect/vitest"
import { MessagesApi } from "@wac/api"
import { KindFixture } from "@wac/testkit"
import { Result, Schema } from "effect"
import * as InvalidInput from "../../src/InvalidInput.ts"

type Json = ReturnType<typeof JSON.parse>

const to = "+15551234567"
const decode = Schema.decodeUnknownResult(MessagesApi.SendMessage)
const encode = Schema.encodeSync(MessagesApi.SendMessage)

/** What is wrong with a body; nothing if it is read. */
const refusal = (body: Json) =>
  Result.match(decode(body, { onExcessProperty: "error" }), {
    onSuccess: () => undefined,
    onFailure: ({ issue }) => InvalidInput.of({ kind: "Payload", issue }, body)
  })

const x = (length: number) => "x".repeat(length)
const link = "https://files.example/a"
const message = "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"
const media = "med_01ARZ3NDEKTSV4RRFFQ69G5FAV"
const body = { text: "Which?" }
const button = (id: string, title = "Yes") => ({ type: "reply", reply: { id, title } })
const buttons = (...buttons: ReadonlyArray<Json>) => ({ type: "button", body, action: { buttons } })
const row = (id: string, more: Json = {}) => ({ id, title: "Noon", ...more })
const list = (sections: Json, more: Json = {}) => ({
  type: "list",
  body,
  action: { button: "Times", sections },
  ...more
})
const rows = (count: number, from = 0) => Array.from({ length: count }, (_, i) => row(`${from + i}`))
const card = (card_index: number, more: Json = {}) => ({
  card_index,
  type: "cta_url",
  header: { type: "image", image: { link } },
  action: { name: "cta_url", parameters: { display_text: "Buy", url: "https://a.example" } },
  ...more
})
const carousel = (...cards: ReadonlyArray<Json>) => ({ type: "carousel", body, action: { cards } })
const flow = (parameters: Json) => ({
  type: "flow",
  body,
  action: { name: "flow", parameters: { flow_message_version: "3", flow_cta: "Book", ...parameters } }
})
const cta = (parameters: Json) => ({ type: "cta_url", body, action: { name: "cta_url", parameters } })
const template = (more: Json) => ({ name: "sale", language: "en_US", ...more })
const name = { formatted_name: "Ana Doe", first_name: "Ana" }

describe("a message of every kind", () => {
  it.each(KindFixture.messages(to).map((message) => [KindFixture.nameOf(message), message] as const))(
    "%s is read as it was written",
    (_, message) => {
      const written = encode(message)
      assert.isUndefined(refusal(written)?.message)
      assert.deepStrictEqual(Result.getOrThrow(decode(written)), message)
    }
  )

  it.each(KindFixture.templates)("template $template.name is decoded unchanged", ({ content, template }) => {
    const { language, name } = template
    const message = { to, type: "template", template: { name, language, ...content } } as const
    assert.deepStrictEqual(Result.getOrThrow(decode(encode(message), { onExcessProperty: "error" })), message)
  })

  it.each<[type: string, content: Json]>([
    ["image", { media, caption: x(1024) }],
    ["document", { link, caption: "😀".repeat(1024), filename: x(240) }],
    ["interactive", buttons(button(x(256), x(20)), button("b"), button("c"))],
    ["interactive", list([{ rows: rows(10) }], { body: { text: x(4096) }, footer: { text: x(60) } })],
    ["interactive", list([{ title: x(24), rows: rows(4) }, { title: "b", rows: rows(6, 4) }])],
    ["interactive", carousel(...Array.from({ length: 10 }, (_, i) => card(i, { body: { text: x(160) } })))],
    ["interactive", cta({ display_text: x(20), url: "http://a.example" })],
    ["reaction", { message_id: message, emoji: "" }],
    ["reaction", { message_id: message, emoji: "👩🏽‍🚀" }],
    ["reaction", { message_id: message, emoji: "❤" }],
    ["reaction", { message_id: message, emoji: "🇧🇷" }],
    ["location", { latitude: -90, longitude: 180 }]
  ])("%s may be as large as upstream takes it: %j", (type, content) => {
    assert.isUndefined(refusal({ to, type, [type]: content })?.message)
  })

  it("every kind except reactions and templates can quote a message", () => {
    const context = { message_id: message }
    assert.isUndefined(refusal({ to, type: "image", image: { link }, context }))
    for (
      const other of [
        { type: "reaction", reaction: { message_id: message, emoji: "👍" } },
        { type: "template", template: { name: "a", language: "en" } }
      ]
    ) {
      assert.deepInclude(refusal({ to, ...other, context }), { reason: "unknown_field", param: "context" })
    }
  })
})

describe("an invalid message is refused with the path of the field", () => {
  it.each<[type: string, content: Json, reason: string, param: string]>([
    ["image", {}, "invalid_field", "image"],
    ["image", { link, media }, "invalid_field", "image.link"],
    ["image", { link: "http://files.example/a" }, "invalid_field", "image.link"],
    ["image", { link: `https://files.example/${x(2048)}` }, "invalid_field", "image.link"],
    ["image", { link: "https://files.example/a b" }, "invalid_field", "image.link"],
    ["image", { media: "1013859600285441" }, "invalid_field", "image.media"],
    ["image", { id: "1013859600285441" }, "unknown_field", "image.id"],
    ["image", { link, caption: x(1025) }, "invalid_field", "image.caption"],
    ["image", { link, caption: "" }, "invalid_field", "image.caption"],
    ["audio", { link, caption: "no" }, "unknown_field", "audio.caption"],
    ["audio", { link, voice: "yes" }, "invalid_field", "audio.voice"],
    ["video", { link, filename: "a.mp4" }, "unknown_field", "video.filename"],
    ["document", { link, filename: x(241) }, "invalid_field", "document.filename"],
    ["sticker", { link, caption: "no" }, "unknown_field", "sticker.caption"],
    ["location", { latitude: 90.1, longitude: 0 }, "invalid_field", "location.latitude"],
    ["location", { latitude: 0, longitude: -180.1 }, "invalid_field", "location.longitude"],
    ["location", { latitude: 0 }, "missing_field", "location.longitude"],
    ["location", { latitude: "0", longitude: 0 }, "invalid_field", "location.latitude"],
    ["contacts", [], "invalid_field", "contacts"],
    ["contacts", { name }, "invalid_field", "contacts"],
    ["contacts", [{ name: { formatted_name: "Ana" } }], "invalid_field", "contacts[0].name.first_name"],
    ["contacts", [{ name }, { name: { first_name: "Ana" } }], "missing_field", "contacts[1].name.formatted_name"],
    ["contacts", [{ name, birthday: "1.1.2000" }], "invalid_field", "contacts[0].birthday"],
    ["contacts", [{ name, phones: [{ number: "1" }] }], "unknown_field", "contacts[0].phones[0].number"],
    ["contacts", Array.from({ length: 258 }, () => ({ name })), "invalid_field", "contacts"],
    ["reaction", { message_id: "wamid.x", emoji: "👍" }, "invalid_field", "reaction.message_id"],
    ["reaction", { message_id: message }, "missing_field", "reaction.emoji"],
    ["reaction", { message_id: message, emoji: "👍👍" }, "invalid_field", "reaction.emoji"],
    ["reaction", { message_id: message, emoji: "x" }, "invalid_field", "reaction.emoji"],
    ["interactive", {}, "missing_field", "interactive.type"],
    ["interactive", { type: "hologram", body }, "invalid_field", "interactive.type"],
    ["interactive", [], "invalid_field", "interactive"],
    ["interactive", { ...buttons(button("a")), body: { text: x(1025) } }, "invalid_field", "interactive.body.text"],
    ["interactive", { type: "button", action: { buttons: [button("a")] } }, "missing_field", "interactive.body"],
    ["interactive", { ...buttons(button("a")), footer: { text: x(61) } }, "invalid_field", "interactive.footer.text"],
    [
      "interactive",
      { ...buttons(button("a")), header: { type: "text", text: x(61) } },
      "invalid_field",
      "interactive.header.text"
    ],
    ["interactive", { ...buttons(button("a")), header: { type: "audio" } }, "invalid_field", "interactive.header.type"],
    ["interactive", { ...buttons(button("a")), header: {} }, "missing_field", "interactive.header.type"],
    [
      "interactive",
      { ...buttons(button("a")), header: { type: "image", image: {} } },
      "invalid_field",
      "interactive.header.image"
    ],
    ["interactive", buttons(), "invalid_field", "interactive.action.buttons"],
    [
      "interactive",
      buttons(...["a", "b", "c", "d"].map((id) => button(id))),
      "invalid_field",
      "interactive.action.buttons"
    ],
    ["interactive", buttons(button("a"), button("a")), "invalid_field", "interactive.action.buttons[1].reply.id"],
    ["interactive", buttons(button("a", x(21))), "invalid_field", "interactive.action.buttons[0].reply.title"],
    ["interactive", buttons(button(x(257))), "invalid_field", "interactive.action.buttons[0].reply.id"],
    ["interactive", list([]), "invalid_field", "interactive.action.sections"],
    ["interactive", list([{ rows: [] }]), "invalid_field", "interactive.action.sections[0].rows"],
    [
      "interactive",
      list([{ title: "a", rows: rows(6) }, { title: "b", rows: rows(5, 6) }]),
      "invalid_field",
      "interactive.action.sections[1].rows[4]"
    ],
    [
      "interactive",
      list([{ title: "a", rows: rows(1) }, { rows: rows(1, 1) }]),
      "invalid_field",
      "interactive.action.sections[1].title"
    ],
    [
      "interactive",
      list([{ title: "a", rows: rows(1) }, { title: "b", rows: rows(1) }]),
      "invalid_field",
      "interactive.action.sections[1].rows[0].id"
    ],
    [
      "interactive",
      list([{ rows: [row("a", { title: x(25) })] }]),
      "invalid_field",
      "interactive.action.sections[0].rows[0].title"
    ],
    [
      "interactive",
      list([{ rows: [row("a", { description: x(73) })] }]),
      "invalid_field",
      "interactive.action.sections[0].rows[0].description"
    ],
    [
      "interactive",
      list([{ rows: rows(1) }], { header: { type: "image", image: { link } } }),
      "unknown_field",
      "interactive.header.image"
    ],
    ["interactive", list([{ rows: rows(1) }], { body: { text: x(4097) } }), "invalid_field", "interactive.body.text"],
    [
      "interactive",
      cta({ display_text: x(21), url: "https://a.example" }),
      "invalid_field",
      "interactive.action.parameters.display_text"
    ],
    [
      "interactive",
      cta({ display_text: "a", url: "javascript:1" }),
      "invalid_field",
      "interactive.action.parameters.url"
    ],
    ["interactive", flow({}), "invalid_field", "interactive.action.parameters.flow_id"],
    [
      "interactive",
      flow({ flow_id: "1", flow_name: "a" }),
      "invalid_field",
      "interactive.action.parameters.flow_id"
    ],
    [
      "interactive",
      flow({ flow_id: "1", flow_message_version: "2" }),
      "invalid_field",
      "interactive.action.parameters.flow_message_version"
    ],
    ["interactive", carousel(card(0)), "invalid_field", "interactive.action.cards"],
    ["interactive", carousel(card(0), card(0)), "invalid_field", "interactive.action.cards[1].card_index"],
    [
      "interactive",
      carousel(card(0), card(1, { header: { type: "video", video: { link } } })),
      "invalid_field",
      "interactive.action.cards[1]"
    ],
    [
      "interactive",
      carousel(
        card(0),
        card(1, { action: { buttons: [{ type: "quick_reply", quick_reply: { id: "a", title: "b" } }] } })
      ),
      "invalid_field",
      "interactive.action.cards[1]"
    ],
    [
      "interactive",
      carousel(card(0), card(1, { body: { text: x(161) } })),
      "invalid_field",
      "interactive.action.cards[1].body.text"
    ],
    [
      "interactive",
      carousel(card(0), card(1, { action: {} })),
      "invalid_field",
      "interactive.action.cards[1].action.name"
    ],
    ["interactive", { ...carousel(card(0), card(1)), footer: body }, "unknown_field", "interactive.footer"],
    [
      "interactive",
      { type: "product_list", body, action: { catalog_id: "1", sections: [] } },
      "missing_field",
      "interactive.header"
    ],
    [
      "interactive",
      { type: "location_request_message", body, action: { name: "send" } },
      "invalid_field",
      "interactive.action.name"
    ],
    ["template", template({ header: {} }), "invalid_field", "template.header"],
    ["template", template({ header: { text: "a", image: { link } } }), "invalid_field", "template.header.image"],
    ["template", template({ buttons: [{ index: 0 }] }), "invalid_field", "template.buttons[0]"],
    ["template", template({ buttons: [{ index: 10, payload: "a" }] }), "invalid_field", "template.buttons[0].index"],
    [
      "template",
      template({ buttons: [{ index: 0, payload: "a", code: "b" }] }),
      "invalid_field",
      "template.buttons[0].code"
    ],
    [
      "template",
      template({ buttons: [{ index: 0, payload: "a", flowData: {} }] }),
      "invalid_field",
      "template.buttons[0].flowData"
    ],
    ["template", template({ bodyParams: { first_name: "" } }), "invalid_field", "template.bodyParams.first_name"],
    [
      "template",
      template({ limitedTimeOffer: { expiresAt: "soon" } }),
      "invalid_field",
      "template.limitedTimeOffer.expiresAt"
    ],
    ["template", template({ cards: [{ body_params: [] }] }), "unknown_field", "template.cards[0].body_params"]
  ])("%s %j is %s at %s", (type, content, reason, param) => {
    const error = refusal({ to, type, [type]: content })
    assert.deepStrictEqual([error?.reason, error?.param], [reason, param])
  })
})
