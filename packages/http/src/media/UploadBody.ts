/**
 * The body of an upload, which is streamed: its type, its pace and its signature (contract §10).
 */
import { Errors } from "@wac/core"
import { Stream } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import { createHmac } from "node:crypto"
import { MIMEType } from "node:util"
import * as PacedBody from "../bodies/PacedBody.ts"

/** The bytes of a form beside its file, at most. */
export const envelope = 4096

const unsupported = (header: string, message: string) =>
  new Errors.InvalidBody({ reason: "unsupported_media_type", param: header, message })

const isForm = (contentType: string | undefined): boolean => {
  try {
    const { essence, params } = new MIMEType(contentType ?? "")
    return essence === "multipart/form-data" && (params.get("boundary") ?? "") !== ""
  } catch {
    return false
  }
}

/** The refusal of a body that is no form, by its headers. */
export const refusal = ({ headers }: HttpServerRequest.HttpServerRequest): Errors.InvalidBody | undefined =>
  !isForm(headers["content-type"])
    ? unsupported("Content-Type", "the body must be a form: Content-Type: multipart/form-data; boundary=…")
    : (headers["content-encoding"] ?? "identity") === "identity"
    ? undefined
    : unsupported("Content-Encoding", "the body must not be compressed: omit Content-Encoding")

/** HMAC-SHA-256 of what passes. */
export const macOf = (secret: string) => {
  const mac = createHmac("sha256", secret)
  return { take: (bytes: Uint8Array) => void mac.update(bytes), end: () => mac.digest("hex") }
}

/** The request with a body that is paced, and seen by `take` as it passes. */
export const passing = (
  request: HttpServerRequest.HttpServerRequest,
  take: (bytes: Uint8Array) => void
): HttpServerRequest.HttpServerRequest => {
  const stream = PacedBody.read(request).pipe(
    Stream.map((piece) => {
      take(piece)
      return piece
    }),
    Stream.mapError((error) => Multipart.MultipartError.fromReason("InternalError", error))
  )
  return Object.create(request, {
    multipartStream: { get: () => Stream.pipeThroughChannel(stream, Multipart.makeChannel(request.headers)) }
  })
}

/** The request with a body that is one file, and seen by `take` as it passes. */
export const passingFile = (
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

const invalid = (reason: Errors.InvalidBody["reason"], message: string) =>
  new Errors.InvalidBody({ reason, param: "file", message })

/** The caller's error for a form that cannot be read. */
const errorOf = ({ reason }: Multipart.MultipartError): Errors.InvalidBody => {
  switch (reason._tag) {
    case "InternalError":
      return reason.cause instanceof Errors.InvalidBody ? reason.cause : PacedBody.incomplete()
    case "TooManyParts":
    case "FieldTooLarge":
    case "FileTooLarge":
    case "BodyTooLarge":
      return invalid("invalid_field", "the form must have one field: file")
    case "Parse":
      return invalid("invalid_field", "the body is not a complete form in multipart/form-data")
  }
}

/** A form's one file. Its bytes end when the whole form has arrived. */
export const fileOf = (parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>): {
  readonly bytes: Stream.Stream<Uint8Array, Errors.InvalidBody>
  /** The file's name, once its bytes have arrived. */
  readonly filename: () => string | undefined
} => {
  let file: Multipart.File | undefined
  const ofPart = (part: Multipart.Part): Stream.Stream<Uint8Array, Multipart.MultipartError | Errors.InvalidBody> => {
    if (part.key !== "file") {
      return Stream.fail(
        new Errors.InvalidBody({
          reason: "unknown_field",
          param: part.key.slice(0, 200),
          message: "the form may only have the field file"
        })
      )
    }
    if (part._tag === "Field" || file !== undefined) {
      return Stream.fail(invalid("invalid_field", "the field file must hold one file with a name"))
    }
    file = part
    return part.content
  }
  const whole = Stream.suspend(() =>
    file === undefined ? Stream.fail(invalid("missing_field", "file is required")) : Stream.empty
  )
  return {
    bytes: parts.pipe(
      Stream.flatMap(ofPart),
      Stream.concat(whole),
      Stream.mapError((error) => error instanceof Multipart.MultipartError ? errorOf(error) : error)
    ),
    filename: () => file?.name
  }
}
