/**
 * What is said of a wrong request depends on the form of what was asked for, not on the names of its schemas.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as InvalidInput from "../src/InvalidInput.ts"

const described = (field: Schema.Codec<unknown>, value: unknown) => {
  const input = { field: value }
  return Result.match(Schema.decodeUnknownResult(Schema.Struct({ field }))(input), {
    onSuccess: () => undefined,
    onFailure: ({ issue }) => InvalidInput.of({ kind: "Payload", issue }, input).message
  })
}

const Text = Schema.String.annotate({ identifier: "Text" })
const Thing = Schema.Struct({ text: Text }).annotate({ identifier: "Thing" })
const Things = Schema.Array(Thing).annotate({ identifier: "Things" })
const Word = Schema.Literals(["one", "two"]).annotate({ identifier: "Word" })

describe("what is said of a wrong field", () => {
  it.each<[schema: Schema.Codec<unknown>, value: unknown, message: string]>([
    [Text, 5, "field: expected string"],
    [Text.check(Schema.isMinLength(2)), 5, "field: expected string"],
    [Thing, 5, "field: expected object"],
    [Thing, { text: 5 }, "field.text: expected string"],
    [Things, 5, "field: expected array"],
    [Word, 5, "field must be one or two"],
    [Schema.NullOr(Word), 5, "field: expected \"one\" | \"two\" | null"],
    [Schema.NullOr(Thing), 5, "field: expected object | null"],
    [Schema.Union([Things, Text, Schema.Boolean]), 5, "field: expected array | string | boolean"],
    [Schema.Int, "5", "field: expected number"],
    [Schema.Record(Schema.String, Text), 5, "field: expected object"]
  ])("a message describes invalid input without the names of schemas: $2", (schema, value, message) => {
    assert.strictEqual(described(schema, value), message)
  })
})
