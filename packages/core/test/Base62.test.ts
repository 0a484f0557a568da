import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { encode, ofHex, random } from "../src/Base62.ts"
import { between, checks } from "./checks.ts"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

describe("ofHex", () => {
  it("the last digits of a number in hexadecimal digits are those that encode writes", () => {
    for (const value of [0, 61, 62, 2 ** 32 - 1]) assert.strictEqual(ofHex(value.toString(16), 6), encode(value, 6))
    assert.strictEqual(ofHex((2 ** 32 - 1).toString(16), 3), "FC3")
    assert.match(ofHex("f".repeat(64), 32), /^[0-9A-Za-z]{32}$/)
  })
})

describe("encode", () => {
  it.each([
    { value: 0, text: "000000" },
    { value: 1, text: "000001" },
    { value: 9, text: "000009" },
    { value: 10, text: "00000A" },
    { value: 35, text: "00000Z" },
    { value: 36, text: "00000a" },
    { value: 61, text: "00000z" },
    { value: 62, text: "000010" },
    { value: 2 ** 32 - 1, text: "4gfFC3" }
  ])("$value is $text", ({ text, value }) => {
    assert.strictEqual(encode(value, 6), text)
  })

  it.prop("a number can be read back from its text", { value: between(0, 2 ** 32 - 1) }, ({ value }) => {
    const text = encode(value, 6)
    assert.strictEqual(text.length, 6)
    assert.strictEqual([...text].reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0), value)
  }, checks)
})

describe("random", () => {
  /** Bytes 0 to 255 in order, repeatedly. */
  const counting = () => {
    let next = 0
    return SecureRandom.make((size) => Uint8Array.from({ length: size }, () => next++ % 256))
  }

  it.effect("random draws every character from exactly four of the 256 byte values", () =>
    Effect.gen(function*() {
      // two runs over all byte values, each of which ignores the last eight
      const text = yield* random(counting(), 2 * 248)
      for (const character of alphabet) assert.strictEqual(text.split(character).length - 1, 8, character)
    }))

  it.effect("random requests more bytes if too few are usable", () =>
    Effect.gen(function*() {
      let calls = 0
      const stingy = SecureRandom.make((size) =>
        Uint8Array.from({ length: size }, (_, i) => calls++ < 5 || i > 0 ? 255 : 3)
      )
      assert.strictEqual(yield* random(stingy, 3), "333")
    }))

  it.effect.prop(
    "random returns the requested length",
    { length: between(0, 200) },
    ({ length }) =>
      Effect.gen(function*() {
        const text = yield* random(counting(), length)
        assert.strictEqual(text.length, length)
        assert.match(text, /^[0-9A-Za-z]*$/)
      }),
    checks
  )
})
