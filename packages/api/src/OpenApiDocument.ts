/**
 * What the OpenAPI document says beyond what its endpoints' schemas do: the headers of answers, which errors an
 * operation can meet with an example of each, and examples of requests and answers. Pure.
 */
import { Event, Idempotency, Page } from "@wac/core"
import { Predicate } from "effect"
import type { OpenApi } from "effect/http-api"
import * as ErrorAddress from "./ErrorAddress.ts"
import type { ErrorBody } from "./ErrorBody.ts"
import { anchorOf, type Item, items } from "./ErrorReference.ts"
import * as Examples from "./OpenApiExamples.ts"

/** Where the page of all errors is; each has an anchor there. */
export const errorsPath = ErrorAddress.path

const headers = {
  "Request-Id": {
    description: "The request's id, as in an error's body and in the log.",
    required: true,
    schema: { type: "string", pattern: "^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$" },
    example: "req_01K8ZQ4V5S8WV1K2M4N6P7Q9AB"
  },
  "Retry-After": {
    description: "Seconds to wait before the same request can succeed.",
    required: true,
    schema: { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    example: 1
  },
  "RateLimit-Policy": {
    description:
      "Every limiter that was consulted: its name, how much it holds (`q`) and the seconds in which it fills (`w`). " +
      "A structured field (IETF draft RateLimit header fields).",
    schema: { type: "string" },
    example: "\"workspace\";q=200;w=2"
  },
  RateLimit: {
    description:
      "What is left of each (`r`), and the seconds until it is full, or has one again after a refusal (`t`).",
    schema: { type: "string" },
    example: "\"workspace\";r=199;t=1"
  },
  "Idempotent-Replayed": {
    description: "There, and `true`, when this is the answer that an earlier request with the same key got.",
    schema: { type: "string", const: "true" },
    example: "true"
  },
  "WWW-Authenticate": {
    description: "How to show who you are.",
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

/** What is known of an id without looking it up: a prefix and a ULID; a contact's has the customer's key after it. */
const identifier = {
  type: "string",
  maxLength: 200,
  pattern: "^[a-z]{2,4}_[0-7][0-9A-HJKMNP-TV-Z]{25}(:.+)?$"
} as const

/** A contact's: that of the phone number, and the customer's number or the provider's identifier of them. */
const contactIdentifier = { ...identifier, maxLength: 255, pattern: identifier.pattern.replace("$", ":.+$") }

/** Visible ASCII; the quoted form is unquoted, and of two quotes nothing is left. */
const idempotencyKey = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: "^(?:[!#-~][!-~]*|\"(?:[!#-~][!-~]*)?|\"\"[!-~]+)$"
} as const

/** Of a POST that needs none: clients that send one with every POST may (specification §4). */
const spareIdempotencyKey = {
  name: Idempotency.header.toLowerCase(),
  in: "header",
  required: false,
  description: "Accepted, as with every POST, and not needed: nothing is kept under it.",
  schema: idempotencyKey
} as const

/** A number, though an address is text: what is generated from the schema says how text is read as one. */
const limit = {
  description: "How many items at most",
  type: "integer",
  format: "int32",
  minimum: 1,
  maximum: Page.maxLimit,
  default: Page.defaultLimit
} as const

/** What decides which errors an operation meets and which headers its answers have. */
interface Traits {
  readonly id: string
  readonly changes: boolean
  readonly isPost: boolean
  readonly caller: "apiKey" | "session" | undefined
  readonly isSend: boolean
  readonly signsIn: boolean
  readonly hasBody: boolean
  readonly needsKey: boolean
  readonly namesSomething: boolean
}

const isIdempotencyKey = (parameter: OpenApi.OpenAPISpecParameter): boolean =>
  parameter.in === "header" && parameter.name === Idempotency.header.toLowerCase()

const traitsOf = (path: string, method: string, operation: OpenApi.OpenAPISpecOperation): Traits => {
  const [scheme] = operation.security.flatMap((requirement) => Object.keys(requirement))
  const isList = operation.parameters.some(({ name }) => name === "limit")
  return {
    id: operation.operationId,
    changes: method !== "get",
    isPost: method === "post",
    caller: scheme === "apiKey" || scheme === "session" ? scheme : undefined,
    isSend: operation.operationId === "messages.send",
    signsIn: operation.operationId.startsWith("signIn."),
    hasBody: operation.requestBody !== undefined,
    needsKey: operation.parameters.some(isIdempotencyKey),
    // what there is of the webhook, but for setting it, needs one to be there
    namesSomething: path.includes("{") || (path.startsWith("/internal/webhook") && method !== "put" && !isList)
  }
}

/** Whether an operation can meet an error, given that it has its status. */
const meets = (operation: Traits, { code, reason, status }: Item): boolean => {
  const { caller, changes, hasBody, isSend, needsKey, signsIn } = operation
  switch (code) {
    case "invalid_body":
      switch (reason) {
        case "missing_idempotency_key":
        case "invalid_idempotency_key":
          return needsKey
        case "template_params_mismatch":
        case "undeliverable":
          return isSend
        case "invalid_field":
        case "unknown_field":
          return hasBody || caller !== undefined
        default:
          return hasBody
      }
    case "unauthorized":
      switch (reason) {
        case "missing_session":
          return caller === "session"
        case "invalid_credentials":
          return signsIn
        case "invalid_signature":
        case "stale_signature":
        case "missing_signature":
          return caller === "apiKey" && changes
        default:
          return caller === "apiKey"
      }
    case "forbidden":
      switch (reason) {
        case "missing_scope":
          return caller === "apiKey"
        case "role_not_allowed":
          return caller === "session"
        case "cross_site":
          return (caller === "session" || signsIn) && changes
        default:
          return isSend
      }
    case "rate_limited":
      return isSend ? reason !== "login" : reason === "workspace" ? caller === "apiKey" : reason === "login" && signsIn
    case "server_error":
      // only a send waits for another, or is turned away before it has begun
      return status !== 503 || reason === "storage_unavailable" || isSend
    case "idempotency_conflict":
      return needsKey
    case "not_found":
      return operation.namesSomething
  }
}

const spendsALimit = ({ caller, signsIn }: Traits): boolean => caller === "apiKey" || signsIn

const reference = (name: keyof typeof headers) => ({ [name]: { $ref: `#/components/headers/${name}` } })

const headersOf = (operation: Traits, status: number) => ({
  ...reference("Request-Id"),
  ...(spendsALimit(operation) ? { ...reference("RateLimit-Policy"), ...reference("RateLimit") } : {}),
  ...(operation.needsKey ? reference("Idempotent-Replayed") : {}),
  ...(status === 429 || status === 503 ? reference("Retry-After") : {}),
  ...(status === 401 ? reference("WWW-Authenticate") : {}),
  ...(operation.signsIn && status < 300 ? reference("Set-Cookie") : {})
})

/** The body of an answer with this error. */
const bodyOf = ({ code, entry, reason }: Item): ErrorBody => ({
  error: {
    code,
    message: entry.example.message,
    ...(reason === undefined ? {} : { reason }),
    ...(entry.example.param === undefined ? {} : { param: entry.example.param }),
    request_id: headers["Request-Id"].example,
    doc_url: ErrorAddress.of(`https://wac.example.com${errorsPath}`, { code, reason }),
    ...(entry.example.provider === undefined ? {} : { provider: entry.example.provider })
  }
})

/**
 * Reasons that no operation of the document meets: the address that the provider posts to is not part of it; no operation
 * takes media or a customer's user id yet, and recipients of campaigns are no requests.
 */
const elsewhere = new Set(["failed_handshake", "phone_number_required", "media_quota", "frequency_cap", "holdout"])

const documented = items.filter(({ reason }) => reason === undefined || !elsewhere.has(reason))

const errorExamples = Object.fromEntries(
  documented.map((
    item
  ) => [anchorOf(item), { summary: item.entry.when, description: item.entry.remedy, value: bodyOf(item) }])
)

const errorResponse = (operation: Traits, status: number, met: ReadonlyArray<Item>) => ({
  description: `\`${met[0]!.code}\`` +
    (met[0]!.reason === undefined ? "" : `, by reason: ${met.map(({ reason }) => `\`${reason}\``).join(", ")}`) +
    `. [What to do](${errorsPath.slice(1)}#${met[0]!.code})`,
  headers: headersOf(operation, status),
  content: {
    "application/json": {
      schema: { $ref: "#/components/schemas/Error" },
      examples: Object.fromEntries(
        met.map((item) => [item.reason ?? item.code, { $ref: `#/components/examples/${anchorOf(item)}` }])
      )
    }
  }
})

const signature = {
  name: "x-service-signature",
  in: "header",
  required: false,
  description: "`t=<unix seconds>,v1=<hex>`: the request's signature with the key's signing secret. Needed where the " +
    "key has `requireSignature`, and never wrong where it is there.",
  schema: { type: "string", maxLength: 4096, pattern: "^t=[0-9]+,v1=[0-9a-f]{64}$" }
} as const

const exampled = (content: OpenApi.OpenApiSpecContent | undefined, example: unknown) =>
  content === undefined || example === undefined
    ? {}
    : { content: Object.fromEntries(Object.entries(content).map(([type, media]) => [type, { ...media, example }])) }

/** What is said of a value is said of the parameter that has it: that is where pages and generators look. */
const describedBy = (schema: object) =>
  Predicate.hasProperty(schema, "description") ? { description: schema.description } : {}

const operationOf = (path: string, method: string, operation: OpenApi.OpenAPISpecOperation) => {
  const traits = traitsOf(path, method, operation)
  const example = Examples.byOperation[operation.operationId]
  const responses = Object.entries(operation.responses).flatMap(([key, response]): Array<[string, object]> => {
    const status = Number(key)
    if (status < 400) {
      const description = status === 204 ? "Done." : response.description
      return [[key, {
        ...response,
        description,
        headers: headersOf(traits, status),
        ...exampled(response.content, example?.response)
      }]]
    }
    const met = documented.filter((item) => item.status === status && meets(traits, item))
    // endpoints share lists of errors; one that this operation cannot meet is not promised
    return met.length === 0 ? [] : [[key, errorResponse(traits, status, met)]]
  })
  return {
    ...operation,
    parameters: [
      ...operation.parameters.map((parameter) =>
        parameter.in === "path"
          ? { ...parameter, schema: traits.id === "contacts.get" ? contactIdentifier : identifier }
          : isIdempotencyKey(parameter)
          ? { ...parameter, ...describedBy(parameter.schema), schema: { ...parameter.schema, ...idempotencyKey } }
          : parameter.in === "query" && parameter.name === "limit"
          ? { ...parameter, schema: limit }
          : parameter
      ),
      ...(traits.isPost && !traits.needsKey ? [spareIdempotencyKey] : []),
      ...(traits.caller === "apiKey" && traits.changes ? [signature] : [])
    ],
    ...(operation.requestBody === undefined
      ? {}
      : { requestBody: { ...operation.requestBody, ...exampled(operation.requestBody.content, example?.request) } }),
    responses: Object.fromEntries(responses)
  }
}

/** Schemas as linters and generators of clients like them: widths of integers, items of every list, no union of one. */
const tidied = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(tidied)
  if (!Predicate.isObject(part)) return part
  const fields = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, tidied(value)] as const))
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

