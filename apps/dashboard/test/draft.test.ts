/**
 * The draft that the form makes of a template, and the components that it makes of a draft.
 */
import type { TemplateDetail } from "@wac/client/internal"
import { assert, it } from "vitest"
import { beyondForm, componentsOf, draftOf, empty, formatOf, problemOf } from "../src/templates/Draft.ts"

const detail = (fields: Partial<TemplateDetail>): TemplateDetail => ({
  id: "tpl_1",
  name: "order_update",
  language: "en_US",
  category: "utility",
  status: "approved",
  parameterFormat: "positional",
  components: [],
  variables: [],
  unfillable: null,
  quality: null,
  rejectionReason: null,
  providerAccountId: "sandbox",
  providerTemplateId: "1",
  syncedAt: "2026-01-02T03:04:05.700Z",
  ...fields
})

it("a template that is opened and saved keeps every component, with examples and what the form does not ask for", () => {
  const templates: ReadonlyArray<Pick<TemplateDetail, "components" | "parameterFormat" | "category">> = [
    {
      category: "utility",
      parameterFormat: "positional",
      components: [
        { type: "HEADER", format: "TEXT", text: "Order {{1}}", example: { header_text: ["7"] } },
        { type: "BODY", text: "Hi {{2}}, {{1}} is here.", example: { body_text: [["It", "Ana"]] } },
        { type: "FOOTER", text: "Lima Flowers" },
        {
          type: "BUTTONS",
          buttons: [
            { type: "QUICK_REPLY", text: "Yes" },
            { type: "URL", text: "Open", url: "https://a.example/{{1}}", example: ["https://a.example/7"] },
            { type: "PHONE_NUMBER", text: "Call", phone_number: "+15551234567" },
            { icon: "REVIEW", navigate_screen: "ONE", type: "FLOW", text: "Book", flow_id: "42" },
            { type: "COPY_CODE", example: "SAVE20" }
          ]
        }
      ]
    },
    {
      category: "marketing",
      parameterFormat: "named",
      components: [
        { type: "HEADER", format: "LOCATION" },
        {
          type: "BODY",
          text: "Hi {{name}}, hello.",
          example: { body_text_named_params: [{ param_name: "name", example: "Ana" }] }
        }
      ]
    },
    {
      category: "authentication",
      parameterFormat: "positional",
      components: [
        { type: "BODY", add_security_recommendation: true },
        { type: "FOOTER", code_expiration_minutes: 10 },
        { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE", text: "Copy" }] }
      ]
    }
  ]
  for (const fields of templates) {
    const template = detail(fields)
    const draft = draftOf(template)
    assert.isUndefined(beyondForm(template))
    assert.deepStrictEqual(componentsOf(draft, template.parameterFormat), template.components as never)
    assert.strictEqual(formatOf(draft), template.parameterFormat)
    assert.isUndefined(problemOf(draft, template.parameterFormat))
  }
})

it("the form says of a template that it cannot hold it, and does not leave parts out", () => {
  const body = { type: "BODY", text: "Hello." }
  const buttons = (button: { readonly [field: string]: string }) => [body, { type: "BUTTONS", buttons: [button] }]
  for (
    const [words, fields] of [
      ["carousel", { components: [body, { type: "CAROUSEL", cards: [] }] }],
      ["a header of the format gif", { components: [{ type: "HEADER", format: "GIF" }, body] }],
      ["a header of the format product", { components: [{ type: "HEADER", format: "PRODUCT" }, body] }],
      ["limited time offer", { components: [{ type: "limited_time_offer" }, body] }],
      ["a button of the kind order details", { components: buttons({ type: "ORDER_DETAILS", text: "Pay" }) }],
      ["a button of the kind otp", {
        category: "authentication",
        components: buttons({ type: "OTP", otp_type: "ONE_TAP" })
      }],
      ["the category news", { category: "news", components: [body] }]
    ] as const
  ) {
    assert.strictEqual(beyondForm(detail(fields)), words)
  }
})

it("the file of a header is asked for again, since the provider lists no id of it", () => {
  const draft = draftOf(detail({
    components: [
      { type: "HEADER", format: "IMAGE", example: { header_handle: ["https://provider.example/a.jpg"] } },
      { type: "BODY", text: "Hello." }
    ]
  }))
  assert.strictEqual(draft.header.media, "")
  assert.isUndefined(problemOf(draft, "positional"))
})

it("nothing is said of an empty form, and the first thing wrong once there is any", () => {
  assert.isUndefined(problemOf(empty, "positional"))
  assert.deepStrictEqual(
    { ...problemOf({ ...empty, name: "Ä", body: "{{1}}" }, "positional") },
    { param: "name", message: "must have 1 to 512 lower-case letters, digits and underscores" }
  )
  assert.strictEqual(problemOf({ ...empty, language: "english" }, "positional")?.param, "language")
  const header = { ...empty.header, kind: "TEXT", text: "Hi" } as const
  assert.strictEqual(problemOf({ ...empty, header, body: "{{1}}" }, "positional")?.param, "components[1].text")
  const reply = { kind: "QUICK_REPLY", values: { text: "Yes" }, rest: {} } as const
  const call = { kind: "PHONE_NUMBER", values: { text: "Call", phone_number: "+1" }, rest: {} } as const
  const withButtons = (...buttons: ReadonlyArray<typeof reply | typeof call>) =>
    problemOf({ ...empty, body: "Hi", buttons: buttons.map((button, key) => ({ ...button, key })) }, "positional")
      ?.param
  assert.strictEqual(withButtons(call, call), "components[1].buttons[1].type")
  assert.strictEqual(withButtons(reply, call, reply), "components[1].buttons")
  assert.isUndefined(withButtons(reply, reply, call))
})
