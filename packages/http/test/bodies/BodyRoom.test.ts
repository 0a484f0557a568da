import { assert, describe, it } from "@effect/vitest"
import { type Errors } from "@wac/core"
import { ByteSize, Effect, Fiber, Latch, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { PassThrough } from "node:stream"
import * as BodyRoom from "../../src/bodies/BodyRoom.ts"

const limit = ByteSize.kibibytes(4)

/** A room for four pieces. */
const room = Effect.provideService(BodyRoom.make, BodyRoom.Capacity, ByteSize.kibibytes(4))

/** As large as a quarter of the room. */
const piece = new Uint8Array(1024)

/** Requests of which a piece comes and nothing else, in each way in which bodies are read. */
const unfinished: { readonly [way: string]: () => unknown } = {
  node: () => {
    const source = new PassThrough()
    source.write(piece)
    return { source, headers: {} }
  },
  "node, once it is told to": () => ({
    source: new PassThrough(),
    headers: { expect: "100-continue" },
    stream: Stream.concat(Stream.make(piece), Stream.never)
  }),
  web: () =>
    HttpServerRequest.fromWeb(
      new Request("http://localhost", {
        method: "POST",
        body: new ReadableStream({ start: (controller) => controller.enqueue(piece) }),
        duplex: "half"
      } as RequestInit)
    )
}

const whole = () => {
  const source = new PassThrough()
  source.end(piece.subarray(0, 100))
  return { source, headers: {} }
}

/** Lets the streams of Node hand on what they have. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const received = ({ length }: Uint8Array) => Effect.succeed(length)

const holding = Effect.fnUntraced(function*(
  { hold }: BodyRoom.BodyRoom,
  request: unknown,
  use: (body: Uint8Array) => Effect.Effect<number> = received
) {
  const fiber = yield* Effect.forkChild(hold(request as HttpServerRequest.HttpServerRequest, limit, use), {
    startImmediately: true
  })
  yield* turn
  return fiber
})

const reasonOf = (fiber: Fiber.Fiber<number, Errors.InvalidBody | Errors.ServerError>) =>
  Effect.map(Effect.flip(Fiber.join(fiber)), ({ reason }) => reason)

describe.each(Object.keys(unfinished))("bodies that stop halfway, by %s", (way) => {
  it.effect("if no room is left, the body that has been arriving longest makes room once it takes two seconds", () =>
    Effect.gen(function*() {
      const bodies = yield* room
      const slow = [yield* holding(bodies, unfinished[way]!())]
      yield* TestClock.adjust("1 second")
      for (let i = 0; i < 3; i++) slow.push(yield* holding(bodies, unfinished[way]!()))
      assert.strictEqual(yield* reasonOf(yield* holding(bodies, whole())), "overloaded")

      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(yield* holding(bodies, whole())), 100)
      assert.strictEqual(yield* reasonOf(slow[0]!), "overloaded")
      // the others may go on: there is room
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(yield* holding(bodies, whole())), 100)
      assert.deepStrictEqual(slow.map((fiber) => fiber.pollUnsafe() === undefined), [false, true, true, true])
      yield* TestClock.adjust("18 seconds")
      assert.strictEqual(yield* reasonOf(slow[1]!), "malformed_json")
      // the room is as large as before
      for (let i = 0; i < 4; i++) yield* holding(bodies, unfinished[way]!())
      assert.strictEqual(yield* reasonOf(yield* holding(bodies, whole())), "overloaded")
    }).pipe(Effect.scoped))
})

it.effect("a body that has arrived keeps its room for as long as it is used", () =>
  Effect.gen(function*() {
    const bodies = yield* room
    const used = Latch.makeUnsafe(false)
    const source = new PassThrough()
    source.end(new Uint8Array(4000))
    const first = yield* holding(bodies, { source, headers: {} }, ({ length }) => Effect.as(Latch.await(used), length))
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual(yield* reasonOf(yield* holding(bodies, whole())), "overloaded")
    Latch.openUnsafe(used)
    assert.strictEqual(yield* Fiber.join(first), 4000)
    assert.strictEqual(yield* Fiber.join(yield* holding(bodies, whole())), 100)
  }).pipe(Effect.scoped))
