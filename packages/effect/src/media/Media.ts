/**
 * Files that messages contain (contract §10).
 */
import {
  Errors,
  type Id,
  type Media as Core,
  Media as Rules,
  MediaLibrary,
  Retention,
  StoreError,
  Time
} from "@wac/core"
import { type Duration, Effect, Result, Stream } from "effect"
import * as CallOptions from "../CallOptions.ts"
import type * as Messaging from "../generated/Messaging.ts"
import type { NewFile, StoredFile } from "../generated/Messaging.ts"
import type { InFlight } from "../InFlight.ts"
import { closed, type Running } from "../Running.ts"
import { badOption, ofDomain } from "../WacError.ts"

/** A file that can be read. */
export interface OpenedFile extends Messaging.OpenedFile, StoredFile {}

/** The files of a workspace. */
export interface Media extends Messaging.Media {
  readonly open: (id: string, options?: Messaging.CallOptions) => Promise<OpenedFile>
}

const shownFor = (keptFor: Duration.Duration) => (media: Core.Media): StoredFile => ({
  id: media.id,
  mimeType: media.mimeType,
  size: media.size,
  sha256: media.sha256,
  filename: media.filename,
  expiresAt: Time.iso(Rules.expiresAt(media, keptFor))
})

const unreadable = (message: string) => new Errors.InvalidBody({ reason: "invalid_field", param: "bytes", message })

const notBytes = "bytes must be a Uint8Array, or a stream of them without an encoding"

const names: ReadonlyArray<string> = ["bytes", "filename"] satisfies ReadonlyArray<keyof NewFile>

/** Throws if a value is not a file to upload. */
const check = (file: NewFile): void => {
  const unknown = Object.keys(Object(file)).find((name) => !names.includes(name))
  if (unknown !== undefined) throw badOption(unknown, `there is no option ${unknown}`, "unknown_field")
  const { bytes, filename } = Object(file) as { readonly [name in keyof NewFile]?: unknown }
  const isStream = typeof (bytes as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === "function"
  if (!isStream && !(bytes instanceof Uint8Array)) {
    throw badOption("bytes", notBytes)
  }
  if (filename !== undefined && typeof filename !== "string") throw badOption("filename", "filename must be text")
}

/** A position in a file, limited to the range from 0 to its size. Throws if it is not a whole number. */
const placeOf = (name: "start" | "end", place: number, size: number): number => {
  const within = Math.min(Math.max(0, place), size)
  if (!Number.isInteger(within)) throw badOption(name, `${name} must be a whole number`)
  return within
}

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
        : Effect.fail(unreadable(notBytes))
  )
  return { failed, pieces: checked }
}

export const make = Effect.gen(function*() {
  const library = yield* MediaLibrary.MediaLibrary
  const shown = shownFor(Retention.keptFor(yield* Retention.CurrentRetention, "media"))
  return (running: Running, workspaceId: Id.WorkspaceId, inFlight: InFlight): Media => ({
    upload: async (file, options) => {
      check(file)
      const { bytes, filename } = file
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
          if (inFlight.isRefusing) throw closed()
          const last = placeOf("end", end, media.size)
          const pieces = read({ start: Math.min(placeOf("start", start, media.size), last), end: last })
          inFlight.begin()
          // the host may drop a stream without cancelling it, so it does not keep the process alive
          inFlight.passOn()
          return Stream.toReadableStream(
            Stream.mapError(pieces, (error) => ofDomain(StoreError.toServerError(error))).pipe(
              Stream.ensuring(Effect.sync(inFlight.endPassedOn))
            )
          )
        }
      }
    },
    remove: (id, options) => running.run(library.remove(workspaceId, id), { options })
  })
})
