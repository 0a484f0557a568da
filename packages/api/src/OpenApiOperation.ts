/**
 * What the OpenAPI document adds to the generated operation of an endpoint: the headers of responses, the possible
 * errors, and examples, according to the endpoint's annotations (`Access`, `EndpointAnnotations`). Pure.
 */
import { Idempotency } from "@wac/core"
import { Context, Predicate, Record, Schema, SchemaAST } from "effect"
import type { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Access } from "./Access.ts"
import * as EndpointAnnotations from "./EndpointAnnotations.ts"
import * as Example from "./Example.ts"
import * as ExampleValues from "./ExampleValues.ts"
import * as OpenApiErrors from "./OpenApiErrors.ts"
import { idempotencyKeyJsonSchema } from "./Parameters.ts"

/** The headers of responses. */
export const headers = {
  "Request-Id": {
    description: "The request's id, as in an error's body and in the log.",
    required: true,
    schema: { type: "string", pattern: "^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$" },
    example: ExampleValues.request
  },
  "Retry-After": {
    description: "Seconds to wait before the same request can succeed.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    example: 1
  },
  "RateLimit-Policy": {
    description:
      "Every limiter that the request spent: its name, its capacity (`q`) and the seconds in which it fills up (`w`). " +
      "A structured field (IETF draft RateLimit header fields).",
    schema: { type: "string" },
    example: "\"workspace\";q=200;w=2"
  },
  RateLimit: {
    description:
      "The remaining tokens of each limiter (`r`), and the seconds until it is full or, after a refusal, has a token " +
      "again (`t`).",
    schema: { type: "string" },
    example: "\"workspace\";r=199;t=1"
  },
  "Idempotent-Replayed": {
    description: "Present, and `true`, if this repeats the response of an earlier request with the same key.",
    schema: { type: "string", const: "true" },
    example: "true"
  },
  "Preference-Applied": {
    description: "Present if the header `Prefer` caused this status.",
    schema: { type: "string", const: "respond-async" },
    example: "respond-async"
  },
  "WWW-Authenticate": {
    description: "The scheme with which to authenticate.",
    required: true,
    schema: { type: "string", const: "Bearer" },
    example: "Bearer"
  },
  "Set-Cookie": {
    description: "The session's cookie: HttpOnly, SameSite=Lax, and `Secure` with the prefix `__Host-` over https.",
    required: true,
    schema: { type: "string" },
    example: "__Host-wac_session=…; Path=/; HttpOnly; Secure; SameSite=Lax"
  }
} as const

const reference = (name: keyof typeof headers) => ({ [name]: { $ref: `#/components/headers/${name}` } })

const takesPreference = ({ headers }: HttpApiEndpoint.Top): boolean => {
  const fields = headers === undefined ? undefined : SchemaAST.toType(headers.ast)
  return fields !== undefined && SchemaAST.isObjects(fields) &&
    fields.propertySignatures.some(({ name }) => name === "prefer")
}

const headersOf = (endpoint: HttpApiEndpoint.Top, status: number) => {
  const signsIn = EndpointAnnotations.has(endpoint, EndpointAnnotations.SignsIn)
  const spendsALimit = signsIn || EndpointAnnotations.has(endpoint, EndpointAnnotations.ChecksSecret) ||
    EndpointAnnotations.has(endpoint, EndpointAnnotations.Sends) ||
    Context.getOrUndefined(endpoint.annotations, Access)?._tag === "ApiKey"
  return {
    ...reference("Request-Id"),
    ...(spendsALimit ? { ...reference("RateLimit-Policy"), ...reference("RateLimit") } : {}),
    ...(EndpointAnnotations.useOfKey(endpoint) === "none" ? {} : reference("Idempotent-Replayed")),
    ...(status === 202 && takesPreference(endpoint) ? reference("Preference-Applied") : {}),
    ...(status === 429 || status === 503 ? reference("Retry-After") : {}),
    ...(status === 401 ? reference("WWW-Authenticate") : {}),
    ...(signsIn && status < 300 ? reference("Set-Cookie") : {})
  }
}

/** The parameter for a POST that accepts an Idempotency-Key but does not require it. */
const optionalIdempotencyKey = {
  name: Idempotency.header.toLowerCase(),
  in: "header",
  required: false,
  description: "If sent, a repetition within 24 hours with the same key and body gets the same response again, and " +
    "changes nothing.",
  schema: idempotencyKeyJsonSchema
} as const

