/**
 * The API as a Postman collection (format 2.1), made from the OpenAPI document: a folder for each part, a request for
 * each operation and each of its examples, and variables for the address and the API key. Pure.
 */
import type { OpenApi } from "effect/http-api"

/** The path of the collection on every server. */
export const path = "/postman.json"

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header" | "cookie"
  readonly required?: boolean
  readonly description?: string
}

interface Content {
  readonly example?: unknown
  readonly examples?: { readonly [name: string]: { readonly value?: unknown } }
}

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly tags?: ReadonlyArray<string>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly security?: ReadonlyArray<{ readonly [scheme: string]: unknown }>
  readonly requestBody?: { readonly content: { readonly [type: string]: Content } }
  readonly responses: {
    readonly [status: string]: { readonly content?: { readonly [type: string]: Content } | undefined }
  }
}

const json = "application/json"

const written = (value: unknown): string => JSON.stringify(value, undefined, 2)

const described = (description: string | undefined) => description === undefined ? {} : { description }

/** A URL in Postman's form, in which `{id}` is `:id`. */
const urlOf = (template: string, parameters: ReadonlyArray<Parameter>) => {
  const segments = template.slice(1).split("/").map((segment) => segment.replace(/^\{(.+)\}$/, ":$1"))
  const variables = parameters.filter((parameter) => parameter.in === "path")
  const query = parameters.filter((parameter) => parameter.in === "query")
  return {
    raw: `{{baseUrl}}/${segments.join("/")}`,
    host: ["{{baseUrl}}"],
    path: segments,
    ...query.length === 0 ? {} : {
      query: query.map(({ description, name, required }) => ({
        key: name,
        value: "",
        ...described(description),
        disabled: required !== true
      }))
    },
    ...variables.length === 0 ? {} : {
      variable: variables.map(({ description, name }) => ({ key: name, value: "", ...described(description) }))
    }
  }
}

/** The value of a header. Postman makes a new key for each request; to repeat a request, replace it by a fixed key. */
const valueOf = (name: string): string => name === "idempotency-key" ? "{{$guid}}" : ""

/** The header by which a request outside a browser that changes something is accepted under `/internal`. */
const ofOwnPages = { key: "Sec-Fetch-Site", value: "same-origin" }

const headersOf = (
  method: string,
  template: string,
  parameters: ReadonlyArray<Parameter>,
  type: string | undefined
) => [
  ...template.startsWith("/internal/") && method !== "get" ? [ofOwnPages] : [],
  // Postman itself adds the type of a form, with its boundary
  ...type === undefined || type.startsWith("multipart/") ? [] : [{ key: "Content-Type", value: type }],
  ...parameters.filter((parameter) => parameter.in === "header").map(({ description, name, required }) => ({
    key: name,
    value: valueOf(name),
    ...described(description),
    ...required === true ? {} : { disabled: true }
  }))
]

const bodyOf = (type: string | undefined, example: unknown) => {
  if (type === undefined) return {}
  if (type.startsWith("multipart/")) {
    return { body: { mode: "formdata", formdata: [{ key: "file", type: "file", src: null }] } }
  }
  return {
    body: type === json
      ? { mode: "raw", raw: example === undefined ? "" : written(example), options: { raw: { language: "json" } } }
      : { mode: "raw", raw: "", options: { raw: { language: "text" } } }
  }
}

/** The examples of a body by name. If there is only one example or none, one pair without a name. */
const examplesOf = (content: Content | undefined): ReadonlyArray<readonly [name: string | undefined, value: unknown]> =>
  content?.examples === undefined
    ? [[undefined, content?.example]]
    : Object.entries(content.examples).map(([name, { value }]) => [name, value])

/** Only `/v1` needs credentials here: Postman keeps the session's cookie from the sign-in. */
const authOf = (security: Operation["security"]) =>
  security?.some((scheme) => "apiKey" in scheme) === true ? {} : { auth: { type: "noauth" } }

const itemsOf = (template: string, method: string, operation: Operation) => {
  const { description, parameters = [], requestBody, responses, security, summary = `${method} ${template}` } =
    operation
  const types = Object.keys(requestBody?.content ?? {})
  const type = types.includes(json) ? json : types[0]
  const [status, response] = Object.entries(responses).find(([status]) => status.startsWith("2"))!
  const answer = response.content?.[json]?.example
  return examplesOf(type === undefined ? undefined : requestBody?.content[type]).map(([name, example]) => {
    const title = name === undefined ? summary : `${summary}: ${name}`
    const request = {
      method: method.toUpperCase(),
      header: headersOf(method, template, parameters, type),
      url: urlOf(template, parameters),
      ...bodyOf(type, example),
      ...described(description),
      ...authOf(security)
    }
    return {
      name: title,
      request,
      response: answer === undefined ? [] : [{
        name: title,
        originalRequest: request,
        status: "OK",
        code: Number(status),
        header: [{ key: "Content-Type", value: json }],
        cookie: [],
        body: written(answer),
        _postman_previewlanguage: "json"
      }]
    }
  })
}

const methods = ["get", "post", "put", "patch", "delete"]

/** The collection. `base` is the address of the service, without a `/` at its end. */
export const of = (document: OpenApi.OpenAPISpec, base: string) => {
  const operations = Object.entries(document.paths).flatMap(([template, item]) =>
    Object.entries(item as unknown as { readonly [method: string]: Operation })
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({
        tag: operation.tags?.[0],
        items: itemsOf(template, method, operation)
      }))
  )
  return {
    info: {
      name: document.info.title,
      ...described(document.info.description),
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: base, type: "string" },
      { key: "apiKey", value: "", type: "string" }
    ],
    item: (document.tags ?? []).flatMap(({ description, name }) => {
      const item = operations.filter(({ tag }) => tag === name).flatMap(({ items }) => items)
      return item.length === 0 ? [] : [{ name, ...described(description), item }]
    })
  }
}
