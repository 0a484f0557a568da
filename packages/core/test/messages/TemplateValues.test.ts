import { assert, describe, it } from "@effect/vitest"
import { KindFixture } from "@wac/testkit"
import { Schema } from "effect"
import type { TemplateContent, TemplateHeader } from "../../src/messages/TemplateContent.ts"
import { misfit } from "../../src/messages/TemplateFit.ts"
import { variablesOf } from "../../src/templates/Template.ts"
import * as TemplateSlots from "../../src/templates/TemplateSlots.ts"
import { checks } from "../checks.ts"
import { template } from "../samples.ts"

/** The field that a fixture's template does not take after a change of its values. */
const paramOf = (name: string, change: Partial<TemplateContent>): string | undefined => {
  const { content, template: listed } = KindFixture.templates.find(({ template }) => template.name === name)!
  const known = template({
    ...listed,
    variables: variablesOf(listed.components),
    unfillable: TemplateSlots.unfillableOf(listed)
  })
  return misfit(known, { name, language: "en_US", ...content, ...change })?.param
}

const money = (fallback_value: string) => ({ currency: { fallback_value, code: "USD", amount_1000: 1 } })
const moment = (fallback_value: string) => ({ date_time: { fallback_value } })
const image: TemplateHeader = { image: { link: "https://files.example/a.jpg" } }
const video: TemplateHeader = { video: { link: "https://files.example/a.mp4" } }

/** Every place of a text, by its field. */
const places: ReadonlyArray<
  readonly [param: string, name: string, change: (text: string) => Partial<TemplateContent>, most: number]
> = [
  ["template.bodyParams[0]", "offer", (text) => ({ bodyParams: [text] }), 1024],
  ["template.bodyParams[1].date_time.fallback_value", "picture_and_buttons", (text) => ({
    bodyParams: ["a", moment(text)]
  }), 1024],
  ["template.bodyParams[0].currency.fallback_value", "picture_and_buttons", (text) => ({
    bodyParams: [money(text), "a"]
  }), 1024],
  ["template.bodyParams.first_name", "named_header", (text) => ({ bodyParams: { first_name: text } }), 1024],
  ["template.header.text", "named_header", (text) => ({ header: { text } }), 60],
  ["template.bodyParams[0]", "code", (text) => ({ bodyParams: [text] }), 15],
  ["template.buttons[0].code", "code", (text) => ({ buttons: [{ index: 0, code: text }] }), 15],
  ["template.buttons[1].code", "picture_and_buttons", (text) => ({
    header: image,
    buttons: [{ index: 1, urlSuffix: "a" }, { index: 2, code: text }]
  }), 15],
  ["template.cards[1].bodyParams[0]", "cards", (text) => ({
    cards: ["a", text].map((value) => ({
      header: video,
      bodyParams: [value],
      buttons: [{ index: 1, urlSuffix: "a" }]
    }))
  }), 1024],
  ["template.cards[1].buttons[0].urlSuffix", "cards", (text) => ({
    cards: ["a", text].map((urlSuffix) => ({
      header: video,
      bodyParams: ["a"],
      buttons: [{ index: 1, urlSuffix }]
    }))
  }), Infinity]
]

describe("the rules for a template's values", () => {
  for (const [param, name, change, most] of places) {
    it(`${param} of ${name} takes no line break, tab or more than four spaces in a row`, () => {
      for (const text of ["a\nb", "a\r\nb", "\tab", "a     b"]) assert.strictEqual(paramOf(name, change(text)), param)
      for (const text of ["a    b", "    a    ", "a\u00a0b", "a\u{1F600}b"]) {
        assert.isUndefined(paramOf(name, change(text)), text)
      }
    })

    it(`${param} of ${name} takes at most ${most} characters`, () => {
      const length = Math.min(most, 2000)
      assert.isUndefined(paramOf(name, change("x".repeat(length))))
      // characters are counted, not what they take in memory
      assert.isUndefined(paramOf(name, change("\u{1F600}".repeat(length))))
      if (most === Infinity) return
      for (const long of ["x", "\u{1F600}"]) {
        assert.strictEqual(paramOf(name, change(long.repeat(most + 1))), param)
      }
    })
  }

  it("say what is wrong, and repeat no value", () => {
    const known = template({ variables: ["1"], unfillable: null })
    const messageOf = (text: string) => misfit(known, { name: "a", language: "en", bodyParams: [text] })?.message
    assert.strictEqual(
      messageOf("secret\n"),
      "takes no value with a line break, a tab or more than four spaces in a row"
    )
    assert.strictEqual(messageOf("x".repeat(1025)), "takes at most 1024 characters here")
  })

  it("come after what is missing, so that the first message helps", () => {
    assert.strictEqual(paramOf("offer", { bodyParams: ["a\nb", "c"] }), "template.bodyParams")
  })

  it("leave alone what is no text of the message", () => {
    const buttons = [
      { index: 0, payload: "a\nb     c" },
      { index: 1, urlSuffix: "a" },
      { index: 2, code: "a" },
      { index: 3, flowToken: "a\tb", flowData: { text: "a\nb" } }
    ]
    assert.isUndefined(paramOf("picture_and_buttons", { buttons }))
  })

  it.prop("allow a text exactly if a reading character by character finds nothing", {
    text: Schema.Array(Schema.Literals(["a", " ", "    ", "\n", "\t", "\r", "é", "\u{1F600}"]))
  }, ({ text: parts }) => {
    const text = parts.join("")
    let spaces = 0
    let isFit = true
    for (const character of text) {
      spaces = character === " " ? spaces + 1 : 0
      if (spaces > 4 || "\n\r\t".includes(character)) isFit = false
    }
    assert.strictEqual(paramOf("offer", { bodyParams: [text] }) === undefined, isFit && [...text].length <= 1024)
  }, checks)
})
