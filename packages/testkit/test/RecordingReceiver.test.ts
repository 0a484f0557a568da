import { assert, it } from "@effect/vitest"
import * as FreePort from "@wac/testbed/FreePort"
import { RecordingReceiver } from "@wac/testkit"
import { Clock, Effect, Exit, Fiber, Latch, Option } from "effect"
import { connect } from "node:net"

const post = (url: string, body: string | Uint8Array<ArrayBuffer> = "{}", headers: Record<string, string> = {}) =>
  Effect.tryPromise((signal) => fetch(url, { method: "POST", body, headers, signal, redirect: "manual" }))

it.live("the receiver records every request byte for byte, with headers and time", () =>
  Effect.gen(function*() {
    const receiver = yield* RecordingReceiver.make
    const before = yield* Clock.currentTimeMillis
    const body = Uint8Array.from({ length: 256 }, (_, i) => i)
    const response = yield* post(`${receiver.url}hook?a=%20b`, body, { "X-Service-Signature": "t=1,v1=ab" })
    assert.strictEqual(response.status, 200)
    const request = yield* receiver.next
    assert.strictEqual(request.method, "POST")
    assert.strictEqual(request.target, "/hook?a=%20b")
    assert.strictEqual(request.headers["x-service-signature"], "t=1,v1=ab")
    assert.deepStrictEqual([...request.body], [...body])
    assert.isAtLeast(request.arrivedAt, before)
    assert.isAtMost(request.arrivedAt, yield* Clock.currentTimeMillis)
    assert.deepStrictEqual(yield* receiver.requests, [request])
  }))

it.live("the receiver responds by the script, then as set", () =>
  Effect.gen(function*() {
    const receiver = yield* RecordingReceiver.make
    yield* receiver.script([
      RecordingReceiver.reply(503, { headers: { "retry-after": "7" }, body: "busy" }),
      RecordingReceiver.redirect("http://127.0.0.1:1/"),
      RecordingReceiver.reply(204)
    ])
    yield* receiver.answerWith(({ target }) => RecordingReceiver.reply(target === "/teapot" ? 418 : 500))
    const first = yield* post(receiver.url)
    assert.deepStrictEqual([first.status, first.headers.get("retry-after")], [503, "7"])
    assert.strictEqual(yield* Effect.promise(() => first.text()), "busy")
    const second = yield* post(receiver.url)
    assert.deepStrictEqual([second.status, second.headers.get("location")], [302, "http://127.0.0.1:1/"])
    assert.strictEqual((yield* post(receiver.url)).status, 204)
    assert.strictEqual((yield* post(`${receiver.url}teapot`)).status, 418)
    assert.strictEqual((yield* post(receiver.url)).status, 500)
    assert.strictEqual((yield* receiver.requests).length, 5)
  }))

it.live("waiting for requests suspends until they have arrived", () =>
  Effect.gen(function*() {
    const receiver = yield* RecordingReceiver.make
    const three = yield* Effect.forkChild(receiver.waitFor(3), { startImmediately: true })
    const next = yield* Effect.forkChild(Effect.all([receiver.next, receiver.next]), { startImmediately: true })
    yield* post(receiver.url, "1")
    yield* post(receiver.url, "2")
    assert.strictEqual(three.pollUnsafe(), undefined)
    yield* post(receiver.url, "3")
    const text = ({ body }: RecordingReceiver.ReceivedRequest) => new TextDecoder().decode(body)
    assert.deepStrictEqual((yield* Fiber.join(three)).map(text), ["1", "2", "3"])
    assert.deepStrictEqual((yield* Fiber.join(next)).map(text), ["1", "2"])
    assert.strictEqual(text(yield* receiver.next), "3")
    assert.strictEqual((yield* receiver.waitFor(2)).length, 3)
  }))

it.live("a response is held back until what it waits for has ended", () =>
  Effect.gen(function*() {
    const receiver = yield* RecordingReceiver.make
    const gate = yield* Latch.make(false)
    yield* receiver.answerWith(RecordingReceiver.reply(200, { after: gate.await }))
    const answer = yield* Effect.forkChild(post(receiver.url), { startImmediately: true })
    yield* receiver.waitFor(1)
    assert.strictEqual(answer.pollUnsafe(), undefined)
    yield* gate.open
    assert.strictEqual((yield* Fiber.join(answer)).status, 200)
  }))

it.live("the receiver can listen again on the same port", () =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(FreePort.find)
    const { url } = yield* Effect.scoped(RecordingReceiver.makeOn(port))
    assert.isTrue(Exit.isFailure(yield* Effect.exit(post(url))))
    const again = yield* RecordingReceiver.makeOn(port)
    assert.strictEqual(again.url, url)
    assert.strictEqual((yield* post(url)).status, 200)
  }))

it.live("the receiver can hang, reset and drip", () =>
  Effect.gen(function*() {
    const receiver = yield* RecordingReceiver.make
    yield* receiver.script([
      RecordingReceiver.hang,
      RecordingReceiver.reset,
      RecordingReceiver.slowDrip("abcdefghij", "20 millis"),
      RecordingReceiver.slowDrip("x".repeat(1000), "1 second"),
      RecordingReceiver.reply(200, { delay: "100 millis" })
    ])
    assert.deepStrictEqual(yield* Effect.timeoutOption(post(receiver.url), "100 millis"), Option.none())
    const broken = yield* Effect.flip(post(receiver.url))
    assert.strictEqual(broken._tag, "UnknownError")
    const dripping = yield* post(receiver.url)
    const startedAt = yield* Clock.currentTimeMillis
    assert.strictEqual(yield* Effect.promise(() => dripping.text()), "abcdefghij")
    assert.isAtLeast((yield* Clock.currentTimeMillis) - startedAt, 100)
    const endless = yield* post(receiver.url)
    assert.strictEqual(endless.status, 200)
    yield* Effect.promise(() => endless.body!.cancel())
    const late = yield* Clock.currentTimeMillis
    yield* post(receiver.url)
    assert.isAtLeast((yield* Clock.currentTimeMillis) - late, 95)
    assert.strictEqual((yield* receiver.requests).length, 5)
  }))

it.live("closing its scope breaks every connection and frees the port", () =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(FreePort.find)
    yield* Effect.scoped(Effect.gen(function*() {
      const receiver = yield* RecordingReceiver.makeOn(port)
      yield* receiver.answerWith(RecordingReceiver.hang)
      yield* Effect.forkDetach(Effect.exit(post(receiver.url)))
      yield* receiver.waitFor(1)
      assert.strictEqual(yield* receiver.connections, 1)
    }))
    const refused = yield* Effect.callback<boolean>((resume) => {
      const socket = connect(port, "127.0.0.1")
      socket.on("connect", () => resume(Effect.succeed(false)))
      socket.on("error", () => resume(Effect.succeed(true)))
      return Effect.sync(() => socket.destroy())
    })
    assert.isTrue(refused)
  }))
