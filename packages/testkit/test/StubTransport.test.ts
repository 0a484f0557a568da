import { assert, it } from "@effect/vitest"
import { WebhookTransport } from "@wac/core"
import { StubTransport } from "@wac/testkit"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

const request = { url: "https://receiver.example/", headers: { "x-a": "1" }, body: "{}", timeout: Duration.seconds(5) }

it.effect("the transport records requests with the clock's time, and responds as set", () =>
  Effect.gen(function*() {
    const transport = yield* WebhookTransport.WebhookTransport
    const stub = yield* StubTransport.StubTransport
    assert.deepStrictEqual(yield* transport.post(request), {
      outcome: "delivered",
      statusCode: 200,
      message: "answered 200",
      address: null,
      timings: null,
      response: { headers: {}, body: "" },
      retryAfter: null
    })
    yield* TestClock.adjust("1 hour")
    yield* stub.answerWith(({ at }) => Effect.succeed(StubTransport.answered(at === 3_600_000 ? 503 : 200)))
    const answer = yield* transport.post(request)
    assert.deepStrictEqual([answer.outcome, answer.statusCode], ["status", 503])
    yield* stub.answerWith(() => Effect.succeed(StubTransport.unreachable))
    assert.strictEqual((yield* transport.post(request)).outcome, "connect")
    assert.deepStrictEqual(yield* stub.requests, [
      { ...request, at: 0 },
      { ...request, at: 3_600_000 },
      { ...request, at: 3_600_000 }
    ])
    assert.deepStrictEqual(yield* stub.next, { ...request, at: 0 })
  }).pipe(Effect.provide(StubTransport.layer())))

it.effect("the transport counts requests in flight and those that were cut off", () =>
  Effect.gen(function*() {
    const transport = yield* WebhookTransport.WebhookTransport
    const stub = yield* StubTransport.StubTransport
    const fibers = yield* Effect.replicateEffect(Effect.forkChild(transport.post(request)), 3)
    assert.strictEqual((yield* stub.waitFor(3)).length, 3)
    assert.deepStrictEqual(yield* stub.inFlight, { now: 3, most: 3 })
    yield* Fiber.interruptAll(fibers)
    assert.deepStrictEqual(yield* stub.inFlight, { now: 0, most: 3 })
    assert.strictEqual(yield* stub.interrupted, 3)
    yield* stub.answerWith(() => Effect.delay(Effect.succeed(StubTransport.answered(301)), "2 seconds"))
    const slow = yield* Effect.forkChild(transport.post(request))
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual((yield* Fiber.join(slow)).outcome, "redirect")
    yield* stub.answerWith(StubTransport.hang)
    const silent = yield* Effect.forkChild(transport.post(request))
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual((yield* Fiber.join(silent)).outcome, "timeout")
    assert.strictEqual(yield* stub.interrupted, 4)
  }).pipe(Effect.provide(StubTransport.layer(StubTransport.hang))))
