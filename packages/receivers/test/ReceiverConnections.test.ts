import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { setImmediate } from "node:timers/promises"
import * as ReceiverConnections from "../src/ReceiverConnections.ts"
import * as ReceiverConnector from "../src/ReceiverConnector.ts"
import { ReceiverExchange } from "../src/ReceiverExchange.ts"
import { allowedCidrs, body, headers, type Receiver, reply, serve, serveRaw } from "./receivers.ts"

/** Every host is on the loopback. */
const connector = ReceiverConnector.make({ allowInsecure: true, allowedCidrs, lookup: async () => ["127.0.0.1"] })

const connections = (options?: ReceiverConnections.Options) => ReceiverConnections.make(connector, options)

const post = (to: ReceiverConnections.ReceiverConnections, { port }: Receiver, host = "127.0.0.1") =>
  Effect.gen(function*() {
    const exchange = new ReceiverExchange(yield* Clock.Clock)
    const url = new URL(`http://${host}:${port}/`)
    const error = yield* Effect.callback<Error | null>((resume) => {
      const breakOff = to.post(url, { headers, body }, exchange, {
        fresh: false,
        ended: (error) => resume(Effect.succeed(error))
      })
      return Effect.sync(breakOff)
    })
    return { exchange, error }
  })

/** A receiver that answers none of `count` requests before all of them are here. */
const gathering = (count: number) => {
  const waiting: Array<ServerResponse> = []
  return serve((_, res) => {
    if (waiting.push(res) === count) waiting.splice(0).forEach((each) => each.end())
  })
}

/** Runs the event loop until it is so. */
const until = (isSo: () => boolean) =>
  Effect.promise(async () => {
    while (!isSo()) await setImmediate()
  })

describe("unused connections", () => {
  it.effect("unused connections are closed after a while, and their hosts are forgotten", () =>
    Effect.gen(function*() {
      const own = yield* connections({ idleTimeout: Duration.millis(20) })
      const receivers = yield* Effect.replicateEffect(serve(reply(200)), 3)
      for (const receiver of receivers) assert.isNull((yield* post(own, receiver)).error)
      assert.strictEqual(own.size.open, own.size.idle)
      yield* Effect.promise(() => Promise.all(receivers.map(({ closed }) => closed)))
      yield* until(() => own.size.open === 0)
      assert.deepStrictEqual(own.size, { open: 0, idle: 0, idleOrigins: 0 })
    }))

  it.effect("unused connections that the receiver closes are forgotten", () =>
    Effect.gen(function*() {
      const own = yield* connections()
      const receiver = yield* serve(reply(200))
      yield* post(own, receiver)
      assert.deepStrictEqual(own.size, { open: 1, idle: 1, idleOrigins: 1 })
      receiver.sockets[0]!.end()
      yield* until(() => own.size.open === 0)
      assert.deepStrictEqual(own.size, { open: 0, idle: 0, idleOrigins: 0 })
      assert.isNull((yield* post(own, receiver)).error)
    }))

  it.effect("the number of unused connections is limited to the most recently used", () =>
    Effect.gen(function*() {
      const own = yield* connections({ maxIdle: 2 })
      const [first, ...others] = yield* Effect.replicateEffect(serve(reply(200)), 4)
      for (const receiver of [first!, ...others]) yield* post(own, receiver)
      assert.deepStrictEqual(own.size, { open: 2, idle: 2, idleOrigins: 2 })
      yield* Effect.promise(() => first!.closed)
      for (const receiver of others.slice(1)) assert.isTrue((yield* post(own, receiver)).exchange.isKept)
      assert.isFalse((yield* post(own, others[0]!)).exchange.isKept)
    }))

  it.effect("the number of unused connections to one host is limited, however many were in use", () =>
    Effect.gen(function*() {
      const own = yield* connections({ maxIdlePerOrigin: 3 })
      const busy = yield* gathering(8)
      const other = yield* serve(reply(200))
      const ended = yield* Effect.replicateEffect(post(own, busy), 8, { concurrency: "unbounded" })
      assert.isTrue(ended.every(({ error, exchange }) => error === null && !exchange.isKept))
      assert.deepStrictEqual(own.size, { open: 3, idle: 3, idleOrigins: 1 })
      yield* post(own, other)
      assert.deepStrictEqual(own.size, { open: 4, idle: 4, idleOrigins: 2 })
    }))

  it.effect("connections to thousands of hosts leave nothing in memory", () =>
    Effect.gen(function*() {
      const own = yield* connections({ maxIdle: 10 })
      const receiver = yield* serve(reply(200))
      for (let i = 0; i < 1000; i += 20) {
        const hosts = Array.from({ length: 20 }, (_, j) => `host-${i + j}.example`)
        const ended = yield* Effect.forEach(hosts, (host) => post(own, receiver, host), { concurrency: 20 })
        assert.isTrue(ended.every(({ error, exchange }) => error === null && !exchange.isKept))
      }
      assert.deepStrictEqual(own.size, { open: 10, idle: 10, idleOrigins: 10 })
    }))

  it.effect("a connection older than a minute is not reused, because the name's addresses may have changed", () =>
    Effect.gen(function*() {
      const own = yield* connections()
      const receiver = yield* serve(reply(200))
      yield* post(own, receiver)
      yield* TestClock.adjust(Duration.subtract(Duration.minutes(1), Duration.millis(1)))
      assert.isTrue((yield* post(own, receiver)).exchange.isKept)
      yield* TestClock.adjust("1 milli")
      assert.isTrue((yield* post(own, receiver)).exchange.isKept)
      assert.strictEqual(own.size.open, 0)
      assert.isFalse((yield* post(own, receiver)).exchange.isKept)
    }))

  it.effect("a connection is not kept if the receiver announces that it closes it soon", () =>
    Effect.gen(function*() {
      const own = yield* connections()
      const receiver = yield* serve(reply(200, { "keep-alive": "timeout=2" }))
      assert.isNull((yield* post(own, receiver)).error)
      assert.deepStrictEqual(own.size, { open: 0, idle: 0, idleOrigins: 0 })
    }))

  it.effect("an exchange that is still connecting ends with the scope", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const lookup = () => {
        asked.resolve()
        return new Promise<never>(() => {})
      }
      const receiver = yield* serve(reply(200))
      const posting = yield* Effect.scoped(Effect.gen(function*() {
        const own = yield* ReceiverConnections.make(
          ReceiverConnector.make({ allowInsecure: true, allowedCidrs, lookup })
        )
        const posting = yield* Effect.forkDetach(post(own, receiver, "receiver.example"))
        yield* Effect.promise(() => asked.promise)
        return posting
      }))
      assert.isNotNull((yield* Fiber.join(posting)).error)
    }))

  it.effect("all connections end with the scope", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const idle = yield* serve(reply(200))
      const hanging = yield* serve(() => asked.resolve())
      const posting = yield* Effect.scoped(Effect.gen(function*() {
        const own = yield* connections()
        yield* post(own, idle)
        const posting = yield* Effect.forkDetach(post(own, hanging))
        yield* Effect.promise(() => asked.promise)
        return posting
      }))
      yield* Effect.promise(() => Promise.all([idle.closed, hanging.closed]))
      assert.isNotNull((yield* Fiber.join(posting)).error)
    }))
})

