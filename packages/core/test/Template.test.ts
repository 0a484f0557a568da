import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isMarketing, Language, variablesOf } from "../src/Template.ts"
import { between, checks, upTo } from "./checks.ts"

const body = (text: string) => ({ type: "BODY", text })

describe("the placeholders of a body", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["Hello.", []],
    ["", []],
    ["Hello {{1}}.", ["1"]],
    ["Order {{1}} is {{2}}.", ["1", "2"]],
    ["{{2}} before {{1}}", ["1", "2"]],
    ["{{1}}{{1}} twice", ["1"]],
    ["{{10}} {{9}} {{1}} {{2}} {{3}} {{4}} {{5}} {{6}} {{7}} {{8}}", [
      "1",
      "2",
      "3",
      "4",
      "5",
      "6",
      "7",
      "8",
      "9",
      "10"
    ]],
    ["{{ 1 }} and {{\t2\n}}", ["1", "2"]],
    ["{{first_name}}, your {{order}}", ["first_name", "order"]],
    ["{{zebra}} before {{ant}}", ["zebra", "ant"]],
    ["{{order}} {{order}} {{first_name}}", ["order", "first_name"]],
    ["{1} {{}} {{ }} {{a b}} {{1.2}} {{-1}} {{é}}", []],
    ["{{{1}}}", ["1"]],
    ["{{1}} in *bold* and\nover {{2}} lines", ["1", "2"]]
  ])("of %j are %j", (text, variables) => {
    assert.deepStrictEqual(variablesOf([body(text)]), variables)
  })

  it("are those of the body alone", () => {
    assert.deepStrictEqual(
      variablesOf([
        { type: "HEADER", format: "TEXT", text: "For {{9}}" },
        { type: "BODY", text: "Hello {{1}}.", example: { body_text: [["{{7}}"]] } },
        { type: "FOOTER", text: "{{8}}" },
        { type: "BUTTONS", buttons: [{ type: "URL", text: "{{6}}", url: "https://shop.example/{{5}}" }] }
      ]),
      ["1"]
    )
  })

  it.each<[string, ReadonlyArray<Schema.Json>]>([
    ["no components", []],
    ["a body without text", [{ type: "BODY" }]],
    ["text that is none", [{ type: "BODY", text: 1 }]],
    ["a kind that is none", [{ type: 1, text: "{{1}}" }]],
    ["no objects", [null, "BODY", 1, true, ["{{1}}"]]]
  ])("are none in %s", (_, components) => {
    assert.deepStrictEqual(variablesOf(components), [])
  })

  it("are found whatever the case of the word BODY", () => {
    for (const type of ["BODY", "body", "Body"]) assert.deepStrictEqual(variablesOf([{ type, text: "{{1}}" }]), ["1"])
  })

  it.prop(
    "numbered ones are each found once, in the order of their numbers",
    { numbers: upTo(between(1, 30), 20) },
    (_) => {
      const text = _.numbers.map((number) => `{{${number}}}`).join(" and ")
      assert.deepStrictEqual(variablesOf([body(text)]), [...new Set(_.numbers)].sort((a, b) => a - b).map(String))
    },
    checks
  )

  it.prop("anything at all as components is no error", { components: Schema.Array(Schema.Json) }, ({ components }) => {
    assert.isTrue(Array.isArray(variablesOf(components)))
  }, checks)
})

describe("a language", () => {
  it.each(["en", "en_US", "pt_BR", "fil", "zh_HK"])("%s", (text) => {
    assert.isTrue(Schema.is(Language)(text))
  })
  it.each([
    "",
    "e",
    "EN",
    "en-US",
    "en_us",
    "EN_US",
    "en_",
    "en_USA",
    "en_U",
    "english",
    " en",
    "en_US ",
    "en_US\n",
    "zh_Hant_TW"
  ])(
    "not %j",
    (text) => {
      assert.isFalse(Schema.is(Language)(text))
    }
  )
})

it("only the category marketing is marketing", () => {
  assert.deepStrictEqual(
    ["marketing", "utility", "authentication", "marketing_lite"].map((category) => isMarketing({ category })),
    [true, false, false, false]
  )
})
