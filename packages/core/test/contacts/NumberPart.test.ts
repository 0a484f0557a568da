import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isIn, type NumberPart, read, Written } from "../../src/contacts/NumberPart.ts"

describe("a part of a number", () => {
  it.each<readonly [text: string, part: NumberPart | undefined]>([
    ["+49 170 12", { digits: "4917012", isInternational: true }],
    ["0049 (0)170 12", { digits: "4917012", isInternational: true }],
    ["0170/12", { digits: "17012", isInternational: false }],
    ["(+49) 170 12", { digits: "4917012", isInternational: true }],
    ["(555) 124-", { digits: "555124", isInternational: false }],
    ["15551240007", { digits: "15551240007", isInternational: false }],
    ["+15551240007", { digits: "15551240007", isInternational: true }],
    ["555", undefined],
    ["+12345678901234567", undefined],
    ["order-1042", undefined],
    ["", undefined],
    ["(0)", undefined]
  ])("%s is read as %j", (text, part) => {
    assert.strictEqual(Schema.is(Written)(text), part !== undefined)
    if (part !== undefined) assert.deepStrictEqual(read(text), part)
  })

  it.each<readonly [text: string, name: string, expected: boolean]>([
    ["0049170", "+491701234567", true],
    ["0170 123", "+491701234567", true],
    ["(555) 124-", "+15551240007", true],
    ["1555124", "+15551240007", true],
    ["+555124", "+15551240007", false],
    ["240007", "+15551240007", false],
    ["1234", "US.1234", false]
  ])("%s is in %s: %s", (text, name, expected) => {
    assert.strictEqual(isIn(read(text), name), expected)
  })
})
