/**
 * Files that messages contain (contract §10).
 */
import { Errors, type Id, Idempotency, type Media as Core, Media as Rules, MediaLibrary, Time } from "@wac/core"
import { Effect, Stream } from "effect"
import type { Running } from "../Running.ts"

/** A file of a workspace: uploaded, or from a customer. */
export interface StoredFile {
  /** The id that messages name: `{ image: { media: id } }`. */
  readonly id: string
  /** As detected from the bytes. */
  readonly mimeType: string
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in lower-case hexadecimal. */
  readonly sha256: string
  readonly filename: string | null
  /** When it is deleted unless it is used before. */
  readonly expiresAt: string
}

/** A file that can be read. */
export interface OpenedFile extends StoredFile {
  /**
   * The bytes from `start` to before `end`, counted from 0: all of them by default. They are read from the storage only
   * as fast as the stream is.
   */
  readonly stream: (range?: { readonly start?: number; readonly end?: number }) => ReadableStream<Uint8Array>
}

/** A file to upload: at most 100 MB. */
export interface NewFile {
  /** All bytes, or a stream of pieces such as `fs.createReadStream(path)` or a `ReadableStream`. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
  /** The file's name, which recipients and downloads see. */
  readonly filename?: string
}

/** The files of a workspace. */
export interface Media {
  /**
   * Uploads a file. Its type is detected from its bytes. It is deleted `retention.media` days after its last use. If
   * the stream throws, the promise rejects with that, and nothing is kept. The same bytes and name with the same
   * `idempotencyKey` are stored once.
   */
  readonly upload: (file: NewFile, options?: { readonly idempotencyKey?: string }) => Promise<StoredFile>
  /**
   * Opens a file of the workspace. A customer's file is fetched from the provider first if it was not yet; `not_found`
   * with the reason `media_expired` if the provider no longer has it.
   */
  readonly open: (id: string) => Promise<OpenedFile>
  readonly remove: (id: string) => Promise<void>
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
    upload: async ({ bytes, filename }, { idempotencyKey = crypto.randomUUID() } = {}) => {
      const { failed, pieces } = piecesOf(bytes)
      const upload = Effect.flatMap(
        Effect.fromResult(Idempotency.parseKey(idempotencyKey)),
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
        return shown((await running.run(upload)).media)
      } catch (error) {
        throw "cause" in failed ? failed.cause : error
      }
    },
    open: async (id) => {
      const { media, read } = await running.run(library.open(workspaceId, id))
      return {
        ...shown(media),
        stream: ({ end = media.size, start = 0 } = {}) => {
          const last = Math.min(Math.max(0, end), media.size)
          return Stream.toReadableStream(read({ start: Math.min(Math.max(0, start), last), end: last }))
        }
      }
    },
    remove: (id) => running.run(library.remove(workspaceId, id))
  })
)
