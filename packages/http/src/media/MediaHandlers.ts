/**
 * The handlers of `/v1/media`: uploading, downloading and deleting files.
 */
import { Api, Caller } from "@wac/api"
import { Idempotency, Media, MediaLibrary, Retention, Time } from "@wac/core"
import { type Duration, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as PacedBody from "../bodies/PacedBody.ts"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Attachment from "./Attachment.ts"
import * as ByteRange from "./ByteRange.ts"
import * as UploadBody from "./UploadBody.ts"

const stored = (media: Media.Media, keptFor: Duration.Duration) => ({
  media_id: media.id,
  mime_type: media.mimeType,
  size: media.size,
  sha256: media.sha256,
  filename: media.filename,
  expires_at: Time.iso(Media.expiresAt(media, keptFor))
})

/** Headers of every download: a browser must never run what a stranger uploaded. */
const headersOf = ({ filename, sha256 }: Media.Media) => ({
  "accept-ranges": "bytes",
  "cache-control": "private, no-cache",
  "content-disposition": Attachment.dispositionOf(filename),
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  etag: `"${sha256}"`
})

const responseOf = (
  { media, read }: MediaLibrary.Opened,
  { headers: given, method }: HttpServerRequest.HttpServerRequest
): HttpServerResponse.HttpServerResponse => {
  const headers = headersOf(media)
  const { "if-none-match": ifNoneMatch, "if-range": ifRange, range } = given
  const conditions = { range: method === "GET" ? range : undefined, ifRange, ifNoneMatch }
  const selection = ByteRange.select(conditions, media.size, headers.etag)
  const contentType = media.mimeType === "text/plain" ? "text/plain; charset=utf-8" : media.mimeType
  switch (selection._tag) {
    case "NotModified":
      return HttpServerResponse.empty({ status: 304, headers })
    case "Unsatisfiable":
      return HttpServerResponse.empty({
        status: 416,
        headers: { ...headers, "content-type": contentType, "content-range": `bytes */${media.size}` }
      })
    case "Whole":
      return HttpServerResponse.stream(read({ start: 0, end: media.size }), {
        contentType,
        contentLength: media.size,
        headers
      })
    case "Part": {
      const { end, start } = selection
      return HttpServerResponse.stream(read({ start, end }), {
        status: 206,
        contentType,
        contentLength: end - start,
        headers: { ...headers, "content-range": `bytes ${start}-${end - 1}/${media.size}` }
      })
    }
  }
}

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const library = yield* MediaLibrary.MediaLibrary
    const keptFor = Retention.keptFor(yield* Retention.CurrentRetention, "media")
    return HttpApiBuilder.group(Api, "media", (handlers) =>
      handlers.handleAll({
        upload: Effect.fnUntraced(function*({ headers }) {
          const { workspace } = yield* Caller.Caller
          const exchange = yield* Exchange
          const request = yield* HttpServerRequest.HttpServerRequest
          const { bytes, filename } = UploadBody.fileOf(request)
          const uploaded = yield* PacedBody.inTime(library.upload({
            workspaceId: workspace.id,
            key: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])),
            filename,
            // the size is judged before the file arrives: at least about this much of the form is the file
            size: Math.max(0, Number(request.headers["content-length"] ?? 0) - UploadBody.envelope),
            bytes,
            confirm: exchange.confirm
          }))
          if (uploaded.isReplayed) exchange.isReplayed = true
          return stored(uploaded.media, keptFor)
        }),
        open: Effect.fnUntraced(function*({ params }) {
          const { workspace } = yield* Caller.Caller
          const request = yield* HttpServerRequest.HttpServerRequest
          return responseOf(yield* library.open(workspace.id, params.id), request)
        }),
        remove: Effect.fnUntraced(function*({ params }) {
          const { workspace } = yield* Caller.Caller
          yield* library.remove(workspace.id, params.id)
        })
      }))
  })
)
