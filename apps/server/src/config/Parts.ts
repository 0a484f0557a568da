/**
 * Reads a variable that holds many settings as one JSON object, each of which may be omitted.
 */
import { Effect, Schema, SchemaIssue } from "effect"
import type * as Variable from "../Variable.ts"
import { BadVariable } from "../VariableText.ts"
import { read } from "./Reading.ts"

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * Describes the first invalid part: its path, and what it must be. Returns `undefined` if the whole value is invalid.
 * Never contains a value.
 */
const partOf = (issue: SchemaIssue.Issue): string | undefined => {
  const [first] = issuesOf(issue).issues
  const path = (first?.path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".")
  if (first === undefined || path === "") return undefined
  const words = first.message.replace(/^Expected /, "")
  return words === "no excess property"
    ? `no part ${path}`
    : words === "Missing key"
    ? `a part ${path}`
    : `${path} to be ${words}`
}

/** Reads the given parts by the schema `patch` and passes them to `complete`. Errors name the first invalid part. */
export const parts = Effect.fnUntraced(
  function*<Patch, A>(
    variable: Variable.Name,
    expected: string,
    patch: Schema.Codec<Patch, string>,
    complete: (patch: Patch) => Effect.Effect<A, Schema.SchemaError>
  ) {
    const text = yield* read(variable, Schema.String, expected, "{}")
    return yield* Schema.decodeEffect(patch)(text, { onExcessProperty: "error" }).pipe(
      Effect.flatMap(complete),
      Effect.mapError(({ issue }) => {
        const part = partOf(issue)
        return new BadVariable({ variable, expected: part === undefined ? expected : `${part}, in ${expected}` })
      })
    )
  }
)
