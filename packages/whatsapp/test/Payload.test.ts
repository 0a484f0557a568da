import { assert, describe, it } from "@effect/vitest"
import * as Payload from "../src/Payload.ts"

describe("JSON", () => {
  it("JSON with escapes is read, and other text is not", () => {
    assert.deepStrictEqual(Payload.parse("{\"caf\\u00e9\":\"\\ud83d\\ude2e\"}"), { "café": "😮" })
    for (const text of ["", "{", "{}x", "\uFFFD", "undefined"]) assert.isUndefined(Payload.parse(text))
  })

  it("text and numbers that no storage accepts are replaced", () => {
    assert.deepStrictEqual(Payload.parse("{\"a\\u0000\":[\"b\\u0000c\",\"\\ud800\",1e999,-1e999]}"), {
      "a\uFFFD": ["b\uFFFDc", "\uFFFD", null, null]
    })
  })

  it("JSON is cut off below a fixed depth, however deep it is", () => {
    const depth = 200_000
    const read = Payload.parse(`{"near":1,"far":${"[".repeat(depth)}${"]".repeat(depth)}}`)
    assert.strictEqual(
      JSON.stringify(read),
      `{"near":1,"far":${"[".repeat(31)}null${"]".repeat(31)}}`
    )
  })

  it("fields named __proto__ and constructor are fields like any other", () => {
    const read = Payload.parse("{\"__proto__\":{\"id\":\"x\"},\"constructor\":1}")
    assert.strictEqual(JSON.stringify(read), "{\"__proto__\":{\"id\":\"x\"},\"constructor\":1}")
    assert.deepStrictEqual(Payload.shape({ id: Payload.word, toString: Payload.word })(read), {
      id: undefined,
      toString: undefined
    })
  })
})

describe("fields", () => {
  it("a word is text or a whole number, of bounded length", () => {
    assert.strictEqual(Payload.word(" wamid.x "), "wamid.x")
    assert.strictEqual(Payload.word(1689556908129832), "1689556908129832")
    assert.strictEqual(Payload.word("x".repeat(512)), "x".repeat(512))
    for (const json of [undefined, null, "", "  ", 1.5, 2 ** 53, true, [], {}, "x".repeat(513)]) {
      assert.isUndefined(Payload.word(json))
    }
  })

  it("a flag is a boolean, or its text", () => {
    for (const json of [true, "true", " True "]) assert.isTrue(Payload.flag(json))
    for (const json of [false, "false", "FALSE"]) assert.isFalse(Payload.flag(json))
    for (const json of [undefined, null, 0, 1, "", "yes", [true], {}]) assert.isUndefined(Payload.flag(json))
  })

  it("a time is in seconds or milliseconds, as text or as a number", () => {
    for (const json of ["1744609253", 1744609253, "1744609253000", 1744609253000, " 1744609253 "]) {
      assert.strictEqual(Payload.instant(json), 1744609253000)
    }
    assert.strictEqual(Payload.instant(1744609253.25), 1744609253250)
    for (const json of [undefined, null, "", 0, "0", -5, "-5", "soon", "0x10", "1e9", 1e18, [1744609253], {}]) {
      assert.isUndefined(Payload.instant(json))
    }
  })

  it("a shape reads each field in its own way, and gets none from JSON that is not an object", () => {
    const read = Payload.shape({ id: Payload.word, items: Payload.list, inner: Payload.shape({ at: Payload.instant }) })
    assert.deepStrictEqual(read({ id: 7, items: "none", inner: { at: "12" }, more: 1 }), {
      id: "7",
      items: [],
      inner: { at: 12000 }
    })
    for (const json of [undefined, null, 1, "x", [], ["id"]]) {
      assert.deepStrictEqual(read(json), { id: undefined, items: [], inner: { at: undefined } })
    }
  })
})
