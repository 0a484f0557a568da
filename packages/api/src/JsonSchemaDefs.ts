/**
 * Copies JSON schemas out of the OpenAPI document, so that they stand alone. Pure.
 */
import { Predicate } from "effect"
import type { OpenApi } from "effect/http-api"

/** A JSON schema, or a part of one. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Whether a part of a schema is itself an object. */
export const isSchema = (value: unknown): value is JsonSchema => Predicate.isObject(value) && !Array.isArray(value)

const prefix = "#/components/schemas/"

/** The name of the component to which a part refers. */
const nameIn = ({ $ref }: JsonSchema): string | undefined =>
  typeof $ref === "string" && $ref.startsWith(prefix) ? $ref.slice(prefix.length) : undefined

/**
 * Returns `copy`, which copies a schema out of the document, and `defs`, which collects the schemas that copies refer
 * to, for their `$defs`. Keywords for whose values `isOmitted` is true are left out.
 */
export const copier = (
  document: OpenApi.OpenAPISpec,
  isOmitted: (keyword: string, value: unknown) => boolean = () => false
) => {
  const schemas: { readonly [name: string]: JsonSchema } = document.components.schemas
  const defs: { [name: string]: unknown } = {}
  const copy = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(copy)
    if (!isSchema(part)) return part
    const name = nameIn(part)
    if (name === undefined) {
      const kept = Object.entries(part).filter(([keyword, value]) => !isOmitted(keyword, value))
      return Object.fromEntries(kept.map(([keyword, value]) => [keyword, copy(value)]))
    }
    if (!Object.hasOwn(defs, name)) {
      // schemas may refer to themselves
      defs[name] = true
      defs[name] = copy(schemas[name])
    }
    return { ...part, $ref: `#/$defs/${name}` }
  }
  /** The schema that a reference refers to; any other schema as it is. */
  const resolved = (part: JsonSchema): JsonSchema => {
    const name = nameIn(part)
    return name === undefined ? part : schemas[name]!
  }
  return { copy, resolved, defs }
}
