import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, cleaned, PlainText } from "../src/PlainText.ts"
import { between as number, checks } from "./checks.ts"

const is = Schema.is(PlainText)

describe("plain text", () => {
  it.each(["", "a", "olá 👋 é", "a\nb\tc", "\u0001\u007f", "\ufeff", "\u{10ffff}", "👨‍👩‍👧"])(
    "%j is plain text",
    (text) => {
      assert.isTrue(is(text))
    }
  )

  it.each(["\u0000", "a\u0000b", "\ud800", "\udc00", "a\ud83d", "\udc4b\ud83d", "👋\ud800"])(
    "%j is not plain text",
    (text) => {
      assert.isFalse(is(text))
    }
  )

  it.prop(
    "exactly the texts that survive UTF-8 and have no NUL are plain text",
    { text: Schema.String },
    ({ text }) => {
      const same = new TextDecoder().decode(new TextEncoder().encode(text)) === text
      // TextDecoder removes a byte order mark
      if (!text.startsWith("\ufeff")) assert.strictEqual(is(text), same && !text.includes("\u0000"))
    },
    checks
  )
})

describe("text that was cleaned", () => {
  it.each([["a\u0000b", "a\uFFFDb"], ["\ud800", "\uFFFD"], ["olá 👋", "olá 👋"]])(
    "%j is cleaned to %j",
    (text, expected) => {
      assert.strictEqual(cleaned(text), expected)
      assert.isTrue(is(expected))
    }
  )
})

describe("text of a length", () => {
  const [one, two] = [Schema.is(between(1, 2)), Schema.is(between(0, 3))]

  it("length is counted in characters, not in storage units", () => {
    assert.deepStrictEqual(["", "a", "ab", "abc", "👋", "👋👋", "👋👋👋"].map((text) => one(text)), [
      false,
      true,
      true,
      false,
      true,
      true,
      false
    ])
    assert.isTrue(two(""))
  })

  it("the error explains the limits in one sentence", () => {
    for (const wrong of ["", "abc"]) {
      const { message } = Result.getOrThrow(Result.flip(Schema.decodeResult(between(1, 2))(wrong)))
      assert.strictEqual(message, "must have 1 to 2 characters")
    }
  })

  it("text of a length must be plain text", () => {
    assert.isFalse(one("\u0000"))
    assert.isFalse(one("\ud800"))
  })

  it.prop(
    "a text is accepted exactly if its length is within the limits",
    { length: number(0, 40), character: Schema.Literals(["a", "é", "👋"]) },
    (_) => {
      const text = _.character.repeat(_.length)
      assert.strictEqual(Schema.is(between(5, 20))(text), _.length >= 5 && _.length <= 20)
    },
    checks
  )
})
