/**
 * `/v1/media` (contract §10): the files of messages.
 */
import { Media } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, apiKey } from "../Access.ts"
import { ApiKeyAuthentication } from "../Caller.ts"
import { BindsIdempotencyKey, NeedsIdempotencyKey, ServesFile, TakesFile, Uploads } from "../EndpointAnnotations.ts"
import { writing, writingProvider } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { noQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"

/** A file of the workspace. */
export const StoredMedia = Schema.Struct({
  media_id: Schema.String,
  mime_type: Schema.String.annotate({ description: "As detected from the bytes" }),
  size: Schema.Int.annotate({ description: "In bytes" }),
  sha256: Schema.String.annotate({ description: "Of the bytes, in hexadecimal" }),
  filename: Schema.NullOr(Schema.String),
  expires_at: Timestamp.annotateKey({ description: "When it is deleted unless it is used before" })
}).annotate({ identifier: "Media", description: "A file of the workspace." }).pipe(Example.shown({
  media_id: ExampleValues.media,
  mime_type: "image/png",
  size: 48_213,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  filename: "receipt.png",
  expires_at: "2026-02-01T03:04:05.678Z"
}))

/** The body of an upload: one file. */
export const UploadMedia = Schema.Struct({
  file: Schema.String.annotate({ description: "The file", format: "binary" }).check(Schema.isMaxLength(Media.maxSize))
}).annotate({ identifier: "UploadMedia" })

export class MediaApi extends HttpApiGroup.make("media").add(
  HttpApiEndpoint.post("upload", "/v1/media", {
    headers: idempotencyKey("; the same again for a retry of the same upload"),
    payload: UploadMedia.pipe(HttpApiSchema.asMultipartStream()),
    success: StoredMedia.pipe(HttpApiSchema.status(201)),
    error: writing
  }).annotate(Access, apiKey("media:write")).annotate(NeedsIdempotencyKey, true).annotate(BindsIdempotencyKey, true)
    .annotate(Uploads, true)
    .annotate(TakesFile, ["multipart/form-data"])
    .annotateMerge(
      OpenApi.annotations({
        summary: "Upload a file",
        description:
          `Stores a file of at most ${Media.maxSize / 1024 / 1024} MB, which messages then name by its \`media_id\`. ` +
          "Its type is detected from its bytes. It is deleted some time after its last use, which the operator sets. " +
          "A retry with the same key, bytes and name gets the same file."
      })
    ),
  HttpApiEndpoint.get("open", "/v1/media/:id", {
    params: byId,
    query: noQuery,
    success: Schema.String.annotate({ format: "binary" }).pipe(
      HttpApiSchema.asText({ contentType: "application/octet-stream" })
    ),
    error: writingProvider
  }).annotate(Access, apiKey("messages:read")).annotate(ServesFile, true).annotateMerge(
    OpenApi.annotations({
      summary: "Download a file",
      description: "A file of the workspace, uploaded or from a customer, with its own `Content-Type`. Supports " +
        "`Range`, `If-Range` and `If-None-Match`; HEAD returns the headers alone."
    })
  ),
  HttpApiEndpoint.delete("remove", "/v1/media/:id", {
    params: byId,
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: writingProvider
  }).annotate(Access, apiKey("media:write")).annotateMerge(
    OpenApi.annotations({
      summary: "Delete a file",
      description: "Deletes a file of the workspace. Customers keep what was sent to them."
    })
  )
).middleware(ApiKeyAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Media", description: "Files that messages contain." })
) {}
