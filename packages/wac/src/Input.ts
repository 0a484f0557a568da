/**
 * What the host hands over, checked as a request's body is: unknown fields are refused and named.
 */
import { Errors, Idempotency } from "@wac/core"
import { InvalidInput } from "@wac/http"
import { Effect, Result, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"

/** Reads a value by its schema, or says which field is wrong. */
export const reader = <A, I>(schema: Schema.Codec<A, I>) => {
  // of a send in memory, decoding by the interpreter is a tenth; where code may not be generated it stays with that
  SchemaJITCompiler.enable(schema.ast)
  const decode = Schema.decodeUnknownResult(schema)
  return (input: unknown): Result.Result<A, Errors.InvalidBody> =>
    Result.mapError(
      decode(input, { onExcessProperty: "error" }),
      (error) => InvalidInput.of({ kind: "Payload", issue: error.issue }, input)
    )
}

/** The same as an effect. */
export const read = <A, I>(schema: Schema.Codec<A, I>) => {
  const from = reader(schema)
  return (input: unknown): Effect.Effect<A, Errors.InvalidBody> => Effect.suspend(() => Effect.fromResult(from(input)))
}

/** The fields that are given. */
export const given = (fields: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

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
