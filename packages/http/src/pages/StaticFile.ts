/**
 * Files that do not change while the process runs. Each is compressed once, not once per request, and its `ETag` saves
 * clients from loading it again.
 */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import * as zlib from "node:zlib"

const utf8 = new TextEncoder()

/** Higher qualities take a multiple of the time for 2 % less. */
const brotliQuality = 6

// both run on separate threads and delay no requests
const compressors = {
  br: (bytes: Uint8Array) =>
    promisify(zlib.brotliCompress)(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (bytes: Uint8Array) => promisify(zlib.gzip)(bytes, { level: zlib.constants.Z_BEST_COMPRESSION })
} as const

type Encoding = keyof typeof compressors

/** In the order of preference. */
const encodings: ReadonlyArray<Encoding> = ["br", "gzip"]

/**
 * The encoding that suits `Accept-Encoding` (RFC 9110 §12.5.3) best, or `undefined` for the bytes as they are. Pure.
 */
const negotiate = (acceptEncoding: string | undefined): Encoding | undefined => {
  const weights = new Map(
    (acceptEncoding ?? "").split(",").map((member) => {
      const [name = "", ...parameters] = member.toLowerCase().split(";").map((part) => part.trim())
      const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.split("=")[1]
      return [name, weight === undefined ? 1 : Number(weight)] as const
    })
  )
  return encodings.find((encoding) => (weights.get(encoding) ?? weights.get("*") ?? 0) > 0)
}

/** Whether `If-None-Match` names the entity tag, or any (RFC 9110 §13.1.2). Pure. */
const names = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(",").map((tag) => tag.trim()).some((tag) => tag === "*" || tag.replace(/^W\//, "") === etag)

/** A file, ready to be served. */
export interface StaticFile {
  /** The response to a GET or HEAD. */
  readonly respond: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse>
}

/** Prepares a file. Every response with it has `headers`, which include `Cache-Control`. */
export const make = (file: {
  readonly text: string
  readonly contentType: string
  readonly headers: { readonly "cache-control": string; readonly [name: string]: string }
}): StaticFile => {
  const bytes = utf8.encode(file.text)
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22)
  const compressed = new Map<Encoding, Promise<Uint8Array>>()
  const encode = (encoding: Encoding): Promise<Uint8Array> => {
    const before = compressed.get(encoding)
    if (before !== undefined) return before
    const made = compressors[encoding](bytes)
    compressed.set(encoding, made)
    return made
  }
  return {
    respond: Effect.fnUntraced(function*(request) {
      const encoding = negotiate(request.headers["accept-encoding"])
      // each representation has its own tag, because their bytes differ (RFC 9110 §8.8.3)
      const etag = `"${hash}${encoding === undefined ? "" : `-${encoding}`}"`
      const headers = { ...file.headers, etag, vary: "Accept-Encoding" }
      if (names(request.headers["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers })
      return encoding === undefined
        ? HttpServerResponse.uint8Array(bytes, { contentType: file.contentType, headers })
        : HttpServerResponse.uint8Array(yield* Effect.promise(() => encode(encoding)), {
          contentType: file.contentType,
          headers: { ...headers, "content-encoding": encoding }
        })
    })
  }
}

/** A host mounts the routes at one path, or a few. If part of the path varies, the oldest entries are removed. */
const maxPlaces = 16

/** The file of each place, made at its first use. */
export const byPlace = (make: (place: string) => StaticFile): (place: string) => StaticFile => {
  const files = new Map<string, StaticFile>()
  return (place) => {
    const before = files.get(place)
    if (before !== undefined) return before
    const made = make(place)
    files.set(place, made)
    if (files.size > maxPlaces) files.delete(files.keys().next().value!)
    return made
  }
}