/**
 * The schemas of numbers in a query, by name. The generated ones describe how text is read as a number, which readers
 * do not need.
 */
const numbersIn = ({ query }: HttpApiEndpoint.Top): ReadonlyMap<PropertyKey, object> => {
  const fields = query === undefined ? undefined : SchemaAST.toType(query.ast)
  return new Map(
    (fields !== undefined && SchemaAST.isObjects(fields) ? fields.propertySignatures : [])
      .filter(({ type }) => SchemaAST.isNumber(type))
      .map(({ name, type }) => [name, { ...Schema.toJsonSchemaDocument(Schema.make(type)).schema, format: "int32" }])
  )
}

const signature = {
  name: "x-service-signature",
  in: "header",
  required: false,
  description: "`t=<unix seconds>,v1=<hex>`: the request's signature with the key's signing secret. Required if the " +
    "key has `requireSignature`; if present, it must be valid.",
  schema: { type: "string", maxLength: 4096, pattern: "^t=[0-9]+,v1=[0-9a-f]{64}$" }
} as const

const withExamples = (content: OpenApi.OpenApiSpecContent | undefined, shown: object) =>
  content === undefined
    ? {}
    : {
      content: Object.fromEntries(
        // if an endpoint can also return a file, only the JSON has the example
        Object.entries(content).map(([type, media], i) => [type, i === 0 ? { ...media, ...shown } : media])
      )
    }

const exampled = (content: OpenApi.OpenApiSpecContent | undefined, example: unknown) =>
  example === undefined ? {} : withExamples(content, { example })

const exampledRequest = (content: OpenApi.OpenApiSpecContent, { request, requests }: Example.Example) =>
  requests === undefined
    ? exampled(content, request)
    : withExamples(content, { examples: Record.map(requests, (value) => ({ value })) })

/** Copies a value's description to its parameter, where pages and generators look for it. */
const describedBy = (schema: object) =>
  Predicate.hasProperty(schema, "description") ? { description: schema.description } : {}

const isIdempotencyKey = ({ in: place, name }: OpenApi.OpenAPISpecParameter): boolean =>
  place === "header" && name === Idempotency.header.toLowerCase()

const responsesOf = (
  endpoint: HttpApiEndpoint.Top,
  { responses }: OpenApi.OpenAPISpecOperation
) =>
  Object.entries(responses).flatMap(([key, response]): Array<[string, object]> => {
    const status = Number(key)
    const headers = headersOf(endpoint, status)
    if (status < 400) {
      const description = status === 204 ? "Done." : response.description
      return [[key, {
        ...response,
        description,
        headers,
        ...exampled(response.content, Example.ofResponse(endpoint, status))
      }]]
    }
    const answer = OpenApiErrors.answerOf(endpoint, status)
    return answer === undefined ? [] : [[key, { ...answer, headers }]]
  })

/** An endpoint's description, completed with the scope that it requires of API keys. */
const scoped = (endpoint: HttpApiEndpoint.Top, { description }: OpenApi.OpenAPISpecOperation) => {
  const access = Context.getOrUndefined(endpoint.annotations, Access)
  return access?._tag === "ApiKey" ? { description: `${description} Requires the scope \`${access.scope}\`.` } : {}
}

/** Completes the generated operation of an endpoint. */
export const complete = (
  endpoint: HttpApiEndpoint.Top,
  operation: OpenApi.OpenAPISpecOperation
) => {
  const example = Example.ofEndpoint(endpoint)
  const needsKey = EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey)
  const numbers = numbersIn(endpoint)
  return {
    ...operation,
    ...scoped(endpoint, operation),
    parameters: [
      ...operation.parameters.map((parameter) =>
        isIdempotencyKey(parameter)
          ? { ...parameter, ...describedBy(parameter.schema) }
          : { ...parameter, schema: (numbers.get(parameter.name) ?? parameter.schema) as typeof parameter.schema }
      ),
      ...(EndpointAnnotations.useOfKey(endpoint) !== "none" && !needsKey ? [optionalIdempotencyKey] : []),
      ...(EndpointAnnotations.takesSignature(endpoint) ? [signature] : [])
    ],
    ...(operation.requestBody === undefined
      ? {}
      : { requestBody: { ...operation.requestBody, ...exampledRequest(operation.requestBody.content, example) } }),
    responses: Object.fromEntries(responsesOf(endpoint, operation))
  }
}
