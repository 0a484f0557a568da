/**
 * Checks the host's input by the same schemas as request bodies: unknown fields are refused by name. A field that is
 * `undefined` counts as omitted.
 */
import { Errors, Idempotency } from "@wac/core"
import { InvalidInput } from "@wac/http"
import { Effect, Predicate, Result, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"

/** The deepest level from which fields are removed. No input has fields of ours or free JSON below it. */
const deepest = 64

/**
 * Removes fields that are `undefined`. Copies each object once: those of an ORM refer to each other, and as many paths
 * lead through them as no process can walk.
 */
export const given = (value: unknown, depth = deepest, copies = new Map<unknown, unknown>()): unknown => {
  if (depth === 0 || typeof value !== "object" || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) {
    const copy: Array<unknown> = []
    copies.set(value, copy)
    for (const element of value) copy.push(given(element, depth - 1, copies))
    return copy
  }
  const copy = {}
  copies.set(value, copy)
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue
    // an assignment to `__proto__` would make no field
    Object.defineProperty(copy, name, { value: given(field, depth - 1, copies), enumerable: true })
  }
  return copy
}

const invalid = (message: string) => Result.fail(new Errors.InvalidBody({ reason: "invalid_field", message }))

/** Decodes a value by its schema, or reports which field is wrong. */
export const reader = <A, I>(schema: Schema.Codec<A, I>) => {
  // interpreted decoding takes a tenth of a send in memory; if code generation is not allowed, decoding stays
  // interpreted
  SchemaJITCompiler.enable(schema.ast)
  const decode = Schema.decodeUnknownResult(schema)
  const strict = { onExcessProperty: "error" } as const
  return (input: unknown): Result.Result<A, Errors.InvalidBody> => {
    try {
      const read = decode(input, strict)
      if (Result.isSuccess(read)) return Result.succeed(read.success)
      if (!Predicate.isObject(input)) return invalid("an object is expected")
      // fields that are `undefined` are removed only after a failure, so that valid input costs no copy
      return Result.mapError(
        decode(given(input), strict),
        (error) => InvalidInput.of({ kind: "Payload", issue: error.issue }, input)
      )
    } catch {
      // a getter or a proxy threw
      return invalid("it could not be read")
    }
  }
}

/** {@link reader} as an effect. */
export const read = <A, I>(schema: Schema.Codec<A, I>) => {
  const from = reader(schema)
  return (input: unknown): Effect.Effect<A, Errors.InvalidBody> => Effect.suspend(() => Effect.fromResult(from(input)))
}

/** Decodes an idempotency key. Errors use the host's name of the option. */
export const idempotencyKey = (key: unknown): Result.Result<Idempotency.IdempotencyKey, Errors.InvalidBody> => {
  const param = "idempotencyKey"
  if (key === undefined) {
    return Result.fail(
      new Errors.InvalidBody({ reason: "missing_idempotency_key", param, message: `${param} is required` })
    )
  }
  return Result.mapError(
    // a number or an object is a mistake, and its text could be the key of another call
    Idempotency.parseKey(typeof key === "string" ? key : ""),
    ({ reason }) => new Errors.InvalidBody({ reason, param, message: `${param} must be ${Idempotency.keyForm}` })
  )
}
