/**
 * Conformance of `MediaBytes`: how the bytes of files are written, read in ranges and removed.
 */
import { assert } from "@effect/vitest"
import { MediaBytes } from "@wac/core"
import { Effect, Exit, Stream } from "effect"
import * as Fixture from "../Fixture.ts"
import * as SeededRandom from "../SeededRandom.ts"

const kilobyte = 1024

/** Bytes that differ in every part. */
const bytesOf = (length: number, seed = 1): Uint8Array => {
  const random = SeededRandom.make(seed)
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i += 4) {
    bytes.set([i & 255, (i >> 8) & 255, i >> 16, random.below(256)].slice(0, length - i), i)
  }
  return bytes
}

const pieces = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))

const fresh = Effect.gen(function*() {
  return { workspaceId: yield* Fixture.id("ws"), id: yield* Fixture.id("med") }
})

const read = (file: MediaBytes.Named, start: number, end: number) =>
  Effect.map(
    MediaBytes.MediaBytes.use((bytes) => Stream.runCollect(bytes.read(file, { start, end }))),
    (pieces) => Buffer.concat([...pieces])
  )

/** Deletes a file's bytes. Returns the number of steps. */
const erase = (file: MediaBytes.Named) =>
  Effect.gen(function*() {
    const bytes = yield* MediaBytes.MediaBytes
    let steps = 1
    while (yield* bytes.remove(file)) steps++
    return steps
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a file is read as it was written, whatever the sizes of the pieces", () =>
    Effect.gen(function*() {
      const store = yield* MediaBytes.MediaBytes
      for (
        const [length, size] of [[1, 1], [262_144, 1000], [262_145, 262_144], [1_000_003, 700_001], [5000, 7]] as const
      ) {
        const file = yield* fresh
        const bytes = bytesOf(length)
        yield* store.write(file, Stream.fromIterable(pieces(bytes, size)))
        assert.isTrue((yield* read(file, 0, length)).equals(bytes), `${length} by ${size}`)
        yield* erase(file)
      }
    }))

  it.effect("any range is read, and nothing beyond the file", () =>
    Effect.gen(function*() {
      const store = yield* MediaBytes.MediaBytes
      const file = yield* fresh
      const length = 600 * kilobyte + 7
      const bytes = bytesOf(length)
      yield* store.write(file, Stream.fromIterable(pieces(bytes, 64 * kilobyte)))
      const edge = 256 * kilobyte
      for (
        const [start, end] of [[0, 1], [length - 1, length], [edge - 1, edge + 1], [edge, 2 * edge], [
          5,
          length - 5
        ]] as const
      ) {
        assert.isTrue((yield* read(file, start, end)).equals(bytes.subarray(start, end)), `${start} to ${end}`)
      }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read(file, length - 1, length + 1))))
    }))

  it.effect("a write fails with its stream, and what it left is removed", () =>
    Effect.gen(function*() {
      const store = yield* MediaBytes.MediaBytes
      const file = yield* fresh
      const broken = Stream.concat(Stream.fromIterable(pieces(bytesOf(700 * kilobyte), 1000)), Stream.fail("broken"))
      assert.strictEqual(yield* Effect.flip(store.write(file, broken)), "broken")
      yield* erase(file)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read(file, 0, 1))))
    }))

  it.effect("files do not share bytes, and a removed file cannot be read", () =>
    Effect.gen(function*() {
      const store = yield* MediaBytes.MediaBytes
      const [one, other] = [yield* fresh, yield* fresh]
      yield* store.write(one, Stream.make(bytesOf(1000, 1)))
      yield* store.write(other, Stream.make(bytesOf(1000, 2)))
      yield* erase(one)
      yield* erase(one)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read(one, 0, 1))))
      assert.isTrue((yield* read(other, 0, 1000)).equals(bytesOf(1000, 2)))
      yield* erase(other)
    }))
}
