import { assert, it } from "@effect/vitest"
import { MediaBytes, StoreError } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import * as FreePort from "@wac/testbed/FreePort"
import * as S3Server from "@wac/testbed/S3Server"
import { StorageSuite } from "@wac/testkit"
import { Deferred, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { S3MediaBytes } from "../src/index.ts"

const server = (port?: number) =>
  Effect.acquireRelease(Effect.promise(() => S3Server.start(port)), ({ stop }) => Effect.promise(stop))

const optionsOf = ({ bucket, endpoint }: Pick<S3Server.S3Server, "bucket" | "endpoint">): S3MediaBytes.Options => ({
  bucket,
  prefix: "wac/media/",
  endpoint,
  credentials: { accessKeyId: "an-id", secretAccessKey: Redacted.make("a-secret") }
})

StorageSuite.suite(
  "S3, over a storage in memory",
  Layer.unwrap(Effect.map(server(), (running) => S3MediaBytes.layer(optionsOf(running)))).pipe(
    Layer.provideMerge(MemoryStorage.layer)
  ),
  { ports: ["MediaBytes"] }
)

const file = { workspaceId: "ws_1", id: "med_1" } as MediaBytes.Named
const megabyte = 1024 * 1024

/** The port over a server of its own. */
const started = Effect.gen(function*() {
  const running = yield* server()
  const services = yield* Layer.build(S3MediaBytes.layer(optionsOf(running)))
  return { running, bytes: yield* Effect.provideContext(MediaBytes.MediaBytes, services) }
})

const read = (bytes: MediaBytes.MediaBytes["Service"], start: number, end: number) =>
  Effect.map(Stream.runCollect(bytes.read(file, { start, end })), (pieces) => Buffer.concat([...pieces]))

const erase = (bytes: MediaBytes.MediaBytes["Service"]) =>
  Effect.repeat(bytes.remove(file), { while: (isMore) => isMore })

it.live("a large file is several objects under one prefix, which are removed in bounded steps", () =>
  Effect.gen(function*() {
    const { bytes, running } = yield* started
    const part = Buffer.alloc(megabyte, "0123456789abcde\n")
    yield* bytes.write(file, Stream.fromIterable(Array.from({ length: 40 }, () => part)))
    const keys = yield* Effect.promise(running.keys)
    assert.strictEqual(keys.length, 20)
    assert.isTrue(keys.every((key) => key.startsWith("wac/media/ws_1/med_1/")))
    // across the border of two objects
    assert.strictEqual(`${yield* read(bytes, 2 * megabyte - 3, 2 * megabyte + 3)}`, "de\n012")
    assert.strictEqual(yield* bytes.remove(file), true)
    assert.strictEqual((yield* Effect.promise(running.keys)).length, 4)
    yield* erase(bytes)
    assert.deepStrictEqual(yield* Effect.promise(running.keys), [])
  }).pipe(Effect.scoped))

it.live("an interrupted write has left whole objects or nothing, and removal leaves none", () =>
  Effect.gen(function*() {
    const { bytes, running } = yield* started
    const reached = yield* Deferred.make<void>()
    const endless = Stream.fromIterable(Array.from({ length: 5 }, () => Buffer.alloc(megabyte))).pipe(
      Stream.concat(Stream.fromEffect(Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)))
    )
    const writing = yield* Effect.forkChild(bytes.write(file, endless))
    yield* Deferred.await(reached)
    yield* Fiber.interrupt(writing)
    assert.strictEqual((yield* Effect.promise(running.keys)).length, 2)
    yield* erase(bytes)
    assert.deepStrictEqual(yield* Effect.promise(running.keys), [])
  }).pipe(Effect.scoped))

