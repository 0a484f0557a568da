/**
 * The OpenAPI document as it is served: generated from the endpoints and completed with what their schemas do not
 * contain. Pure.
 */
import { Predicate } from "effect"
import type { OpenApi } from "effect/http-api"
import * as Endpoints from "./Endpoints.ts"
import * as OpenApiErrors from "./OpenApiErrors.ts"
import * as OpenApiOperation from "./OpenApiOperation.ts"
import { webhooks } from "./webhooks/OpenApiWebhooks.ts"

const isDescription = (part: unknown): part is { readonly description: string } =>
  Predicate.hasProperty(part, "description") && Object.keys(part).length === 1

/** A field's schema with the description beside it, instead of in an intersection (`allOf`) with it. */
const withDescription = (fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } => {
  const { allOf, ...others } = fields
  if (!Array.isArray(allOf) || !allOf.some(isDescription)) return fields
  const schemas = allOf.filter((part) => !isDescription(part))
  return {
    ...others,
    ...(schemas.length === 1 && Object.keys(others).length === 0
      ? schemas[0]
      : schemas.length > 0
      ? { allOf: schemas }
      : {}),
    ...Object.assign({}, ...allOf.filter(isDescription))
  }
}

/**
 * Adapts schemas to linters and client generators: integers have a width, arrays have items, no union has one member,
 * and no intersection has a description as a member.
 */
const tidied = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(tidied)
  if (!Predicate.isObject(part)) return part
  const fields = withDescription(
    Object.fromEntries(Object.entries(part).map(([key, value]) => [key, tidied(value)] as const))
  )
  if (Array.isArray(fields["anyOf"]) && fields["anyOf"].length === 1) {
    const { anyOf: [only], ...others } = fields as { anyOf: [object] }
    return { ...only, ...others }
  }
  return {
    ...fields,
    ...(fields["type"] === "integer" && fields["format"] === undefined ? { format: "int64" } : {}),
    ...(fields["type"] === "array" && fields["items"] === undefined ? { items: {} } : {})
  }
}

/**
 * Removes the schemas that differ from another one only by a number after the name: the generator makes such copies of
 * a schema where it meets the schema's encoded form.
 */
const withoutCopies = (document: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  const { schemas } = document.components
  const originals = new Map(
    Object.keys(schemas).map((name) => [name, name.replace(/_\d+$/u, "")] as const)
      .filter(([name, original]) => name !== original && original in schemas)
  )
  const renamed = <Part>(part: Part): Part =>
    JSON.parse(
      JSON.stringify(part).replaceAll(
        /(?<="#\/components\/schemas\/)\w+(?=")/gu,
        (name) => originals.get(name) ?? name
      )
    )
  const textOf = (name: string): string => JSON.stringify(renamed(schemas[name]))
  // copies may refer to one another, so each counts as a copy until a difference is found
  for (;;) {
    const differing = [...originals].filter(([name, original]) => textOf(name) !== textOf(original))
    if (differing.length === 0) break
    differing.forEach(([name]) => originals.delete(name))
  }
  return renamed({
    ...document,
    components: {
      ...document.components,
      schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => !originals.has(name)))
    }
  })
}

/** HTTP's schemes are registered in lower case; some tools know `bearer` but not `Bearer`. */
const withRegisteredName = (scheme: OpenApi.OpenAPISecurityScheme): OpenApi.OpenAPISecurityScheme =>
  scheme.type === "http" ? { ...scheme, scheme: scheme.scheme.toLowerCase() } : scheme

const operationOf = (operation: OpenApi.OpenAPISpecOperation) =>
  OpenApiOperation.complete(Endpoints.byOperation.get(operation.operationId)!, operation)

/** Completes the generated document. */
export const complete = (generated: OpenApi.OpenAPISpec) => {
  const document = withoutCopies(tidied(generated) as OpenApi.OpenAPISpec)
  return {
    ...document,
    info: {
      ...document.info,
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
      contact: { name: "Whoever runs this server" }
    },
    servers: [{
      url: "/",
      description: "The server that serves this document, whether local, staging or production",
      "x-internal": false
    }],
    paths: Object.fromEntries(
      Object.entries(document.paths).map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            operationOf(operation as OpenApi.OpenAPISpecOperation)
          ])
        )
      ])
    ),
    webhooks,
    components: {
      ...document.components,
      securitySchemes: Object.fromEntries(
        Object.entries(document.components.securitySchemes).map(([name, scheme]) => [name, withRegisteredName(scheme)])
      ),
      headers: OpenApiOperation.headers,
      examples: OpenApiErrors.examples
    }
  }
}

/** The document for a server whose routes are mounted at `mount` (`/messaging`, or empty for its root). */
export const mountedAt = (document: OpenApi.OpenAPISpec, mount: string): OpenApi.OpenAPISpec => ({
  ...document,
  servers: (document.servers ?? []).map((server) => ({ ...server, url: mount === "" ? server.url : mount }))
})
