import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as PacedBody from "../../src/bodies/PacedBody.ts"

const kilobyte = 1024

/** Reads a body whose pieces come at these times, in seconds. */
const reading = (pieces: ReadonlyArray<readonly [at: number, size: number]>, ends = true) => {
  let before = 0
  const stream = Stream.fromIterable(pieces).pipe(Stream.mapEffect(([at, size]) => {
    const wait = at - before
    before = at
    return Effect.delay(Effect.succeed(new Uint8Array(size)), `${wait} seconds`)
  }))
  const request = { stream: ends ? stream : Stream.concat(stream, Stream.never) }
  return PacedBody.read(request as unknown as HttpServerRequest.HttpServerRequest).pipe(
    Stream.runFold(() => 0, (size, piece) => size + piece.length),
    Effect.forkChild
  )
}

const messageOf = (exit: Exit.Exit<unknown, { readonly message: string }>): string =>
  Exit.isFailure(exit) ? JSON.stringify(exit.cause) : "it did not fail"

describe("a body that is streamed", () => {
  it.effect("a body that keeps its pace is read, however long it takes", () =>
    Effect.gen(function*() {
      const fiber = yield* reading(Array.from({ length: 120 }, (_, i) => [10 * (i + 1), 700 * kilobyte] as const))
      yield* TestClock.adjust("20 minutes")
      assert.strictEqual(yield* Fiber.join(fiber), 120 * 700 * kilobyte)
    }))

  it.effect("a body that stops is given up after 30 seconds", () =>
    Effect.gen(function*() {
      const fiber = yield* reading([[1, 1000 * kilobyte]], false)
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      assert.include(messageOf(yield* Fiber.await(fiber)), "64 KiB per second")
    }))

  it.effect("a body that drips is given up after 30 seconds", () =>
    Effect.gen(function*() {
      const fiber = yield* reading(Array.from({ length: 100 }, (_, i) => [i + 1, 60 * kilobyte] as const))
      yield* TestClock.adjust("31 seconds")
      assert.include(messageOf(yield* Fiber.await(fiber)), "64 KiB per second")
    }))
})

describe("an upload", () => {
  it.effect("an upload ends after 30 minutes, however fast it is", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(PacedBody.inTime(Effect.never))
      yield* TestClock.adjust("30 minutes")
      assert.include(messageOf(yield* Fiber.await(fiber)), "within 30 minutes")
    }))
})
