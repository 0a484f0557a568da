/**
 * The body of a request before it is parsed: its type and its size (contract §2 and §3 *Order of checks*).
 */
import { EndpointAnnotations } from "@wac/api"
import { Errors, PlainJson, Timeouts } from "@wac/core"
import { ByteSize, Context, Duration, Effect, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { isUtf8 } from "node:buffer"
import { MIMEType } from "node:util"
import { Exchange } from "../Exchange.ts"
import * as InvalidInput from "../InvalidInput.ts"
import * as BodyBytes from "./BodyBytes.ts"

/** The maximum depth of a body: that of free JSON, and the levels of our own around it. */
const maxDepth = 64

/** The time limit from the first read of the body; even over a slow line, any size arrives within it. */
const timeout = Duration.seconds(30)

const malformed = (message: string) => new Errors.InvalidBody({ reason: "malformed_json", message })

/** The error for a body that could not be read. */
export const refusal = (
  missing: BodyBytes.Missing,
  maxSize: ByteSize.ByteSize,
  timeout: Duration.Duration
): Errors.InvalidBody | Errors.ServerError => {
  switch (missing) {
    case "too large":
      return new Errors.InvalidBody({
        reason: "too_large",
        message: `the body is larger than ${ByteSize.toNumberUnsafe(maxSize)} bytes`
      })
    case "not whole":
      return malformed("the body did not arrive completely")
    case "late":
      return malformed(`the body did not arrive within ${Duration.toSeconds(timeout)} seconds`)
    case "no room":
      return new Errors.ServerError({
        reason: "overloaded",
        message: "this address is receiving too many large bodies at the moment; repeat the request",
        retryAfter: Duration.seconds(1)
      })
  }
}

/**
 * The fault of a `Content-Type` for JSON in UTF-8; `undefined` if it is right. Parameters that JSON does not define are
 * ignored (RFC 9110 §8.3.1).
 */
const wrongType = (contentType: string | undefined): string | undefined => {
  const notJson = "the body must be JSON: Content-Type: application/json"
  if (contentType === undefined) return notJson
  // nearly every client sends this; parsing it takes as long as reading the body
  if (contentType === "application/json") return undefined
  try {
    const { essence, params } = new MIMEType(contentType)
    if (essence !== "application/json") return notJson
    return (params.get("charset") ?? "utf-8").toLowerCase() === "utf-8"
      ? undefined
      : "the body must be in UTF-8, so Content-Type must have no other charset"
  } catch {
    return notJson
  }
}

const unsupported = (header: string, message: string) =>
  new Errors.InvalidBody({ reason: "unsupported_media_type", param: header, message })

/** The annotations that decide about the body of an endpoint's requests. */
type Endpoint = Pick<HttpApiEndpoint.Top, "annotations" | "method" | "payload">

/** Whether requests to this endpoint carry a body. */
const takesBody = (endpoint: Endpoint): boolean => endpoint.payload.size > 0 && endpoint.method !== "GET"

/** The media type of a `Content-Type`, without its parameters; empty if the header is missing or malformed. */
export const essenceOf = (contentType: string | undefined): string => {
  try {
    return contentType === undefined ? "" : new MIMEType(contentType).essence
  } catch {
    return ""
  }
}

const isCompressed = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  (headers["content-encoding"] ?? "identity") !== "identity"

const compressed = unsupported("Content-Encoding", "the body must not be compressed: omit Content-Encoding")

/** The error if a request's headers show that its body is not a file of the endpoint's types. */
export const fileRefusal = (
  types: ReadonlyArray<string>,
  request: HttpServerRequest.HttpServerRequest
): Errors.InvalidBody | undefined =>
  !types.includes(essenceOf(request.headers["content-type"]))
    ? unsupported("Content-Type", `the body must be a file: Content-Type: ${types.join(" or ")}`)
    : isCompressed(request)
    ? compressed
    : undefined

/** Leaves a file to its handler, if it has one of the endpoint's types. */
const file = (
  types: ReadonlyArray<string>,
  request: HttpServerRequest.HttpServerRequest
): ReturnType<Reader> => {
  const refusal = fileRefusal(types, request)
  return refusal === undefined ? Effect.succeed({ bytes: new Uint8Array(), request }) : Effect.fail(refusal)
}

/** A body after it was read. */
interface Read {
  /** The raw bytes; `undefined` for an endpoint without a body. */
  readonly bytes: Uint8Array
  /** The request for later decoders: its body is `bytes`. */
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Reads bodies until its scope closes. */
export type Reader = (
  endpoint: Endpoint,
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<Read, Errors.InvalidBody | Errors.ServerError>

/**
 * Returns the function that reads a body, which must have at most {@link EndpointAnnotations.BodyLimit} and arrive
 * within {@link timeout}, and stores it in the exchange. It refuses a body that is compressed, is not UTF-8, or is not
 * JSON according to its header.
 */
export const reader: Effect.Effect<Reader, never, Scope.Scope> = Effect.map(
  Timeouts.make,
  (timeouts) => (endpoint, request) => read(endpoint, request, (miss) => timeouts.set(timeout, miss))
)

const read = (
  endpoint: Endpoint,
  request: HttpServerRequest.HttpServerRequest,
  deadline: BodyBytes.Deadline
): ReturnType<Reader> => {
  if (!takesBody(endpoint)) return Effect.succeed({ bytes: new Uint8Array(), request })
  const types = Context.get(endpoint.annotations, EndpointAnnotations.TakesFile)
  if (types.length > 0) return file(types, request)
  if (EndpointAnnotations.has(endpoint, EndpointAnnotations.BodyIsOptional) && !BodyBytes.isSent(request)) {
    // a signature covers what was sent: no bytes
    return Effect.succeed({ bytes: new Uint8Array(), request: having(request, new TextEncoder().encode("{}")) })
  }
  const wrong = wrongType(request.headers["content-type"])
  if (wrong !== undefined) return Effect.fail(unsupported("Content-Type", wrong))
  if (isCompressed(request)) return Effect.fail(compressed)
  const limit = Context.get(endpoint.annotations, EndpointAnnotations.BodyLimit)
  return Effect.matchEffect(BodyBytes.read(request, { limit, deadline }), {
    onSuccess: (bytes) =>
      isUtf8(bytes)
        ? Effect.flatMap(Exchange, (exchange) => {
          exchange.body = bytes
          if (PlainJson.hasTooMany(bytes)) return Effect.fail(tooMany)
          // checked before any recursive walk through the JSON
          if (PlainJson.isDeeper(bytes, maxDepth)) return Effect.flatMap(json, tooDeep)
          return Effect.as(turn(bytes), { bytes, request: having(request, bytes) })
        })
        : Effect.fail(malformed("the body is not UTF-8")),
    onFailure: (missing) => Effect.fail(refusal(missing, ByteSize.bytes(limit), timeout))
  })
}

const tooMany = new Errors.InvalidBody({
  reason: "too_large",
  message: `the body has more than ${PlainJson.maxValues} values`
})

/** How many bytes of JSON are walked through before other work of the process gets its turn. */
const bytesAtOnce = 64 * 1024

/** Gives other work a turn after a walk through a body that is longer than {@link bytesAtOnce}. */
export const turn = ({ length }: Uint8Array): Effect.Effect<void> =>
  length > bytesAtOnce ? Effect.yieldNow : Effect.void

const utf8 = new TextDecoder()

/** Fails if an object in the body has a field twice. A body that is not JSON is for its decoder to refuse. */
export const onlyOnce = (bytes: Uint8Array): Effect.Effect<void, Errors.InvalidBody> => {
  const refusal = bytes.length === 0 ? undefined : InvalidInput.repeated(utf8.decode(bytes))
  return refusal === undefined ? turn(bytes) : Effect.fail(refusal)
}

/** A copy of the request with a body that was already read, so its stream has ended. */
const having = (
  request: HttpServerRequest.HttpServerRequest,
  { buffer }: Uint8Array<ArrayBuffer>
): HttpServerRequest.HttpServerRequest =>
  // a copy, because V8 makes an object slow once it is a prototype
  Object.defineProperty(request.modify({}), "arrayBuffer", { value: Effect.succeed(buffer) })

/** Names the part of a body that is too deep. */
const tooDeep = (json: unknown): Effect.Effect<never, Errors.InvalidBody> => {
  const { issue, path } = PlainJson.violationOf(json, maxDepth)!
  const param = InvalidInput.paramOf(path)
  return Effect.fail(new Errors.InvalidBody({ reason: "invalid_field", param, message: `${param}: ${issue}` }))
}

/** The body of the exchange as JSON, for error messages; fails with `malformed_json` if it is not JSON. */
export const json: Effect.Effect<unknown, Errors.InvalidBody> = Effect.flatMap(Exchange, ({ body }) => {
  const text = new TextDecoder().decode(body)
  return Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => malformed(text === "" ? "the body is empty" : "the body is not valid JSON")
  })
})
