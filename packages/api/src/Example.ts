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

/** The names and ids in examples: a resource has the same id in all examples. */
export const request = "req_01K8ZQ4V5S8WV1K2M4N6P7Q9AB"
export const workspace = "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR"
export const apiKey = "key_01K8ZQ1B3C5D7E9F0G2H4J6K8M"
export const person = { userId: "usr_01K8ZPZ0N5D7E9G3H4J6K8M0ST", email: "ana@example.com" }
export const phoneNumber = { id: "pn_01K8ZPZ0Q7F9G1H5J6K8M0N2VW", written: "+15550001111" }
export const customer = "+15551234567"
export const sent = {
  id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
  providerId: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
  reference: "order-1042"
}
export const received = {
  id: "msg_01K8ZQ6W7X8Y9Z0A1B2C3D4E5F",
  providerId: "wamid.HBgLMTU1NTEyMzQ1NjcVAgASGBQzQTlGQ0Y"
}
export const media = "med_01K8ZQ4V6T9XW2M3N5P7R8S0AB"
export const campaign = "cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R"
export const webhook = { id: "whk_01K8ZQ2C4D6E8F0G1H3J5K7M9N", url: "https://example.com/webhooks" }
export const event = "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC"
export const secret = "whsec_8Kq2vN5xT1bR7mJ4wY0zC3dF6gH9sL2pQ5eA8uX1"
export const address = "203.0.113.7"
export const password = "correct horse battery"

/** A code of an authenticator app. */
export const code = "492039"

/** Times of one day, from the start of the service to the answer of a receiver. */
export const times = {
  start: "2026-01-02T03:00:00.000Z",
  created: "2026-01-02T03:04:05.000Z",
  sent: "2026-01-02T03:04:05.300Z",
  delivered: "2026-01-02T03:04:05.600Z",
  recorded: "2026-01-02T03:04:05.678Z",
  answered: "2026-01-02T03:04:06.120Z",
  received: "2026-01-02T03:05:07.000Z",
  nextDay: "2026-01-03T03:00:00.000Z",
  nextWeek: "2026-01-09T03:04:05.678Z"
} as const

/** A template's content, as a send fills it. */
export const template = { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }
