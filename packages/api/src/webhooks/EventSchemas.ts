/**
 * The events as JSON Schema (draft 2020-12), made from the webhooks of the OpenAPI document, for programs that validate
 * or generate types without reading OpenAPI. Pure.
 */
import { Predicate } from "effect"
import type { OpenApi } from "effect/http-api"

/** The path of the schemas on every server. */
export const path = "/schemas/events.json"

type Json = { readonly [key: string]: unknown }

const ofComponents = "#/components/schemas/"

/** A schema with its references in `$defs`; notes the names of the components that it refers to. */
const moved = (part: unknown, named: Set<string>): unknown => {
  if (Array.isArray(part)) return part.map((one) => moved(one, named))
  if (!Predicate.isObject(part)) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key !== "$ref" || typeof value !== "string" || !value.startsWith(ofComponents)) {
        return [key, moved(value, named)]
      }
      const name = value.slice(ofComponents.length)
      named.add(name)
      return [key, `#/$defs/${name}`]
    })
  )
}

/** The components of these names, with those that they refer to. */
const components = (schemas: Json, names: ReadonlySet<string>, found: Json = {}): Json => {
  const missing = [...names].filter((name) => !(name in found))
  if (missing.length === 0) return found
  const more = new Set<string>()
  const next = { ...found, ...Object.fromEntries(missing.map((name) => [name, moved(schemas[name], more)])) }
  return components(schemas, more, next)
}

/**
 * One schema that matches every event in its combined form, with a definition for each type of event. `base` is the
 * address of the service, without a `/` at its end.
 */
export const of = (document: OpenApi.OpenAPISpec, base: string) => {
  const webhooks = (document as unknown as { readonly webhooks: { readonly [type: string]: Webhook } }).webhooks
  const named = new Set<string>()
  const types = Object.entries(webhooks).map(([type, { post: { requestBody } }]) =>
    [type, moved(requestBody.content["application/json"].schema, named)] as const
  )
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `${base}${path}`,
    title: "Event",
    description: "An event of a workspace in its combined form, as webhooks and `GET /v1/events` have it.",
    oneOf: types.map(([type]) => ({ $ref: `#/$defs/${type}` })),
    $defs: { ...Object.fromEntries(types), ...components(document.components.schemas, named) }
  }
}

interface Webhook {
  readonly post: {
    readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: unknown } } }
  }
}
