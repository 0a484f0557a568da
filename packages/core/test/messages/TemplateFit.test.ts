import { assert, describe, it } from "@effect/vitest"
import { KindFixture } from "@wac/testkit"
import { Schema } from "effect"
import type { TemplateContent } from "../../src/messages/TemplateContent.ts"
import { misfit } from "../../src/messages/TemplateFit.ts"
import { variablesOf } from "../../src/templates/Template.ts"
import * as TemplateSlots from "../../src/templates/TemplateSlots.ts"
import { checks } from "../checks.ts"
import { template } from "../samples.ts"

/** What does not fit a fixture's template after a change of its values. */
const misfitOf = (name: string, change: Partial<TemplateContent> = {}) => {
  const { content, template: listed } = KindFixture.templates.find(({ template }) => template.name === name)!
  const known = template({
    ...listed,
    variables: variablesOf(listed.components),
    unfillable: TemplateSlots.unfillableOf(listed)
  })
  return misfit(known, { name, language: "en_US", ...content, ...change })
}

const without = (name: string, field: keyof TemplateContent) => {
  const { content, template: listed } = KindFixture.templates.find(({ template }) => template.name === name)!
  const { [field]: _, ...rest } = { name, language: "en_US", ...content }
  return misfit(
    template({ ...listed, variables: variablesOf(listed.components), unfillable: TemplateSlots.unfillableOf(listed) }),
    rest as TemplateContent
  )?.param
}

const image = { link: "https://files.example/a.jpg" }
const card = { header: { video: image }, bodyParams: ["a"], buttons: [{ index: 1, urlSuffix: "a" }] }

describe("the values of a template", () => {
  it.each(KindFixture.templates.map(({ template: { name } }) => name))("the values of %s fit", (name) => {
    assert.isUndefined(misfitOf(name))
  })

  it("values that the template itself contains may be omitted", () => {
    const buttons = [{ index: 1, urlSuffix: "sale" }, { index: 2, code: "SALE10" }]
    assert.isUndefined(misfitOf("picture_and_buttons", { buttons }))
    assert.isUndefined(misfitOf("code", { buttons: [{ index: 0, code: "4711" }] }))
  })

  it.each<[name: string, field: keyof TemplateContent, param: string]>([
    ["named_header", "header", "template.header.text"],
    ["named_header", "bodyParams", "template.bodyParams"],
    ["picture_and_buttons", "header", "template.header.image"],
    ["picture_and_buttons", "bodyParams", "template.bodyParams"],
    ["picture_and_buttons", "buttons", "template.buttons[0].urlSuffix"],
    ["place", "header", "template.header.location"],
    ["offer", "limitedTimeOffer", "template.limitedTimeOffer"],
    ["offer", "buttons", "template.buttons[0].code"],
    ["cards", "cards", "template.cards"],
    ["code", "bodyParams", "template.bodyParams"]
  ])("lacks something where %s is sent without its %s", (name, field, param) => {
    assert.strictEqual(without(name, field), param)
  })

  it.each<[name: string, change: Partial<TemplateContent>, param: string]>([
    ["named_header", { header: { image } }, "template.header.image"],
    ["named_header", { bodyParams: { last_name: "Doe" } }, "template.bodyParams.first_name"],
    ["named_header", { bodyParams: { first_name: "Ana", last_name: "Doe" } }, "template.bodyParams.last_name"],
    ["named_header", { bodyParams: ["Ana", "Doe"] }, "template.bodyParams"],
    ["named_header", { buttons: [{ index: 0, payload: "a" }] }, "template.buttons[0].index"],
    ["named_header", { cards: [] }, "template.cards"],
    ["named_header", { limitedTimeOffer: { expiresAt: "2026-01-02T03:04:05Z" } }, "template.limitedTimeOffer"],
    ["picture_and_buttons", { buttons: [{ index: 1, payload: "a" }] }, "template.buttons[0].payload"],
    ["picture_and_buttons", { buttons: [{ index: 1, urlSuffix: "a" }] }, "template.buttons[1].code"],
    [
      "picture_and_buttons",
      { buttons: [{ index: 1, urlSuffix: "a" }, { index: 1, urlSuffix: "b" }] },
      "template.buttons[1].index"
    ],
    ["offer", { buttons: [{ index: 0, code: "a" }, { index: 1, urlSuffix: "a" }] }, "template.buttons[1]"],
    ["code", { header: { text: "a" } }, "template.header"],
    ["cards", { cards: [card] }, "template.cards"],
    ["cards", { cards: [card, { ...card, header: { image } }] }, "template.cards[1].header.image"],
    ["cards", { cards: [card, { ...card, bodyParams: [] }] }, "template.cards[1].bodyParams"],
    ["cards", { cards: [card, { ...card, buttons: [] }] }, "template.cards[1].buttons[0].urlSuffix"]
  ])("a value is refused that does not fit %s: %j", (name, change, param) => {
    assert.strictEqual(misfitOf(name, change)?.param, param)
  })

  it("a template with content that no send can fill is a misfit", () => {
    const components = [{ type: "BODY", text: "Ours" }, { type: "BUTTONS", buttons: [{ type: "MPM" }] }]
    const unfillable = TemplateSlots.unfillableOf({ category: "utility", components })
    const found = misfit(template({ components, variables: [], unfillable }), { name: "a", language: "en" })
    assert.strictEqual(found?.param, "template.name")
    assert.match(found?.message ?? "", /mpm/)
  })

  it.prop("any components are judged without an error", { components: Schema.Array(Schema.Json) }, ({ components }) => {
    const slots = TemplateSlots.of({ category: "utility", components })
    assert.isTrue(Array.isArray(slots.buttons))
  }, checks)
})
