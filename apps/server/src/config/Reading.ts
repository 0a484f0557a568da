/**
 * Reads environment variables by schemas. Errors name the variable and what is expected, but never its value.
 */
import { Context, Effect, Redacted, Schema } from "effect"
import type * as Variable from "../Variable.ts"
import { BadVariable, type Environment } from "../VariableText.ts"
import * as VariableText from "../VariableText.ts"

/** The environment that is read. */
export class Variables extends Context.Service<Variables, Environment>()("@wac/server/config/Reading/Variables") {}

/** The value of a variable, or the fallback if it is not set. */
export const read = Effect.fnUntraced(function*<A, I>(
  variable: Variable.Name,
  schema: Schema.Codec<A, I>,
  expected: string,
  fallback: A
) {
  const text = yield* VariableText.text(yield* Variables, variable)
  return text === undefined
    ? fallback
    : yield* Effect.mapError(
      Schema.decodeUnknownEffect(schema)(text),
      () => new BadVariable({ variable, expected })
    )
})

/** The value of a variable; `undefined` if it is not set. */
export const optional = <A, I>(variable: Variable.Name, schema: Schema.Codec<A, I>, expected: string) =>
  read(variable, Schema.UndefinedOr(schema), expected, undefined)

/** The value of a secret variable, redacted; `undefined` if it is not set. */
export const secret = <A, I>(variable: Variable.Name, schema: Schema.Codec<A, I>, expected: string) =>
  Effect.map(optional(variable, schema, expected), (value) => value === undefined ? undefined : Redacted.make(value))

/** Reads a variable that is required with a setting, such as `AUTH=oidc`. */
export const needed = (setting: string) =>
  Effect.fnUntraced(function*<A, I>(variable: Variable.Name, schema: Schema.Codec<A, I>, expected: string) {
    const value = yield* optional(variable, schema, expected)
    return value ?? (yield* new BadVariable({ variable, expected: `${expected}; required with ${setting}` }))
  })

const Flag = Schema.Literals(["true", "false"])

/** Whether a variable is `true`; it is `false` if it is not set. */
export const flag = (variable: Variable.Name) =>
  Effect.map(read(variable, Flag, "true or false", "false"), (text) => text === "true")

/** An http or https URL. */
export const WebAddress = Schema.URLFromString.check(
  Schema.makeFilter((url: URL) => url.protocol === "http:" || url.protocol === "https:" || "must be http or https")
)

/** ASCII without spaces. */
export const VisibleAscii = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]+$/))

/** A token as the `Authorization` header has it. */
export const BearerToken = Schema.String.check(Schema.isPattern(/^[-A-Za-z0-9._~+/]+=*$/))
