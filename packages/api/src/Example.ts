/**
 * Examples of requests and responses for the OpenAPI document. Each is an annotation of a schema or an endpoint. An
 * endpoint shows the examples of its schemas, unless it has its own ({@link Shown}).
 */
import { Context, type Schema, SchemaAST } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

const key = "shown"

/** Gives a schema an example, in its encoded form. */
export const shown = <S extends Schema.Top>(example: S["Encoded"]) => (schema: S): S["Rebuild"] =>
  schema.annotate({ [key]: example })

const found = (schema: Schema.Constraint): unknown => SchemaAST.resolve(schema.ast)?.[key]

/** The example of a schema. Throws if the schema has none. */
export const of = <S extends Schema.Constraint>(schema: S): S["Encoded"] => {
  const example = found(schema)
  if (example === undefined) throw new Error(`no example of ${SchemaAST.resolve(schema.ast)?.identifier ?? "a schema"}`)
  return example
}

/** The examples of an endpoint that replace those of its schemas. */
export interface Example {
  readonly request?: unknown
  /** Several requests by name, instead of `request`. */
  readonly requests?: { readonly [name: string]: unknown }
  readonly response?: unknown
}

/** The annotation with an endpoint's own examples. */
export const Shown = Context.Reference<Example>("@wac/api/Example/Shown", { defaultValue: () => ({}) })

/** An example of a response: the example of its schema, with some fields changed. */
export const changed = <S extends Schema.Constraint>(schema: S, changes: Partial<S["Encoded"]>) => ({
  response: { ...of(schema) as object, ...changes }
})

/** An example of a page under `/v1`, with these items. */
export const page = <Item>(items: ReadonlyArray<Item>) => ({ data: items, has_more: false, next_cursor: null })

/** An example of a page under `/internal`, with these items. */
export const internalPage = <Item>(items: ReadonlyArray<Item>) => ({ data: items, hasMore: false, nextCursor: null })

/** The annotation with the example of a list: a page with the example of `item`. Empty if `item` has no example. */
export const ofItem = (item: Schema.Constraint, pageOf: (items: ReadonlyArray<unknown>) => object) => {
  const example = found(item)
  return example === undefined ? {} : { [key]: pageOf([example]) }
}

/**
 * The annotation with the example of a struct under its names on the wire, which `rename` gives. Empty if `struct` has
 * no example.
 */
export const renamed = (struct: Schema.Constraint, rename: (example: unknown) => unknown) => {
  const example = found(struct)
  return example === undefined ? {} : { [key]: rename(example) }
}

const firstOf = (schemas: Iterable<Schema.Constraint>): unknown => {
  for (const schema of schemas) {
    const example = found(schema)
    if (example !== undefined) return example
  }
  return undefined
}

/** The status of a response that has a body. */
const statusOf = ({ ast }: Schema.Constraint): unknown =>
  SchemaAST.resolve(ast)?.["httpApiStatus"] ?? ast.context?.annotations?.["httpApiStatus"] ?? 200

/** The example of an endpoint's response with a status; `undefined` if there is none. */
export const ofResponse = (endpoint: HttpApiEndpoint.Top, status: number): unknown => {
  const { response } = Context.get(endpoint.annotations, Shown)
  return response ??
    firstOf([...endpoint.success].filter((schema) => statusOf(schema) === status))
}

/** The examples of an endpoint: its own, and its schema's for a request if it has no own one. */
export const ofEndpoint = (endpoint: HttpApiEndpoint.Top): Example => {
  const own = Context.get(endpoint.annotations, Shown)
  const request = firstOf([...endpoint.payload.values()].flatMap(({ schemas }) => schemas))
  return { ...request === undefined ? {} : { request }, ...own }
}
