/**
 * Files that messages contain (contract §10).
 */
import { Errors, type Id, type Media as Core, Media as Rules, MediaLibrary, Time } from "@wac/core"
import { Effect, Result, Stream } from "effect"
import * as CallOptions from "../CallOptions.ts"
import type * as Messaging from "../generated/Messaging.ts"
import type { NewFile, StoredFile } from "../generated/Messaging.ts"
import type { Running } from "../Running.ts"

/** A file that can be read. */
export interface OpenedFile extends Messaging.OpenedFile, StoredFile {}

/** The files of a workspace. */
export interface Media extends Messaging.Media {
  readonly open: (id: string, options?: Messaging.CallOptions) => Promise<OpenedFile>
}

const shown = (media: Core.Media): StoredFile => ({
  id: media.id,
  mimeType: media.mimeType,
  size: media.size,
  sha256: media.sha256,
  filename: media.filename,
  expiresAt: Time.iso(Rules.expiresAt(media))
})

const unreadable = (message: string) => new Errors.InvalidBody({ reason: "invalid_field", param: "bytes", message })

/** The pieces of a file, and what its stream threw. */
const piecesOf = (bytes: NewFile["bytes"]) => {
  const failed: { cause?: unknown } = {}
  const pieces = bytes instanceof Uint8Array
    ? Stream.succeed(bytes)
    : Stream.fromAsyncIterable(bytes, (cause) => {
      failed.cause = cause
      return unreadable("the file could not be read")
    })
  const checked = Stream.mapEffect(
    pieces,
    (piece) =>
      piece instanceof Uint8Array
        ? Effect.succeed(piece)
        : Effect.fail(unreadable("the stream must be of bytes, without an encoding"))
  )
  return { failed, pieces: checked }
}

export const make = Effect.map(
  MediaLibrary.MediaLibrary,
  (library) => (running: Running, workspaceId: Id.WorkspaceId): Media => ({
    upload: async ({ bytes, filename }, options) => {
      const { failed, pieces } = piecesOf(bytes)
      const key = CallOptions.keyOf(options)
      const upload = Effect.flatMap(
        Effect.fromResult(key),
        (key) =>
          library.upload({
            workspaceId,
            key,
            filename: () => filename,
            size: bytes instanceof Uint8Array ? bytes.length : 0,
            bytes: pieces
          })
      )
      try {
        const { media } = await running.run(upload, {
          options,
          names: ["idempotencyKey"],
          idempotencyKey: Result.getOrUndefined(key),
          stops: true
        })
        return shown(media)
      } catch (error) {
        throw "cause" in failed ? failed.cause : error
      }
    },
    open: async (id, options) => {
      const { media, read } = await running.run(library.open(workspaceId, id), { options })
      return {
        ...shown(media),
        stream: ({ end = media.size, start = 0 } = {}) => {
          const last = Math.min(Math.max(0, end), media.size)
          return Stream.toReadableStream(read({ start: Math.min(Math.max(0, start), last), end: last }))
        }
      }
    },
    remove: (id, options) => running.run(library.remove(workspaceId, id), { options })
  })
)
