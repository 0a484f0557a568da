import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { PassThrough, Readable } from "node:stream"
import * as BodyBytes from "../../src/bodies/BodyBytes.ts"

const limit = 10

/** As the adapter for `node:http` has it: its stream is the request's source. */
const nodeRequest = (source: Readable) => ({ source, headers: {} }) as unknown as HttpServerRequest.HttpServerRequest

/** The same of a caller that waits to be told to go on, which is told so by whoever asks for its stream. */
const expectant = (stream: HttpServerRequest.HttpServerRequest["stream"]) =>
  ({
    source: new PassThrough(),
    headers: { expect: "100-continue" },
    stream
  }) as unknown as HttpServerRequest.HttpServerRequest

const webRequest = (body: ReadableStream<Uint8Array> | null) =>
  HttpServerRequest.fromWeb(
    new Request("http://localhost", { method: "POST", body, duplex: "half" } as RequestInit)
  )

const piece = (text: string) => new TextEncoder().encode(text)

const kinds = {
  node: (pieces: ReadonlyArray<string>) => nodeRequest(Readable.from(pieces.map(piece), { objectMode: false })),
  "node, once it is told to": (pieces: ReadonlyArray<string>) => expectant(Stream.fromIterable(pieces.map(piece))),
  web: (pieces: ReadonlyArray<string>) =>
    webRequest(Readable.toWeb(Readable.from(pieces.map(piece))) as ReadableStream<Uint8Array>)
}

describe.each(Object.keys(kinds) as ReadonlyArray<keyof typeof kinds>)("a body by %s", (kind) => {
  const read = (pieces: ReadonlyArray<string>) => BodyBytes.read(kinds[kind](pieces), { limit })

  it.effect("a body is read completely up to the limit", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read(["0123", "456", "789"]), piece("0123456789"))
      assert.deepStrictEqual(yield* read([]), new Uint8Array())
    }))

  it.effect("a body has its own buffer of exactly its length", () =>
    Effect.gen(function*() {
      const { buffer } = yield* read(["0123"])
      assert.strictEqual(buffer.byteLength, 4)
    }))

  it.effect("a body beyond the limit is refused", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Effect.flip(read(["0123", "456", "7890"])), "too large")
    }))

  it.effect("a body reserves its memory, and is refused if none is left", () =>
    Effect.gen(function*() {
      const asked: Array<number> = []
      const room = (most: number) => (bytes: number) => asked.push(bytes) > 0 && bytes <= most
      const pieces = ["0123", "4", "56789"]
      yield* BodyBytes.read(kinds[kind](pieces), { limit, room: room(10) })
      assert.strictEqual(asked.reduce((sum, bytes) => sum + bytes, 0), limit)
      assert.strictEqual(
        yield* Effect.flip(BodyBytes.read(kinds[kind](pieces), { limit, room: room(3) })),
        "no room"
      )
    }))
})

describe("a body whose declared length is too large", () => {
  it.effect("a body whose declared length is too large is refused before it is read", () =>
    Effect.gen(function*() {
      const source = new PassThrough()
      const request = { ...nodeRequest(source), headers: { "content-length": `${limit + 1}` } }
      assert.strictEqual(
        yield* Effect.flip(BodyBytes.read(request as unknown as HttpServerRequest.HttpServerRequest, { limit })),
        "too large"
      )
      assert.strictEqual(source.listenerCount("data"), 0)
    }))
})

describe("a body that comes byte by byte", () => {
  // a source that uses its piece again shows whether that is kept, for hundreds of times the memory of the byte in it
  const [byte, bytes] = [new Uint8Array(1), piece("0123456789")]

  it.effect("a body from node that comes byte by byte is gathered without keeping the pieces", () =>
    Effect.gen(function*() {
      const source = new PassThrough()
      const reading = yield* Effect.forkChild(BodyBytes.read(nodeRequest(source), { limit }), {
        startImmediately: true
      })
      for (const each of bytes) {
        byte[0] = each
        source.emit("data", byte)
      }
      source.end()
      assert.deepStrictEqual(yield* Fiber.join(reading), bytes)
    }))

  it.effect("a body from node after 100 Continue is gathered without keeping the pieces", () =>
    Effect.gen(function*() {
      function* again() {
        for (const each of bytes) {
          byte[0] = each
          yield byte
        }
      }
      const request = expectant(Stream.fromIterable(again(), { chunkSize: 1 }))
      assert.deepStrictEqual(yield* BodyBytes.read(request, { limit }), bytes)
    }))

  it.effect("a web body that comes byte by byte is gathered without keeping the pieces", () =>
    Effect.gen(function*() {
      const left = bytes.values()
      const source = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const { done, value } = left.next()
          if (done) return controller.close()
          byte[0] = value
          controller.enqueue(byte)
        }
      }, { highWaterMark: 0 })
      assert.deepStrictEqual(yield* BodyBytes.read(webRequest(source), { limit }), bytes)
    }))
})

describe("a body that breaks off", () => {
  it.effect("a body that breaks off counts as incomplete", () =>
    Effect.gen(function*() {
      for (const cut of [new Error("reset"), undefined]) {
        const source = new PassThrough()
        const reading = yield* Effect.forkChild(Effect.flip(BodyBytes.read(nodeRequest(source), { limit })), {
          startImmediately: true
        })
        source.write("01")
        source.destroy(cut)
        assert.strictEqual(yield* Fiber.join(reading), "not whole")
        assert.strictEqual(yield* Effect.flip(BodyBytes.read(nodeRequest(source), { limit })), "not whole")
      }
      const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) })
      assert.strictEqual(yield* Effect.flip(BodyBytes.read(webRequest(broken), { limit })), "not whole")
      const { stream } = webRequest(new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) }))
      assert.strictEqual(yield* Effect.flip(BodyBytes.read(expectant(stream), { limit })), "not whole")
    }))
})

describe("a body that is no longer needed", () => {
  it.effect("a body that is no longer needed is released", () =>
    Effect.gen(function*() {
      let cancelled = 0
      const endless = () =>
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.enqueue(piece("01234")),
          cancel: () => void cancelled++
        })
      assert.strictEqual(yield* Effect.flip(BodyBytes.read(webRequest(endless()), { limit })), "too large")
      assert.strictEqual(cancelled, 1)

      const silent = new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ })
      const reading = yield* Effect.forkChild(BodyBytes.read(webRequest(silent), { limit }), { startImmediately: true })
      yield* Fiber.interrupt(reading)
      assert.strictEqual(cancelled, 2)

      const source = new PassThrough()
      const listeners = () => ["data", "end", "error", "close"].map((name) => source.listenerCount(name))
      const before = listeners()
      const other = yield* Effect.forkChild(BodyBytes.read(nodeRequest(source), { limit }), { startImmediately: true })
      assert.notDeepEqual(listeners(), before)
      yield* Fiber.interrupt(other)
      assert.deepStrictEqual(listeners(), before)
    }))
})
