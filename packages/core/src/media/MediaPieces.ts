/**
 * Splits files into pieces of one size, which a storage of `MediaBytes` can keep. Neither a process nor a request then
 * holds a whole file, and the pieces of a range follow by arithmetic.
 */
import { Effect, Stream } from "effect"
import type { Range } from "./MediaBytes.ts"

/**
 * The initial size of the buffer, in bytes. The buffer grows with the file, because most files are smaller than a
 * piece.
 */
const firstSize = 64 * 1024

/**
 * Gathers a stream into pieces of `size` bytes (the last may be smaller), and writes each piece before it takes more
 * bytes. The bytes that `write` gets are valid only until it ends, because one buffer serves all pieces.
 */
export const write = <E, E2>(
  bytes: Stream.Stream<Uint8Array, E>,
  size: number,
  write: (piece: Uint8Array, n: number) => Effect.Effect<unknown, E2>
): Effect.Effect<void, E | E2> =>
  Effect.suspend(() => {
    let buffer = new Uint8Array(Math.min(firstSize, size))
    let length = 0
    let n = 0
    const append = (part: Uint8Array): void => {
      if (length + part.length > buffer.length) {
        const larger = new Uint8Array(Math.min(size, Math.max(2 * buffer.length, length + part.length)))
        larger.set(buffer.subarray(0, length))
        buffer = larger
      }
      buffer.set(part, length)
      length += part.length
    }
    const writeGathered = Effect.suspend(() => {
      const piece = buffer.subarray(0, length)
      length = 0
      return write(piece, n++)
    })
    const take = Effect.fnUntraced(function*(given: Uint8Array) {
      for (let at = 0; at < given.length;) {
        const part = given.subarray(at, at + size - length)
        append(part)
        at += part.length
        if (length === size) yield* writeGathered
      }
    })
    return Stream.runForEach(bytes, take).pipe(
      Effect.andThen(Effect.suspend(() => length === 0 ? Effect.void : writeGathered))
    )
  })

/** Reads a range piece by piece. `read` returns the bytes of the given range within piece number `n`. */
export const read = <E>(
  { end, start }: Range,
  size: number,
  read: (n: number, range: Range) => Stream.Stream<Uint8Array, E>
): Stream.Stream<Uint8Array, E> =>
  end <= start ? Stream.empty : Stream.range(Math.floor(start / size), Math.ceil(end / size) - 1).pipe(
    Stream.flatMap((n) => read(n, { start: Math.max(0, start - n * size), end: Math.min(size, end - n * size) }))
  )