describe("connections in use", () => {
  it.effect("each exchange has one connection, which is kept for the next", () =>
    Effect.gen(function*() {
      const own = yield* connections()
      const receiver = yield* gathering(40)
      for (let round = 0; round < 3; round++) {
        const ended = yield* Effect.replicateEffect(post(own, receiver), 40, { concurrency: "unbounded" })
        assert.isTrue(ended.every(({ error, exchange }) => error === null && exchange.isKept === round > 0))
      }
      assert.strictEqual(receiver.sockets.length, 40)
      assert.deepStrictEqual(own.size, { open: 40, idle: 40, idleOrigins: 1 })
    }))

  it.effect("a hanging connection delays no exchange, at a different host or the same", () =>
    Effect.gen(function*() {
      const own = yield* connections()
      let requests = 0
      const all = Promise.withResolvers<void>()
      const shared = yield* serve((_, res) => {
        if (++requests === 300) all.resolve()
        if (requests > 300) res.end()
      })
      const hanging = yield* Effect.replicateEffect(Effect.forkChild(post(own, shared)), 300)
      yield* Effect.promise(() => all.promise)
      assert.isNull((yield* post(own, shared)).error)
      const elsewhere = yield* serve(reply(200))
      assert.isNull((yield* post(own, elsewhere)).error)
      assert.isTrue(hanging.every((fiber) => fiber.pollUnsafe() === undefined))
      assert.strictEqual(own.size.open, 302)
      yield* Fiber.interruptAll(hanging)
      assert.strictEqual(own.size.open, own.size.idle)
    }))

  it.effect("a connection that is interrupted while connecting is closed immediately", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const own = yield* ReceiverConnections.make(ReceiverConnector.make({
        allowInsecure: true,
        allowedCidrs,
        lookup: () => {
          asked.resolve()
          return new Promise<never>(() => {})
        }
      }))
      const receiver = yield* serve(reply(200))
      const posting = yield* Effect.forkChild(post(own, receiver, "receiver.example"))
      yield* Effect.promise(() => asked.promise)
      assert.strictEqual(own.size.open, 1)
      yield* Fiber.interrupt(posting)
      assert.deepStrictEqual(own.size, { open: 0, idle: 0, idleOrigins: 0 })
    }))

  it.effect("a connection that the receiver closes is not reused", () =>
    Effect.gen(function*() {
      const own = yield* connections()
      const receiver = yield* serve(reply(200, { connection: "close" }))
      for (let i = 0; i < 20; i++) assert.isNull((yield* post(own, receiver)).error)
      assert.strictEqual(receiver.sockets.length, 20)
      yield* until(() => own.size.open === 0)
    }))

  it.effect("a connection with bytes after the response is not reused", () =>
    Effect.gen(function*() {
      const own = yield* connections()
      const receiver = yield* serveRaw((socket) => {
        const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
        socket.write(answer + answer)
      })
      yield* post(own, receiver)
      yield* Effect.promise(() => receiver.closed)
      yield* until(() => own.size.open === 0)
    }))
})