/** HTTP's schemes are registered in lower case; tools that know `bearer` take `Bearer` for one that they do not know. */
const withRegisteredName = (scheme: OpenApi.OpenAPISecurityScheme): OpenApi.OpenAPISecurityScheme =>
  scheme.type === "http" ? { ...scheme, scheme: scheme.scheme.toLowerCase() } : scheme

const names = (fields: ReadonlyArray<string>) => Object.fromEntries(fields.map((name) => [name, { type: "string" }]))

const times = (fields: ReadonlyArray<string>) =>
  Object.fromEntries(fields.map((name) => [name, { $ref: "#/components/schemas/Timestamp" }]))

const ofMessage = (time: string) => ({
  type: "object",
  properties: {
    ...names(["message_id", "to", "status", "client_reference"]),
    // `null` of a message that failed before the provider named it
    provider_message_id: { type: ["string", "null"] },
    sequence: { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    ...times([time])
  },
  required: ["message_id", "provider_message_id", "to", "status", "sequence", time]
})

/** What is known of `data` by type, in combined form; of a type that is not here, that it is an object. */
const eventData: { readonly [Type in Event.EventType]?: object } = {
  "message.sent": ofMessage("sent_at"),
  "message.delivered": ofMessage("delivered_at"),
  "message.read": ofMessage("read_at"),
  "message.failed": ofMessage("failed_at"),
  "message.received": {
    type: "object",
    properties: {
      ...names(["message_id", "provider_message_id", "to", "type", "from_user_id"]),
      from: { type: ["string", "null"] },
      late: { type: "boolean" },
      ...times(["received_at"])
    },
    required: ["message_id", "provider_message_id", "from", "to", "type", "received_at", "late"]
  },
  "campaign.completed": {
    type: "object",
    properties: names(["campaign_id", "name"]),
    required: ["campaign_id", "name"]
  },
  "webhook.test": {
    type: "object",
    properties: { ...names(["webhook_id"]), ...times(["tested_at"]) },
    required: ["webhook_id", "tested_at"]
  }
}

/** The headers of a delivery, in both styles of signature (specification §6, contract §5). */
const deliveryHeaders = [
  ["x-service-signature", "`t=<unix seconds>,v1=<hex>`, once more `v1` for each other live secret"],
  ["webhook-id", "The event's id, the same at every attempt (Standard Webhooks)"],
  ["webhook-timestamp", "Unix seconds of the attempt (Standard Webhooks)"],
  ["webhook-signature", "`v1,<base64>`, one for each live secret (Standard Webhooks)"]
].map(([name, description]) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", maxLength: 4096 }
}))

