import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import * as PlainJson from "../src/PlainJson.ts"

/** As many objects, one inside the other. */
const nested = (levels: number): unknown => {
  let json: unknown = 1
  for (let i = 0; i < levels; i++) json = { a: json }
  return json
}

/** As many arrays, one inside the other. */
const listed = (levels: number): unknown => {
  let json: unknown = 1
  for (let i = 0; i < levels; i++) json = [json]
  return json
}

const decode = Schema.decodeUnknownExit(PlainJson.PlainJsonObject, { onExcessProperty: "error" })
const isPlain = (json: unknown): boolean => decode(json)._tag === "Success"

it("a JSON object of plain text may nest 32 levels deep, and no deeper", () => {
  assert.isTrue(isPlain(nested(PlainJson.maxDepth)))
  assert.isTrue(isPlain({ a: listed(PlainJson.maxDepth - 1) }))
  assert.isFalse(isPlain(nested(PlainJson.maxDepth + 1)))
  assert.isFalse(isPlain({ a: listed(PlainJson.maxDepth) }))
})

it("a depth of 30,000 levels is refused without an exception", () => {
  assert.isFalse(isPlain(nested(30_000)))
  assert.isFalse(isPlain({ a: listed(30_000) }))
})

for (const text of ["\u0000", "a\u0000b", "\ud800", "\udc00a"]) {
  const name = JSON.stringify(text)
  it(`${name} is refused as a value and as a name at any level`, () => {
    for (
      const json of [{ a: text }, { a: { b: [1, text] } }, { [text]: 1 }, { a: { [text]: 1 } }, { a: [{ [text]: 1 }] }]
    ) {
      assert.isFalse(isPlain(json))
    }
  })
}

it("a violation is the first one, with its path", () => {
  assert.deepStrictEqual(PlainJson.violationOf({ a: ["x", { b: "\u0000" }], c: "\ud800" }, 32), {
    path: ["a", 1, "b"],
    issue: "must be well-formed text without NUL characters"
  })
  assert.deepStrictEqual(PlainJson.violationOf({ a: [{ "\u0000": 1 }] }, 32), {
    path: ["a", 0],
    issue: "has a name that must be well-formed text without NUL characters"
  })
  assert.deepStrictEqual(PlainJson.violationOf({ a: [[[]]] }, 2), {
    path: ["a", 0],
    issue: "must not nest deeper than 2 levels"
  })
  assert.isUndefined(PlainJson.violationOf({ a: ["x", { b: "😀" }], c: null }, 32))
})

it("the depth of JSON in UTF-8 is judged without parsing it, and brackets inside of text do not count", () => {
  const utf8 = new TextEncoder()
  const isDeeper = (json: string, depth: number) => PlainJson.isDeeper(utf8.encode(json), depth)
  for (const levels of [1, 2, 64, 100_000]) {
    for (
      const json of [`${"[".repeat(levels)}${"]".repeat(levels)}`, `${"{\"a\":".repeat(levels)}1${"}".repeat(levels)}`]
    ) {
      assert.isFalse(isDeeper(json, levels))
      assert.isTrue(isDeeper(json, levels - 1))
    }
  }
  assert.isFalse(isDeeper(String.raw`{"[[[":"{{{ \" [[[ \\","ü[{":[1]}`, 2))
  assert.isTrue(isDeeper(String.raw`{"\\":[[]]}`, 2))
  assert.isFalse(isDeeper(`[${"[],".repeat(1000)}[]]`, 2))
})

it("the values of JSON in UTF-8 are counted without parsing it, and what is inside of text does not count", () => {
  const hasTooMany = (json: string) => PlainJson.hasTooMany(new TextEncoder().encode(json))
  const zeros = (count: number) => `[${"0,".repeat(count - 1)}0]`
  assert.isFalse(hasTooMany(zeros(PlainJson.maxValues)))
  assert.isTrue(hasTooMany(zeros(PlainJson.maxValues + 1)))
  assert.isTrue(hasTooMany("[".repeat(PlainJson.maxValues + 1)))
  assert.isTrue(hasTooMany("{\"a\":".repeat(PlainJson.maxValues + 1)))
  assert.isFalse(hasTooMany(`["${",[{".repeat(PlainJson.maxValues)}\\"",1]`))
})
