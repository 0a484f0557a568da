import { assert, describe, it } from "@effect/vitest"
import { Template, TemplateSlots } from "@wac/core"
import { KindFixture } from "@wac/testkit"
import * as SendRequest from "../src/SendRequest.ts"
import { send, template, to } from "./samples.ts"

/** The components that are posted of a template of the fixtures. */
const componentsOf = (name: string, change: object = {}) => {
  const { content, template: listed } = KindFixture.templates.find(({ template }) => template.name === name)!
  const known: Template.Template = {
    ...template,
    ...listed,
    variables: Template.variablesOf(listed.components),
    unfillable: TemplateSlots.unfillableOf(listed)
  }
  const message = { to, type: "template", template: { name, language: "en_US", ...content, ...change } } as const
  const body = SendRequest.bodyOf(send(message, { template: known }))
  return (body["template"] as { readonly components: unknown }).components
}

const text = (text: string) => ({ type: "text", text })
const button = (index: number, sub_type: string, parameter: object) => ({
  type: "button",
  sub_type,
  index: `${index}`,
  parameters: [parameter]
})

describe("what is posted of a template", () => {
  it("a template with named placeholders is posted with their names in header and body", () => {
    assert.deepStrictEqual(componentsOf("named_header"), [
      { type: "header", parameters: [{ type: "text", parameter_name: "order_id", text: "1042" }] },
      { type: "body", parameters: [{ type: "text", parameter_name: "first_name", text: "Ana" }] }
    ])
  })

  it("a template with a picture, amounts, times and buttons is posted with the buttons in order", () => {
    const { content } = KindFixture.templates.find(({ template }) => template.name === "picture_and_buttons")!
    assert.deepStrictEqual(componentsOf("picture_and_buttons", { buttons: [...content.buttons!].reverse() }), [
      { type: "header", parameters: [{ type: "image", image: { link: "https://files.example/sale.jpg" } }] },
      {
        type: "body",
        parameters: [
          { type: "currency", currency: { fallback_value: "$10", code: "USD", amount_1000: 10_000 } },
          { type: "date_time", date_time: { fallback_value: "today" } }
        ]
      },
      button(0, "quick_reply", { type: "payload", payload: "stop" }),
      button(1, "url", text("sale")),
      button(2, "copy_code", { type: "coupon_code", coupon_code: "SALE10" }),
      button(3, "flow", { type: "action", action: { flow_token: "t", flow_action_data: { day: "monday" } } }),
      button(4, "catalog", { type: "action", action: { thumbnail_product_retailer_id: "sku-1" } })
    ])
  })

  it("a template with a location is posted with it in the header", () => {
    assert.deepStrictEqual(componentsOf("place"), [{
      type: "header",
      parameters: [{
        type: "location",
        location: { latitude: 1, longitude: 2, name: "Shop", address: "1 Hacker Way" }
      }]
    }])
  })

  it("a template with an offer is posted with its end in milliseconds", () => {
    assert.deepInclude(componentsOf("offer") as ReadonlyArray<unknown>, {
      type: "limited_time_offer",
      parameters: [{
        type: "limited_time_offer",
        limited_time_offer: { expiration_time_ms: 1_767_323_045_678 }
      }]
    })
  })

  it("a template with cards is posted with the index of each card", () => {
    assert.deepStrictEqual((componentsOf("cards") as ReadonlyArray<unknown>)[1], {
      type: "carousel",
      cards: [0, 1].map((i) => ({
        card_index: i,
        components: [
          { type: "header", parameters: [{ type: "video", video: { link: `https://files.example/${i}.mp4` } }] },
          { type: "body", parameters: [text(`shelf ${i}`)] },
          button(0, "quick_reply", { type: "payload", payload: `more-${i}` }),
          button(1, "url", text(`sku-${i}`))
        ]
      }))
    })
  })

  it("a code is posted in body and button, whether it is given once or twice", () => {
    const expected = [{ type: "body", parameters: [text("4711")] }, button(0, "url", text("4711"))]
    assert.deepStrictEqual(componentsOf("code"), expected)
    assert.deepStrictEqual(componentsOf("code", { buttons: [{ index: 0, code: "4711" }] }), expected)
  })

  it("buttons of forms and catalogues without a value are posted, and quick replies without a value are not", () => {
    const buttons = [{ index: 1, urlSuffix: "sale" }, { index: 2, code: "SALE10" }]
    const posted = componentsOf("picture_and_buttons", { buttons }) as ReadonlyArray<{ readonly type: string }>
    assert.deepStrictEqual<unknown>(posted.filter(({ type }) => type === "button"), [
      button(1, "url", text("sale")),
      button(2, "copy_code", { type: "coupon_code", coupon_code: "SALE10" }),
      { type: "button", sub_type: "flow", index: "3" },
      { type: "button", sub_type: "catalog", index: "4" }
    ])
  })

  it("the button of a form in a card is posted, even if the value of the card's body is not text", () => {
    const components = [
      { type: "BODY", text: "{{1}}" },
      { type: "BUTTONS", buttons: [{ type: "FLOW", text: "Book" }] }
    ]
    const carousel = { type: "CAROUSEL", cards: [{ components }, { components }] }
    const known = { ...template, components: [{ type: "BODY", text: "Ours" }, carousel], variables: [] }
    const bodyParams = [{ date_time: { fallback_value: "today" } }]
    const body = SendRequest.bodyOf(send({
      to,
      type: "template",
      template: { name: known.name, language: "en_US", cards: [{ bodyParams }, { bodyParams }] }
    }, { template: known }))
    assert.deepStrictEqual((body["template"] as { readonly components: unknown }).components, [{
      type: "carousel",
      cards: [0, 1].map((card_index) => ({
        card_index,
        components: [
          { type: "body", parameters: [{ type: "date_time", date_time: { fallback_value: "today" } }] },
          { type: "button", sub_type: "flow", index: "0" }
        ]
      }))
    }])
  })
})
