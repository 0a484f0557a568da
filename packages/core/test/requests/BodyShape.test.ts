import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as BodyShape from "../../src/requests/BodyShape.ts"
import { checks } from "../checks.ts"

const known = new Set(["to", "type", "template", "name", "bodyParams", "messages", "count"])

const of = (json: unknown) => BodyShape.of(json, known).map(({ length, path, type }) => [path, type, length])

describe("the shape of a body", () => {
  it("a body is described by the paths, types and lengths of its fields, without a value", () => {
    assert.deepStrictEqual(of({ to: "+15551234567", template: { name: "promo", bodyParams: ["Ana", "20 %"] } }), [
      ["to", "text", 12],
      ["template", "object", 2],
      ["template.name", "text", 5],
      ["template.bodyParams", "list", 2],
      ["template.bodyParams[0]", "text", 3]
    ])
    assert.deepStrictEqual(of({ count: 7, type: null, name: false }), [
      ["count", "number", null],
      ["type", "null", null],
      ["name", "boolean", null]
    ])
  })

  it("fields with names that the API does not have are counted together, and nothing in them is described", () => {
    assert.deepStrictEqual(of({ "+15551234567": { to: "x" }, to: "y", "Ana Diaz": "z" }), [
      ["to", "text", 1],
      ["", "unknown", 2]
    ])
    assert.deepStrictEqual(of({ template: { secret: 1 } }), [["template", "object", 1], ["template", "unknown", 1]])
  })

  it("a body that is no object has its type alone", () => {
    assert.deepStrictEqual(of("secret"), [["", "text", 6]])
    assert.deepStrictEqual(of([]), [["", "list", 0]])
  })

  it("a long body is described by its first fields only", () => {
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, i]))
    assert.strictEqual(BodyShape.of(body, new Set(Object.keys(body))).length, BodyShape.maxFields)
  })

  const name = Schema.Literals([...known, "a secret", "+15551234567"])
  const value = Schema.Union([Schema.Json, Schema.Record(name, Schema.Union([Schema.Json, Schema.Array(Schema.Json)]))])

  it.prop(
    "no text of a body is in its shape, but the known names",
    { json: Schema.Record(name, value) },
    ({ json }) => {
      for (const { path, type } of BodyShape.of(json, known)) {
        assert.match(path, /^(?:(?:(?:^|\.)(?:to|type|template|name|bodyParams|messages|count))|\[0\])*$/)
        assert.include(BodyShape.types, type)
      }
    },
    checks
  )
})
