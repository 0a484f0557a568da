/**
 * The body of an upload, which is streamed: its type, its signature and its file (contract §10).
 */
import { Errors } from "@wac/core"
import { Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { createHmac } from "node:crypto"
import { MIMEType } from "node:util"
import * as PacedBody from "../bodies/PacedBody.ts"
import * as FormFile from "./FormFile.ts"

/** How many bytes a form has besides its file, generously estimated. */
export const envelope = 4096

const unsupported = (header: string, message: string) =>
  new Errors.InvalidBody({ reason: "unsupported_media_type", param: header, message })

/** The boundary of a form; `undefined` if the body is not declared as one. */
const boundaryOf = (contentType: string | undefined): string | undefined => {
  try {
    const { essence, params } = new MIMEType(contentType ?? "")
    return essence === "multipart/form-data" ? params.get("boundary") || undefined : undefined
  } catch {
    return undefined
  }
}

/** The error if a request's headers show that its body is not a form, or is compressed. */
export const refusal = ({ headers }: HttpServerRequest.HttpServerRequest): Errors.InvalidBody | undefined =>
  boundaryOf(headers["content-type"]) === undefined
    ? unsupported("Content-Type", "the body must be a form: Content-Type: multipart/form-data; boundary=…")
    : (headers["content-encoding"] ?? "identity") === "identity"
    ? undefined
    : unsupported("Content-Encoding", "the body must not be compressed: omit Content-Encoding")

/** An HMAC-SHA-256 of bytes that arrive in pieces: `take` adds a piece, `end` returns the digest in hex. */
export const macOf = (secret: string) => {
  const mac = createHmac("sha256", secret)
  return { take: (bytes: Uint8Array) => void mac.update(bytes), end: () => mac.digest("hex") }
}

/** A request like the given one, which calls `take` with each piece of its body as it is read. */
export const passing = (
  request: HttpServerRequest.HttpServerRequest,
  take: (bytes: Uint8Array) => void
): HttpServerRequest.HttpServerRequest =>
  Object.create(request, {
    stream: {
      get: () =>
        Stream.map(request.stream, (piece) => {
          take(piece)
          return piece
        })
    }
  })

/** The file of a form, whose headers have no {@link refusal}. */
export const fileOf = (request: HttpServerRequest.HttpServerRequest): FormFile.FormFile =>
  FormFile.of(PacedBody.read(request), boundaryOf(request.headers["content-type"]) ?? "")
