/**
 * The events as JSON Schema (draft 2020-12), made from the webhooks of the OpenAPI document, for programs that validate
 * or generate types without reading OpenAPI. Pure.
 */
import type { OpenApi } from "effect/http-api"
import { copier } from "../JsonSchemaDefs.ts"

/** The path of the schemas on every server. */
export const path = "/schemas/events.json"

/**
 * One schema that matches every event in its combined form, with a definition for each type of event. `base` is the
 * address of the service, without a `/` at its end.
 */
export const of = (document: OpenApi.OpenAPISpec, base: string) => {
  const webhooks = (document as unknown as { readonly webhooks: { readonly [type: string]: Webhook } }).webhooks
  const { copy, defs } = copier(document)
  const types = Object.entries(webhooks).map(([type, { post: { requestBody } }]) =>
    [type, copy(requestBody.content["application/json"].schema)] as const
  )
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `${base}${path}`,
    title: "Event",
    description: "An event of a workspace in its combined form, as webhooks and `GET /v1/events` have it.",
    oneOf: types.map(([type]) => ({ $ref: `#/$defs/${type}` })),
    $defs: { ...Object.fromEntries(types), ...defs }
  }
}

interface Webhook {
  readonly post: {
    readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: unknown } } }
  }
}
