import { assert, describe, it } from "@effect/vitest"
import { PlainText } from "@wac/core"
import { Schema } from "effect"
import * as GraphError from "../src/GraphError.ts"

describe("reading an error", () => {
  const shapes: ReadonlyArray<readonly [string, unknown, GraphError.GraphError | undefined]> = [
    ["an answer's", {
      message: "(#130429) Rate limit hit",
      type: "OAuthException",
      code: 130429,
      error_data: { messaging_product: "whatsapp", details: "Too many messages were sent." },
      error_subcode: 2494055,
      fbtrace_id: "Az8or2yhqkZfEZ"
    }, { code: 130429, subcode: 2494055, isTransient: false, message: "Rate limit hit: Too many messages were sent." }],
    ["a webhook's, which says it three times", {
      code: 131047,
      title: "Re-engagement message",
      message: "Re-engagement message",
      error_data: { details: "Re-engagement message" },
      href: "https://developers.facebook.com/"
    }, { code: 131047, subcode: undefined, isTransient: false, message: "Re-engagement message" }],
    ["one with its data as a string", { code: 100, message: "Invalid parameter", error_data: "Name is taken" }, {
      code: 100,
      subcode: undefined,
      isTransient: false,
      message: "Invalid parameter: Name is taken"
    }],
    ["an old one, numbers as strings", { code: "131026", title: "Undeliverable", details: "Not on WhatsApp" }, {
      code: 131026,
      subcode: undefined,
      isTransient: false,
      message: "Undeliverable: Not on WhatsApp"
    }],
    ["a title that is a sentence", { code: 131049, title: "It was not delivered.", error_data: { details: "Wait." } }, {
      code: 131049,
      subcode: undefined,
      isTransient: false,
      message: "It was not delivered: Wait."
    }],
    ["words that are none", { code: 1, message: 7, title: null, error_data: { details: ["x"] }, error_subcode: "x" }, {
      code: 1,
      subcode: undefined,
      isTransient: false,
      message: ""
    }],
    ["one that passes", { code: 1, message: "Later", is_transient: true }, {
      code: 1,
      subcode: undefined,
      isTransient: true,
      message: "Later"
    }],
    ["one that says so in another way", { code: 1, message: "Later", is_transient: "true" }, {
      code: 1,
      subcode: undefined,
      isTransient: false,
      message: "Later"
    }],
    ["no code", { message: "Something" }, undefined],
    ["a code that is none", { code: 1.5 }, undefined],
    ["a code in words", { code: "many" }, undefined],
    ["a number too large", { code: "9007199254740993" }, undefined],
    ["nothing", undefined, undefined],
    ["a list", [{ code: 1 }], undefined],
    ["text", "code", undefined]
  ]
  for (const [name, given, expected] of shapes) {
    it(name, () => assert.deepStrictEqual(GraphError.read(given), expected))
  }

  it.prop("any JSON can be read as an error", { u: Schema.Json }, ({ u }) => {
    const code = GraphError.read({ code: u })?.code
    if (code !== undefined) assert.strictEqual(code, Number(u))
    assert.isString(GraphError.read({ code: 1, message: u, title: u, error_data: u, details: u })?.message)
  })
})

describe("Meta's words", () => {
  const token = "EAAGm0PX4ZCpsBAKZCz9ZBmGXh0ZAqC3HZB7yTq"
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["a token", `Malformed access token ${token}`, "Malformed access token …"],
    ["a token in quotes", `Malformed access token "${token}".`, "Malformed access token \"…\"."],
    ["a number", "Recipient +16315551234 or 16315551234 is not on the list", "Recipient … or … is not on the list"],
    ["a number with separators", "Recipient +1 (631) 555-1234 is not on the list", "Recipient … is not on the list"],
    ["the shortest numbers", "Recipient 5551234 or +1(55)12", "Recipient … or …"],
    ["what is shorter is none", "555123 of +1(5)12", "555123 of +1(5)12"],
    ["several lines", "one\r\n\ttwo\u0000three\u0085four", "one two three four"],
    ["half a character", "a\uD800b", "a\uFFFDb"],
    [
      "the place of a parameter stays",
      "Param template['components'][0]['parameters'][10]['text'] must not be empty",
      "Param template['components'][0]['parameters'][10]['text'] must not be empty"
    ],
    [
      "counts and codes stay",
      "(#132000) number of localizable_params (1) does not match the expected number of params (2)",
      "(#132000) number of localizable_params (1) does not match the expected number of params (2)"
    ]
  ]
  for (const [name, given, expected] of cases) {
    it(name, () => assert.strictEqual(GraphError.wordsOf(given), expected))
  }

  it("leave out what the message said", () => {
    assert.strictEqual(
      GraphError.wordsOf("value 'Ana Souza' of 'Ana' is not right for (2)", ["Ana Souza", "Souza", "2"]),
      "value '…' of 'Ana' is not right for (2)"
    )
    assert.strictEqual(
      GraphError.read({ code: 1, message: "bad: line\none" }, ["line\none"])?.message,
      "bad: …"
    )
  })

  it("Meta's words have at most 300 characters as people count them", () => {
    assert.strictEqual(GraphError.wordsOf("🙂".repeat(300)), "🙂".repeat(300))
    assert.strictEqual(GraphError.wordsOf("🙂".repeat(301)), `${"🙂".repeat(299)}…`)
  })

  it("reading Meta's words takes time in proportion to their length", () => {
    const begun = process.cpuUsage()
    assert.strictEqual(GraphError.wordsOf("a".repeat(100_000)), `${"a".repeat(299)}…`)
    // a search for a digit from every letter on would take many seconds of the processor
    const { system, user } = process.cpuUsage(begun)
    assert.isBelow((system + user) / 1000, 2000)
  })

  it.prop("Meta's words are one line that storages accept, and a token in them is hidden", {
    before: Schema.String,
    after: Schema.String
  }, ({ after, before }) => {
    const words = GraphError.wordsOf(`${before}${token}${after}`)
    assert.isTrue(Schema.is(PlainText.PlainText)(words))
    assert.notMatch(words, /\p{Cc}/u)
    assert.isAtMost([...words].length, 300)
    assert.notInclude(words, token)
  })
})
