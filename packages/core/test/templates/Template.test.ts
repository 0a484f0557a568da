import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  changing,
  codeButtonOf,
  isMarketing,
  Language,
  observe,
  relist,
  type ReportTimes,
  type TemplateChange,
  variablesOf
} from "../../src/templates/Template.ts"
import { unfillableOf } from "../../src/templates/TemplateSlots.ts"
import { between, checks, second, upTo } from "../checks.ts"
import { start, template } from "../samples.ts"

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
  ])("the placeholders of %j are %j", (text, variables) => {
    assert.deepStrictEqual(variablesOf([body(text)]), variables)
  })

  it("only the body's placeholders are found", () => {
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
  ])("there are no placeholders in %s", (_, components) => {
    assert.deepStrictEqual(variablesOf(components), [])
  })

  it("the body is found whatever the case of the word BODY", () => {
    for (const type of ["BODY", "body", "Body"]) assert.deepStrictEqual(variablesOf([{ type, text: "{{1}}" }]), ["1"])
  })

  it.prop(
    "numbered placeholders are each found once, in the order of their numbers",
    { numbers: upTo(between(1, 30), 20) },
    (_) => {
      const text = _.numbers.map((number) => `{{${number}}}`).join(" and ")
      assert.deepStrictEqual(variablesOf([body(text)]), [...new Set(_.numbers)].sort((a, b) => a - b).map(String))
    },
    checks
  )

  it.prop("any components are valid input", { components: Schema.Array(Schema.Json) }, ({ components }) => {
    assert.isTrue(Array.isArray(variablesOf(components)))
  }, checks)
})

describe("templates that no send can fill", () => {
  const buttons = (...buttons: ReadonlyArray<Schema.Json>) => [body("Hi {{1}}"), { type: "BUTTONS", buttons }]
  const utility = (components: ReadonlyArray<Schema.Json>) => unfillableOf({ category: "utility", components })
  it.each<[string, ReadonlyArray<Schema.Json>, RegExp]>([
    ["a header with a placeholder", [{ type: "HEADER", format: "TEXT", text: "For {{1}}" }, body("Hi")], /header/],
    ["a header with a named placeholder", [{ type: "header", text: "For {{ name }}" }], /header/],
    ["an image", [{ type: "HEADER", format: "IMAGE", example: {} }, body("Hi")], /header .*image/],
    [
      "a picture that moves",
      [{ type: "HEADER", format: "GIF", example: {} }, body("Hi")],
      /header is of the format gif/
    ],
    ["a location", [{ type: "HEADER", format: "LOCATION" }, body("Hi")], /header .*location/],
    [
      "an address with a placeholder",
      buttons({ type: "URL", text: "See", url: "https://a.example/{{1}}" }),
      /button 1/
    ],
    ["a code to copy", buttons({ type: "QUICK_REPLY", text: "Ok" }, { type: "COPY_CODE" }), /button 2 .*code/],
    ["a one-time password", buttons({ type: "OTP", otp_type: "COPY_CODE" }), /button 1 .*otp/],
    ["a carousel", [body("Hi"), { type: "CAROUSEL", cards: [] }], /carousel/],
    ["an offer that ends", [body("Hi"), { type: "LIMITED_TIME_OFFER" }], /offer/]
  ])("a template with %s cannot be filled", (_, components, words) => {
    assert.match(utility(components) ?? "", words)
  })

  it.each<[string, ReadonlyArray<Schema.Json>]>([
    ["nothing", []],
    ["a body's placeholders", [body("Hi {{1}} {{2}}")]],
    ["words in header and footer", [{ type: "HEADER", format: "TEXT", text: "Hello" }, {
      type: "FOOTER",
      text: "{{1}}"
    }]],
    [
      "buttons that say all",
      buttons(
        { type: "QUICK_REPLY", text: "{{1}}" },
        { type: "URL", url: "https://a.example/" },
        { type: "PHONE_NUMBER" },
        { type: "FLOW" }
      )
    ],
    ["what is no button", [{ type: "BUTTONS" }, { type: "BUTTONS", buttons: "{{1}}" }, ...buttons(null, 1, "OTP")]]
  ])("a template with %s can be filled", (_, components) => {
    assert.isNull(utility(components))
  })

  it.prop("any components are valid input", { components: Schema.Array(Schema.Json) }, ({ components }) => {
    for (const category of ["utility", "authentication"]) {
      const words = unfillableOf({ category, components })
      assert.isTrue(words === null || words.length > 0)
    }
  }, checks)
})

