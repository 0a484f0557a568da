/**
 * Makes the structs of `/v1`, whose fields have names in snake_case (contract §1 *casing*), from those of the
 * dashboard, so that neither the fields nor a mapping is written a second time.
 */
import { Predicate, Record, Schema, SchemaAST } from "effect"
import * as Example from "./Example.ts"

/** A name in snake_case: `start_at` for `startAt`. */
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First> ? `${First}${Snake<Rest>}` : `_${Lowercase<First>}${Snake<Rest>}`
  : ""

type Renaming = { readonly [name: string]: string }

type Names<Fields, Renamed extends Renaming> = {
  readonly [Name in keyof Fields]: Name extends keyof Renamed ? Renamed[Name]
    : Name extends string ? Snake<Name>
    : never
}

/** A struct whose encoded form has names in snake_case. The fields of its fields keep their names. */
type OnWire<S extends Schema.Struct<Schema.Struct.Fields>, Renamed extends Renaming = {}> = Schema.encodeKeys<
  S,
  Names<S["fields"], Renamed>
>

/** A name in snake_case. */
export const nameOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An example with names in snake_case, except within templates, whose fields have the same names everywhere. */
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
 * Makes an {@link OnWire} of a struct. `identifier` is its name in the OpenAPI document. Its description and example
 * are those of `model`, of which the struct may be a variant. `renamed` has the fields with a name of their own.
 */
export const onWire = <S extends Schema.Struct<Schema.Struct.Fields>, const Renamed extends Renaming = {}>(
  struct: S,
  identifier: string,
  model: Schema.Top = struct,
  renamed?: Renamed
): OnWire<S, Renamed> => {
  const names = Object.fromEntries(Object.keys(struct.fields).map((name) => [name, nameOf(name)]))
  const description = SchemaAST.resolveDescription(model.ast)
  return struct.pipe(
    Schema.encodeKeys({ ...names, ...renamed } as never),
    Schema.annotateEncoded({ identifier, ...(description === undefined ? {} : { description }) }),
    (schema) => schema.annotate(Example.renamed(model, exampleOnWire))
  ) as never
}
