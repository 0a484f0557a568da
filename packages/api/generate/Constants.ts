/**
 * Constants of the API definition, for packages that depend on nothing: each is an export of its own, so that a bundle
 * contains only those that are used. Pure.
 */
import { ApiScope, Member } from "@wac/core"
import { Context, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { Access, Api } from "../src/index.ts"

/** The name of an export for these words, which may be in snake case. */
const camelCase = (...words: ReadonlyArray<string>): string =>
  words.flatMap((word) => word.split("_")).map((word, index) =>
    `${index === 0 ? word.slice(0, 1).toLowerCase() : word.slice(0, 1).toUpperCase()}${word.slice(1)}`
  ).join("")

const written = (constants: Iterable<readonly [name: string, value: unknown]>): string =>
  [...constants].map(([name, value]) => {
    const isList = Array.isArray(value)
    const text = isList ? `[${value.map((item) => JSON.stringify(item)).join(", ")}]` : JSON.stringify(value)
    return `export const ${name} = ${text}${isList ? " as const" : ""}\n`
  }).join("")

const endpoints = (() => {
  const all: Array<{ readonly group: string; readonly endpoint: HttpApiEndpoint.Top }> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      if (endpoint.path.startsWith("/internal/")) {
        all.push({ group: group.identifier.replace(/Dashboard$/, ""), endpoint })
      }
    }
  })
  return all
})()

/** The lowest role that may call each endpoint of the dashboard, by resource and action. */
export const roles = written(endpoints.flatMap(({ endpoint, group }) => {
  const access = Context.getOrUndefined(endpoint.annotations, Access.Access)
  return access?._tag === "Session" ? [[camelCase(group, endpoint.identifier), access.role] as const] : []
}))

/** The parts of a JSON schema that limit a value, or contain other parts. A reference leads to another named type. */
interface JsonSchema {
  readonly maxLength?: number
  readonly minLength?: number
  readonly maxItems?: number
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
}

/** A limit of each field of these schemas' named types, by the name of the type and the fields on the way. */
const limitsIn = (
  schemas: ReadonlyArray<Schema.Top>,
  limit: "maxLength" | "maxItems" | "minLength"
): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  const widest = limit === "minLength" ? Math.min : Math.max
  const visit = (path: ReadonlyArray<string>, schema: JsonSchema): void => {
    const value = schema[limit]
    if (value !== undefined) {
      const place = camelCase(...path)
      found.set(place, widest(value, found.get(place) ?? value))
    }
    for (const [field, value] of Object.entries(schema.properties ?? {})) visit([...path, field], value)
    for (const part of [schema.items, ...schema.anyOf ?? [], ...schema.oneOf ?? [], ...schema.allOf ?? []]) {
      if (part !== undefined) visit(path, part)
    }
  }
  for (const schema of schemas) {
    for (const [name, definition] of Object.entries(Schema.toJsonSchemaDocument(schema).definitions)) {
      visit([name], definition as JsonSchema)
    }
  }
  return found
}

const requests = endpoints.flatMap(({ endpoint }) => [
  endpoint.payload.get("application/json")?.schemas[0],
  endpoint.query
])
  .filter((schema) => schema !== undefined)
  .map((schema) => Schema.toType("schema" in schema ? schema.schema as Schema.Top : schema))

/**
 * The longest text of each field of the dashboard's requests, in characters. White space that the service removes does
 * not count.
 */
export const lengths = written(limitsIn(requests, "maxLength"))

/** The shortest text of each field of the dashboard's requests, in characters, where more than one is needed. */
export const leastLengths = written([...limitsIn(requests, "minLength")].filter(([, least]) => least > 1))

/** The most items of each list of the dashboard's requests. */
export const counts = written(limitsIn(requests, "maxItems"))

/** The roles and scopes. */
export const names = written([
  ["roles", Member.Role.literals],
  ["scopes", ApiScope.all],
  ["scopeOfAll", ApiScope.ofAll],
  ["defaultScopes", ApiScope.defaults]
])
