/**
 * What the host hands over, checked as a request's body is: unknown fields are refused and named. A field that is
 * `undefined` is one that is left out.
 */
import { Errors, Idempotency } from "@wac/core"
import { InvalidInput } from "@wac/http"
import { Effect, Predicate, Result, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"

/** The same without the fields that are there in name only. */
const given = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(given)
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined).map(([name, field]) => [name, given(field)])
  )
}

/** Reads a value by its schema, or says which field is wrong. */
export const reader = <A, I>(schema: Schema.Codec<A, I>) => {
  // of a send in memory, decoding by the interpreter is a tenth; where code may not be generated it stays with that
  SchemaJITCompiler.enable(schema.ast)
  const decode = Schema.decodeUnknownResult(schema)
  const strict = { onExcessProperty: "error" } as const
  return (input: unknown): Result.Result<A, Errors.InvalidBody> => {
    const read = decode(input, strict)
    if (Result.isSuccess(read)) return Result.succeed(read.success)
    if (!Predicate.isObject(input)) {
      return Result.fail(new Errors.InvalidBody({ reason: "invalid_field", message: "an object is expected" }))
    }
    // looked for only where something is wrong, so that a send that is right pays nothing for it
    return Result.mapError(
      decode(given(input), strict),
      (error) => InvalidInput.of({ kind: "Payload", issue: error.issue }, input)
    )
  }
}

/** The same as an effect. */
export const read = <A, I>(schema: Schema.Codec<A, I>) => {
  const from = reader(schema)
  return (input: unknown): Effect.Effect<A, Errors.InvalidBody> => Effect.suspend(() => Effect.fromResult(from(input)))
}

/** An idempotency key, named as the host calls it. */
export const idempotencyKey = (key: unknown): Result.Result<Idempotency.IdempotencyKey, Errors.InvalidBody> => {
  const param = "idempotencyKey"
  if (key === undefined || key === null) {
    return Result.fail(
      new Errors.InvalidBody({ reason: "missing_idempotency_key", param, message: `${param} is required` })
    )
  }
  return Result.mapError(
    Idempotency.parseKey(String(key)),
    ({ reason }) =>
      new Errors.InvalidBody({ reason, param, message: `${param} must be 1 to 255 visible ASCII characters` })
  )
}
