/**
 * `MediaBytes` in memory.
 */
import { type Id, MediaBytes, StoreError } from "@wac/core"
import { Effect, Layer, Stream } from "effect"
import { type Memory, State } from "../State.ts"

const operation = "MediaBytes.read"

/** The pieces of a file that lie within a range, as views. */
const piecesIn = (memory: Memory, id: Id.MediaId, { end, start }: MediaBytes.Range): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let at = 0
  for (const piece of memory.mediaBytes.get(id) ?? []) {
    if (at < end && at + piece.length > start) pieces.push(piece.subarray(Math.max(0, start - at), end - at))
    at += piece.length
  }
  return pieces
}

export const layer = Layer.effect(
  MediaBytes.MediaBytes,
  Effect.map(State, (memory) =>
    MediaBytes.MediaBytes.of({
      write: ({ id }, bytes) =>
        Effect.suspend(() => {
          const pieces: Array<Uint8Array> = []
          memory.mediaBytes.set(id, pieces)
          // a piece may be a view of a much larger buffer
          return Stream.runForEach(bytes, (piece) => Effect.sync(() => void pieces.push(piece.slice())))
        }),
      read: ({ id }, range) =>
        Stream.suspend(() => {
          const pieces = piecesIn(memory, id, range)
          const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
          return length === range.end - range.start
            ? Stream.fromIterable(pieces)
            : Stream.fail(new StoreError.StoreError({ operation }))
        }),
      remove: ({ id }) =>
        Effect.sync(() => {
          memory.mediaBytes.delete(id)
          return false
        })
    }))
)
