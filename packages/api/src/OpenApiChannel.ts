/**
 * The OpenAPI document of a service whose provider's channel lacks capabilities of WhatsApp (contract §16): without the
 * kinds of message and without the endpoints that need them. Pure.
 */
import { Capabilities, Message } from "@wac/core"
import { Predicate, Struct } from "effect"
import type { OpenApi } from "effect/http-api"

type Fields = { readonly [name: string]: unknown }

/** The endpoints that need a capability, by the beginning of their paths. */
const needing: ReadonlyArray<readonly [capability: keyof Capabilities.Capabilities, path: RegExp, method?: string]> = [
  ["templates", /^\/(v1|internal)\/(templates|campaigns)(\/|$)/],
  ["uploads", /^\/v1\/media$/, "post"]
]

const isServed = (capabilities: Capabilities.Capabilities, path: string, method: string): boolean =>
  !needing.some(([capability, pattern, only]) =>
    !capabilities[capability] && pattern.test(path) && (only === undefined || only === method)
  )

const schemaOf = (kind: Message.MessageType): string => `Send${kind.charAt(0).toUpperCase()}${kind.slice(1)}`

const refTo = (name: string): string => `#/components/schemas/${name}`

/** Whether an example contains a message of one of these kinds. */
const isOf = (kinds: ReadonlySet<string>, example: unknown): boolean =>
  Array.isArray(example)
    ? example.some((one) => isOf(kinds, one))
    : Predicate.isObject(example) &&
      ("to" in example && kinds.has(String(example["type"])) || Object.values(example).some((one) => isOf(kinds, one)))

const kept = (examples: unknown, kinds: ReadonlySet<string>): unknown =>
  Array.isArray(examples)
    ? examples.filter((example) => !isOf(kinds, example))
    : Predicate.isObject(examples)
    ? Object.fromEntries(Object.entries(examples).filter(([, example]) => !isOf(kinds, example)))
    : examples

/** The document with only those schemas that its other parts refer to, directly or through other schemas. */
const reachable = (document: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  const { schemas } = document.components
  const namesIn = (part: unknown): ReadonlyArray<string> =>
    [...JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/gu)].map(([, name]) => name!)
  const found = new Set<string>()
  const rest = [...namesIn({ ...document, components: Struct.omit(document.components, ["schemas"]) })]
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (found.has(name)) continue
    found.add(name)
    rest.push(...namesIn(schemas[name]))
  }
  return {
    ...document,
    components: {
      ...document.components,
      schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)))
    }
  }
}

/** The document for a channel. */
export const of = (document: OpenApi.OpenAPISpec, capabilities: Capabilities.Capabilities): OpenApi.OpenAPISpec => {
  if (Capabilities.missingIn(capabilities).length === 0) return document
  const kinds = new Set<Message.MessageType>(
    Message.MessageType.literals.filter((kind) => !Capabilities.hasKind(capabilities, kind))
  )
  const gone = new Set([...kinds].map((kind) => refTo(schemaOf(kind))))
  const isGone = (part: unknown) => Predicate.isObject(part) && gone.has(String(part["$ref"]))
  const adapted = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.filter((one) => !isGone(one)).map(adapted)
    if (!Predicate.isObject(part)) return part
    return Object.fromEntries(
      Object.entries(part).flatMap(([name, field]) =>
        isGone(field) ? [] : [[name, adapted(name === "examples" ? kept(field, kinds) : field)]]
      )
    )
  }
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, operations]) =>
      [
        path,
        Object.fromEntries(
          Object.entries(operations as Fields).filter(([method]) => isServed(capabilities, path, method))
        )
      ] as const
    ).filter(([, operations]) => Object.keys(operations).length > 0)
  )
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas).map(([name, schema]) => [
      name,
      !capabilities.quotes && Message.MessageType.literals.some((kind) => schemaOf(kind) === name)
        ? withoutContext(schema)
        : schema
    ])
  )
  return reachable(
    adapted({ ...document, paths, components: { ...document.components, schemas } }) as OpenApi.OpenAPISpec
  )
}

const withoutContext = (schema: Fields): Fields => ({
  ...schema,
  ...(Predicate.isObject(schema["properties"])
    ? { properties: Struct.omit(schema["properties"] as Fields, ["context"]) }
    : {})
})