it.live("a reader that stops early ends the request, and many readers that pause do not block others", () =>
  Effect.gen(function*() {
    const { bytes } = yield* started
    yield* bytes.write(file, Stream.make(Buffer.alloc(2 * megabyte, "x")))
    const release = yield* Deferred.make<void>()
    const paused = yield* Effect.forEach(Array.from({ length: 60 }), () =>
      Effect.forkChild(
        Stream.runForEach(bytes.read(file, { start: 0, end: 2 * megabyte }), () => Deferred.await(release)),
        { startImmediately: true }
      ))
    assert.strictEqual((yield* read(bytes, 0, 10)).length, 10)
    const [first] = yield* Stream.runCollect(Stream.take(bytes.read(file, { start: 0, end: 2 * megabyte }), 1))
    assert.isAbove(first!.length, 0)
    yield* Effect.forEach(paused, Fiber.interrupt, { concurrency: "unbounded" })
  }).pipe(Effect.scoped))

it.live("a store that ends is a StoreError, and serves again once it runs", () =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(FreePort.find)
    const running = yield* Effect.promise(() => S3Server.start(port))
    const options = optionsOf(running)
    const services = yield* Layer.build(S3MediaBytes.layer(options))
    const bytes = yield* Effect.provideContext(MediaBytes.MediaBytes, services)
    yield* bytes.write(file, Stream.make(Buffer.from("kept")))
    yield* Effect.promise(running.stop)
    for (
      const operation of [bytes.write(file, Stream.make(Buffer.from("lost"))), read(bytes, 0, 1), bytes.remove(file)]
    ) {
      assert.instanceOf(yield* Effect.flip(operation), StoreError.StoreError)
    }
    assert.instanceOf(yield* Effect.flip(S3MediaBytes.check(options)), S3MediaBytes.S3Unreachable)
    yield* server(port)
    yield* S3MediaBytes.check(options)
    yield* bytes.write(file, Stream.make(Buffer.from("again")))
    assert.strictEqual(`${yield* read(bytes, 0, 5)}`, "again")
  }).pipe(Effect.scoped))

/** A store that answers every request so. */
const answering = (status: number, code: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer((_, response) => {
          response.writeHead(status, { "content-type": "application/xml" })
          response.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`)
        })
        await once(server.listen(0, "127.0.0.1"), "listening")
        return server
      }),
      (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    ),
    (server) => optionsOf({ bucket: "files", endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  )

it.live("a bucket that does not exist, and credentials that are refused, are told apart from a store that is away", () =>
  Effect.gen(function*() {
    const options = optionsOf(yield* server())
    yield* S3MediaBytes.check(options)
    const missing = yield* Effect.flip(S3MediaBytes.check({ ...options, bucket: "another" }))
    assert.deepInclude(missing, { _tag: "S3Refused", why: "NoSuchBucket (404)" })
    const unknown = yield* Effect.flip(S3MediaBytes.check(yield* answering(403, "InvalidAccessKeyId")))
    assert.deepInclude(unknown, { _tag: "S3Refused", why: "InvalidAccessKeyId (403)" })
    const overloaded = yield* Effect.flip(S3MediaBytes.check(yield* answering(503, "SlowDown")))
    assert.deepInclude(overloaded, { _tag: "S3Unreachable", why: "SlowDown (503)" })
    const undeletable = yield* Effect.flip(S3MediaBytes.checkDeletion(yield* answering(403, "AccessDenied")))
    assert.deepInclude(undeletable, { _tag: "S3Refused", why: "DeleteObject: AccessDenied (403)" })
    for (const { message } of [missing, unknown, overloaded, undeletable]) assert.notMatch(message, /a-secret|an-id/)
  }).pipe(Effect.scoped))

it.live("a check of deletion deletes nothing, and passes whatever a store says of a name that no object has", () =>
  Effect.gen(function*() {
    const { bytes, running } = yield* started
    yield* bytes.write(file, Stream.make(Buffer.from("kept")))
    yield* S3MediaBytes.checkDeletion(optionsOf(running))
    assert.strictEqual(`${yield* read(bytes, 0, 4)}`, "kept")
    yield* S3MediaBytes.checkDeletion(yield* answering(404, "NoSuchKey"))
  }).pipe(Effect.scoped))
