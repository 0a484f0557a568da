import { assert, it } from "@effect/vitest"
import type { TemplateDraft } from "../../src/templates/TemplateDraft.ts"
import { problemOf } from "../../src/templates/TemplateRules.ts"

const text = (text: string, samples: ReadonlyArray<string> = []) => ({
  type: "BODY" as const,
  text,
  ...(samples.length === 0 ? {} : { example: { body_text: [samples] } })
})

const body = text("Hi.")
const picture = { type: "HEADER", format: "IMAGE", example: { header_handle: ["4::aW"] } } as const
const buttons = (...types: ReadonlyArray<"QUICK_REPLY" | "CATALOG" | "MPM">) => ({
  type: "BUTTONS" as const,
  buttons: types.map((type) => ({ type, text: "Press" }))
})
const link = (url: string, example?: ReadonlyArray<string>) => ({
  type: "BUTTONS" as const,
  buttons: [{ type: "URL" as const, text: "Open", url, ...(example === undefined ? {} : { example }) }]
})
const code = { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE" }] } as const
const offer = { type: "LIMITED_TIME_OFFER", limited_time_offer: { text: "Sale" } } as const
const card = { components: [picture, text("Look."), buttons("QUICK_REPLY")] }

type Case = readonly [
  param: string | undefined,
  components: TemplateDraft["components"],
  rest?: Partial<Omit<Parameters<typeof problemOf>[0], "components">>
]

const cases: ReadonlyArray<Case> = [
  [undefined, [body]],
  [undefined, [text("Hi {{1}}, see {{2}}.", ["Ana", "this"])]],
  [undefined, [picture, body, { type: "FOOTER", text: "Bye" }, buttons("QUICK_REPLY", "QUICK_REPLY", "CATALOG")]],
  [undefined, [{ type: "HEADER", format: "LOCATION" }, body]],
  [undefined, [body, link("https://shop.example/{{1}}", ["https://shop.example/1"])]],
  [undefined, [body, { type: "CAROUSEL", cards: [card, card] }], { category: "marketing" }],
  [undefined, [picture, body, offer, buttons("CATALOG")], { category: "marketing" }],
  [undefined, [{ type: "BODY", add_security_recommendation: true }, code], { category: "authentication" }],
  [undefined, [
    {
      type: "BODY",
      text: "Hi {{name}}.",
      example: { body_text_named_params: [{ param_name: "name", example: "Ana" }] }
    }
  ], { parameterFormat: "named" }],
  [undefined, [body], { messageSendTtlSeconds: 60 }],
  ["components", [picture]],
  ["components", [{ type: "BODY" }], { category: "authentication" }],
  ["components[0].text", [{ type: "BODY" }]],
  ["components[0].text", [text("{{1}}, hi", ["Ana"])]],
  ["components[0].text", [text("Hi {{1}}", ["Ana"])]],
  ["components[0].text", [text("Hi {{1}} {{2}}.", ["Ana", "Bo"])]],
  ["components[0].text", [text("Hi {{2}}.", ["Ana"])]],
  ["components[0].text", [text("Hi {{name}}.", ["Ana"])]],
  ["components[0].text", [text("Hi {{1}}.", ["Ana"])], { parameterFormat: "named" }],
  ["components[0].example.body_text", [text("Hi {{1}}.")]],
  ["components[0].example.body_text", [text("Hi {{1}} and {{2}}.", ["Ana"])]],
  ["components[0].example.body_text_named_params", [text("Hi {{name}}.")], { parameterFormat: "named" }],
  ["components[1].type", [body, body]],
  ["components[0].text", [{ type: "HEADER", format: "TEXT" }, body]],
  ["components[0].text", [{ type: "HEADER", format: "TEXT", text: "{{1}} {{2}}" }, body]],
  ["components[0].example.header_text", [{ type: "HEADER", format: "TEXT", text: "For {{1}}" }, body]],
  ["components[0].example.media", [{ type: "HEADER", format: "VIDEO" }, body]],
  ["components[1].text", [body, { type: "FOOTER", text: "Bye {{1}}" }]],
  ["components[1].text", [body, { type: "FOOTER" }]],
  ["components[1].buttons", [body, buttons("QUICK_REPLY", "CATALOG", "QUICK_REPLY")]],
  ["components[1].buttons[1].type", [body, buttons("CATALOG", "CATALOG")]],
  ["components[1].buttons[0].type", [body, code]],
  ["components[1].buttons[0].type", [{ type: "BODY" }, buttons("CATALOG")], { category: "authentication" }],
  ["components[1].buttons[0].url", [body, link("https://{{1}}.example/", ["x"])]],
  ["components[1].buttons[0].example", [body, link("https://shop.example/{{1}}")]],
  ["components[1].type", [body, offer]],
  ["components[1]", [body, { type: "FOOTER", text: "Bye" }, offer], { category: "marketing" }],
  ["components[0].text", [text("x".repeat(601)), offer], { category: "marketing" }],
  ["components[1]", [body, picture, { type: "CAROUSEL", cards: [card, card] }], { category: "marketing" }],
  ["components[1].cards[1].components", [
    body,
    { type: "CAROUSEL", cards: [card, { components: [picture, buttons("QUICK_REPLY")] }] }
  ]],
  ["components[1].cards[0].components[1].text", [
    body,
    { type: "CAROUSEL", cards: [{ components: [picture, text("x".repeat(161))] }, card] }
  ]],
  ["components[0].text", [body, code], { category: "authentication" }],
  ["messageSendTtlSeconds", [body], { messageSendTtlSeconds: 43_201 }],
  ["messageSendTtlSeconds", [body], { category: "marketing", messageSendTtlSeconds: 60 }]
]

it("the rules name the first field that the provider would refuse", () => {
  for (const [param, components, rest] of cases) {
    const found = problemOf({ category: "utility", parameterFormat: "positional", components, ...rest })
    assert.strictEqual(found?.param, param, JSON.stringify({ found, components }))
  }
})
