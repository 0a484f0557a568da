/**
 * Structs under the names that `/v1` gives to their fields (contract §1 *casing*), for what both doors show: the fields
 * are those of the dashboard, so that neither shape nor mapping is written a second time.
 */
import { Predicate, Record, Schema, SchemaAST } from "effect"
import * as Example from "./Example.ts"

/** A name in snake_case: `start_at` for `startAt`. */
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First> ? `${First}${Snake<Rest>}` : `_${Lowercase<First>}${Snake<Rest>}`
  : ""

type Names<Fields> = { readonly [Name in keyof Fields]: Name extends string ? Snake<Name> : never }

/** A struct with the same fields, which are in snake_case when it is encoded. Fields of its fields stay as they are. */
type OnWire<S extends Schema.Struct<Schema.Struct.Fields>> = Schema.encodeKeys<S, Names<S["fields"]>>

/** A name in snake_case. */
export const nameOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An example under `/v1`: templates have the same names everywhere. */
export const exampleOnWire = (part: unknown): unknown =>
  Array.isArray(part)
    ? part.map(exampleOnWire)
    : Predicate.isObject(part)
    ? Record.mapEntries(
      part,
      (value, name) => [nameOf(name), name.startsWith("template") ? value : exampleOnWire(value)]
    )
    : part

/**
 * {@link OnWire}; `identifier` is its name in the OpenAPI document, and its description and example are those of
 * `model`, whose fields some of the struct's may replace.
 */
export const onWire = <S extends Schema.Struct<Schema.Struct.Fields>>(
  struct: S,
  identifier: string,
  model: Schema.Top = struct
): OnWire<S> => {
  const names = Object.fromEntries(Object.keys(struct.fields).map((name) => [name, nameOf(name)]))
  const description = SchemaAST.resolveDescription(model.ast)
  return struct.pipe(
    Schema.encodeKeys(names as never),
    Schema.annotateEncoded({ identifier, ...(description === undefined ? {} : { description }) }),
    (schema) => schema.annotate(Example.renamed(model, exampleOnWire))
  ) as never
}