describe("the button that copies a code", () => {
  const copied = { type: "URL", text: "Copy code", url: "https://www.whatsapp.com/otp/code/?code=otp{{1}}" }
  const authentication = (...components: ReadonlyArray<Schema.Json>) => ({ category: "authentication", components })
  const code = body("*{{1}}* is your code.")

  it.each<[string, Schema.Json, number]>([
    ["as upstream lists it, an address that ends with the code", [copied], 0],
    ["as it is created", [{ type: "OTP", otp_type: "COPY_CODE", text: "Copy code" }], 0],
    ["after another one", [{ type: "QUICK_REPLY", text: "I didn't ask for it" }, copied], 1]
  ])("the button of a code is filled by the body's one value: %s", (_, buttons, place) => {
    const template = authentication(code, { type: "BUTTONS", buttons })
    assert.strictEqual(codeButtonOf(template), place)
    assert.isNull(unfillableOf(template))
  })

  it("a template has only one such button", () => {
    const [one, two] = [{ type: "BUTTONS", buttons: [copied] }, { type: "BUTTONS", buttons: [copied, copied] }]
    assert.match(unfillableOf(authentication(code, two)) ?? "", /button 2/)
    for (const category of ["utility", "marketing"]) {
      assert.isUndefined(codeButtonOf({ category, components: [code, one] }))
      assert.match(unfillableOf({ category, components: [code, one] }) ?? "", /button 1/)
    }
  })

  it("the button requires a body with one value, which is the code", () => {
    for (const text of ["Your code.", "{{1}} is the code of {{2}}."]) {
      const template = authentication(body(text), { type: "BUTTONS", buttons: [copied] })
      assert.isUndefined(codeButtonOf(template))
      assert.match(unfillableOf(template) ?? "", /button 1/)
    }
  })

  it("there is none if no button takes a value", () => {
    for (const buttons of [[], [{ type: "URL", url: "https://a.example/" }], "OTP", null]) {
      assert.isUndefined(codeButtonOf(authentication(code, { type: "BUTTONS", buttons })))
    }
    assert.isNull(unfillableOf(authentication(code)))
  })
})

describe("the provider's reports on templates", () => {
  const Word = Schema.Struct({
    field: Schema.Literals(changing),
    value: Schema.Literals(["a", "b", "c"]),
    at: between(-20, 20)
  })
  const known = template({ syncedAt: start })
  const apply = (words: ReadonlyArray<typeof Word.Type>) => {
    let state: { readonly template: typeof known; readonly told: ReportTimes } = { template: known, told: {} }
    for (const { at, field, value } of words) {
      state = observe(state.template, state.told, { [field]: value }, start + at * second)
    }
    return state
  }

  it.prop(
    "each field has its newest reported value, unless a listing is newer",
    { words: upTo(Word, 12) },
    ({ words }) => {
      const { template, told } = apply(words)
      for (const field of changing) {
        const news = words.filter((word) => word.field === field && word.at >= 0)
        const newest = news.findLast(({ at }) => at === Math.max(...news.map(({ at }) => at)))
        assert.strictEqual(template[field], newest?.value ?? known[field])
        assert.strictEqual(told[field], newest && start + newest.at * second)
      }
    },
    checks
  )

  it.prop("a report outranks a listing that began before it, and no other", {
    words: upTo(Word, 8),
    listedAt: between(1, 20)
  }, ({ words, ...given }) => {
    const listedAt = start + given.listedAt * second
    const { template: before, told } = apply(words)
    const list: TemplateChange = { status: "l", category: "l", quality: "l", rejectionReason: "l" }
    const after = relist({ ...known, ...list }, before, told, listedAt)
    for (const field of changing) {
      const isLater = told[field] !== undefined && told[field] >= listedAt
      assert.strictEqual(after.listed[field], isLater ? before[field] : "l")
      assert.strictEqual(after.told[field], isLater ? told[field] : undefined)
    }
  }, checks)

  it("a report may be of the second in which the listing began", () => {
    const during = observe(template({ syncedAt: start + 999 }), {}, { status: "paused" }, start)
    assert.strictEqual(during.template.status, "paused")
    assert.strictEqual(
      observe(template({ syncedAt: start + 1000 }), {}, { status: "paused" }, start).template.status,
      "approved"
    )
  })

  it("a report can remove a rating or a reason", () => {
    const change = { quality: null, rejectionReason: null }
    const { template: after } = observe(template({ quality: "red", rejectionReason: "scam" }), {}, change, start)
    assert.deepStrictEqual([after.quality, after.rejectionReason], [null, null])
  })
})

describe("a language", () => {
  it.each(["en", "en_US", "pt_BR", "fil", "zh_HK"])("%s is a language", (text) => {
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
    "%j is not a language",
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
