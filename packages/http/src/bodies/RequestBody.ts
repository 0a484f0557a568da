/**
 * The body of a request, before anybody looks into it: its type and its size (contract §2 and §3 *Order of checks*).
 */
import { Deadlines, Errors } from "@wac/core"
import { ByteSize, Duration, Effect, type Scope } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { isUtf8 } from "node:buffer"
import { MIMEType } from "node:util"
import * as BodyBytes from "./BodyBytes.ts"

/** Contract §2. */
const maxSize = ByteSize.kibibytes(64)
const limit = ByteSize.toNumberUnsafe(maxSize)

/** From when the body is first asked for; 64 KiB come in this time over the slowest of lines. */
const timeout = Duration.seconds(30)

export const tooLarge = (limit: ByteSize.ByteSize) =>
  new Errors.InvalidBody({
    reason: "too_large",
    message: `the body is larger than ${ByteSize.toNumberUnsafe(limit)} bytes`
  })

export const malformed = (message: string) => new Errors.InvalidBody({ reason: "malformed_json", message })

/** Whether a `Content-Type` is that of JSON in UTF-8; parameters that JSON has none of mean nothing (RFC 9110 §8.3.1). */
const isJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined) return false
  try {
    const { essence, params } = new MIMEType(contentType)
    return essence === "application/json" && (params.get("charset") ?? "utf-8").toLowerCase() === "utf-8"
  } catch {
    return false
  }
}

const unsupported = (header: string, message: string) =>
  new Errors.InvalidBody({ reason: "unsupported_media_type", param: header, message })

/** Whether requests to this endpoint carry a body. */
const takesBody = (endpoint: HttpApiEndpoint.Top): boolean => endpoint.payload.size > 0 && endpoint.method !== "GET"

const notRead = {
  "too large": () => tooLarge(maxSize),
  "not whole": () => malformed("the body did not arrive whole"),
  "late": () => malformed(`the body did not arrive within ${Duration.toSeconds(timeout)} seconds`)
}

/** Reads bodies as long as its scope. */
export type Reader = (
  endpoint: HttpApiEndpoint.Top,
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<Uint8Array, Errors.InvalidBody>

/**
 * Reads the bytes of the body as they came; none for an endpoint that takes no body. At most {@link maxSize} in at most
 * {@link timeout}; what is not JSON by its header, compressed, or no UTF-8, is refused here.
 */
export const reader: Effect.Effect<Reader, never, Scope.Scope> = Effect.map(
  Deadlines.make,
  (deadlines) => (endpoint, request) => read(endpoint, request, (miss) => deadlines.set(timeout, miss))
)

const read = (
  endpoint: HttpApiEndpoint.Top,
  request: HttpServerRequest.HttpServerRequest,
  deadline: BodyBytes.Deadline
): Effect.Effect<Uint8Array, Errors.InvalidBody> => {
  if (!takesBody(endpoint)) return Effect.succeed(new Uint8Array())
  if (!isJson(request.headers["content-type"])) {
    return Effect.fail(unsupported("Content-Type", "the body must be JSON: Content-Type: application/json"))
  }
  if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
    return Effect.fail(unsupported("Content-Encoding", "the body must not be compressed: leave Content-Encoding out"))
  }
  if (Number(request.headers["content-length"] ?? 0) > limit) return Effect.fail(tooLarge(maxSize))
  return Effect.matchEffect(BodyBytes.read(request, limit, deadline), {
    onSuccess: (body) => {
      if (!isUtf8(body)) return Effect.fail(malformed("the body is not UTF-8"))
      leave(request, body)
      return Effect.succeed(body)
    },
    onFailure: (missing) => Effect.fail(notRead[missing]())
  })
}

/** Leaves the bytes with the request, for who decodes them next. */
const leave = (request: HttpServerRequest.HttpServerRequest, { buffer }: Uint8Array<ArrayBuffer>): void => {
  Object.defineProperty(request, "arrayBuffer", { value: Effect.succeed(buffer) })
}

/** The body as JSON, for saying what is wrong with it; `malformed_json` when it is none. */
export const json: Effect.Effect<unknown, Errors.InvalidBody, HttpServerRequest.HttpServerRequest> = Effect.gen(
  function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const text = yield* Effect.orDie(request.text)
    return yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => malformed(text === "" ? "the body is empty" : "the body is not valid JSON")
    })
  }
)
