import { assert, describe, it, vi } from "@effect/vitest"
import { Schema } from "effect"
import * as FieldPath from "../src/FieldPath.ts"
import * as RepeatedField from "../src/RepeatedField.ts"

describe("a repeated field", () => {
  it.each<[json: string, path: string]>([
    [`{"to":"a","to":"b"}`, "to"],
    [`{"to":"a","to":"a"}`, "to"],
    [`{"to":1,"x":{"y":[1,{"z":2}]},"to":2}`, "to"],
    [`{"to":"a","t\\u006f":"b"}`, "to"],
    [`{ "to" : "a" , "to" : "b" }`, "to"],
    [`{"a":{"b":1,"c":2,"b":3}}`, "a.b"],
    [`{"a":[{"b":1},{"b":1,"b":2}]}`, "a[1].b"],
    [`[[],[1,{"a":{},"a":[]}]]`, "[1][1].a"],
    [`{"":1,"":2}`, ""],
    [`{"__proto__":1,"__proto__":2}`, "__proto__"],
    [`{"a\\"b":1,"a\\"b":2}`, "a\"b"],
    [`{"a\\\\":1,"a\\\\":2}`, "a\\"],
    [`{"a":"}","a":1}`, "a"],
    [`{"a":",","b":"{\\"b\\":1","b":1}`, "b"]
  ])("%s has %s twice", (json, path) => {
    assert.strictEqual(FieldPath.of(RepeatedField.find(json) ?? ["none"]), path)
  })

  it.each([
    `{"to":"to"}`,
    `{"a":{"to":1},"b":{"to":2},"to":3}`,
    `[{"to":1},{"to":2}]`,
    `{"a":["to","to"],"to":"to"}`,
    `{"a":"{\\"to\\":1,\\"to\\":2}"}`,
    `{"a":1,"A":2}`,
    "\"to\"",
    "1",
    "null"
  ])("%s has no field twice", (json) => {
    assert.doesNotThrow(() => JSON.parse(json))
    assert.isUndefined(RepeatedField.find(json))
  })

  it.prop("no value has a field twice once it is written by JSON.stringify", { value: Schema.Json }, ({ value }) => {
    assert.isUndefined(RepeatedField.find(JSON.stringify(value)))
  })

  it.prop("any text is read without an error", { text: Schema.String }, ({ text }) => {
    for (const broken of [text, `{"a":${text}`, `{"${text}`, `[${text}`, `}${text}]`]) RepeatedField.find(broken)
  })

  it("a text of any depth is read without recursion", () => {
    const deep = 500_000
    const json = `${"{\"a\":[".repeat(deep)}{"b":1,"b":2}${"]}".repeat(deep)}`
    assert.lengthOf(RepeatedField.find(json) ?? [], 2 * deep + 1)
  })
})

it.each<readonly [what: string, json: (count: number) => string]>([
  ["names", (count) => `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join()}}`],
  ["escaped names", (count) => `{${Array.from({ length: count }, (_, i) => `"\\u0061${i}":0`).join()}}`],
  ["objects", (count) => `[${"{\"a\":1},".repeat(count)}{}]`],
  ["lists in lists", (count) => "[".repeat(count) + "]".repeat(count)],
  ["texts that do not end", (count) => `["${"\\\"".repeat(count)}`]
])("each character of very many %s is looked at once", (_, json) => {
  const look = vi.spyOn(String.prototype, "charCodeAt")
  try {
    for (const count of [1000, 20_000]) {
      look.mockClear()
      const text = json(count)
      RepeatedField.find(text)
      assert.isAtLeast(look.mock.calls.length, count)
      assert.isAtMost(look.mock.calls.length, 2 * text.length)
    }
  } finally {
    look.mockRestore()
  }
})