/** What a server posts to the webhook (specification §6, contract §6): one entry for each type of event. */
const webhooks = Object.fromEntries(
  Event.EventType.literals.map((type) => [type, {
    post: {
      operationId: `event.${type}`,
      tags: ["Events"],
      summary: type,
      description:
        "Posted to the URL that the workspace's webhook is set to, signed afresh at every attempt. This is " +
        "the combined form; with `envelope` `a` or `b` it has the fields of that variant alone.",
      security: [],
      parameters: deliveryHeaders,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              allOf: [
                { $ref: "#/components/schemas/Event" },
                {
                  type: "object",
                  properties: {
                    type: { type: "string", enum: [type] },
                    data: eventData[type] ?? { type: "object" }
                  }
                }
              ]
            }
          }
        }
      },
      responses: {
        200: { description: "Delivered. Any other status, and none within 5 seconds, is a failure, and tried again." }
      }
    }
  }])
)

/** The document as it is served. */
export const complete = (generated: OpenApi.OpenAPISpec) => {
  const document = tidied(generated) as OpenApi.OpenAPISpec
  return {
    ...document,
    info: {
      ...document.info,
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
      contact: { name: "Whoever runs this server" }
    },
    servers: [{
      url: "/",
      description: "The server that this document comes from, be it local, staging or production",
      "x-internal": false
    }],
    paths: Object.fromEntries(
      Object.entries(document.paths).map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            operationOf(path, method, operation as OpenApi.OpenAPISpecOperation)
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
      headers,
      examples: errorExamples
    }
  }
}

/** The document for a server whose routes are mounted at `mount` (`/messaging`, or empty for its root). */
export const mountedAt = (document: OpenApi.OpenAPISpec, mount: string): OpenApi.OpenAPISpec => ({
  ...document,
  servers: (document.servers ?? []).map((server) => ({ ...server, url: mount === "" ? server.url : mount }))
})
