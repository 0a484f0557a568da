/**
 * Healthy webhooks beside dead ones, whose attempts end only when the test says so: what arrives meanwhile waited for
 * none of them.
 */
import { assert, layer } from "@effect/vitest"
import { DeliveryAttempt } from "@wac/core"
import { RecordingReceiver } from "@wac/testkit"
import { Clock, Context, Duration, Effect, Latch, Layer } from "effect"
import * as checks from "../checks.ts"
import { call, hello, hostAuthenticator, send, start } from "../harness.ts"

/** The machine's clock, but for the deadlines of attempts: those are over when the test says so. */
class HeldDeadlines implements Clock.Clock {
  readonly #real: Clock.Clock
  readonly #over = Latch.makeUnsafe(false)
  readonly currentTimeMillis: Clock.Clock["currentTimeMillis"]
  readonly currentTimeNanos: Clock.Clock["currentTimeNanos"]
  readonly monotonicTimeNanos: Clock.Clock["monotonicTimeNanos"]
  constructor(real: Clock.Clock) {
    this.#real = real
    this.currentTimeMillis = real.currentTimeMillis
    this.currentTimeNanos = real.currentTimeNanos
    this.monotonicTimeNanos = real.monotonicTimeNanos
  }
  /** Ends those under way. */
  readonly end = Effect.suspend(() => this.#over.release)
  currentTimeMillisUnsafe() {
    return this.#real.currentTimeMillisUnsafe()
  }
  currentTimeNanosUnsafe() {
    return this.#real.currentTimeNanosUnsafe()
  }
  monotonicTimeNanosUnsafe() {
    return this.#real.monotonicTimeNanosUnsafe()
  }
  sleep(duration: Duration.Duration) {
    return Duration.equals(duration, DeliveryAttempt.timeout) ? this.#over.await : this.#real.sleep(duration)
  }
}

/** How many webhooks never answer, or never end their answer, and how many events wait for each. */
const dead = 20
const backlog = 40

/** Whom the sandbox tells nothing of, so that a message has one event. */
const silent = "+15005550003"

const world = Effect.gen(function*() {
  const clock = new HeldDeadlines(yield* Clock.Clock)
  const server = yield* Effect.provideService(
    start({ adapters: { authenticator: hostAuthenticator }, environment: checks.unlimited }),
    Clock.Clock,
    clock
  )
  const tenants = yield* Effect.forEach(
    Array.from({ length: dead + 1 }, (_, i) => `+1500555${2000 + i}`),
    (number) => checks.tenant(server, number)
  )
  const [healthy, ...others] = tenants as [Tenant, ...ReadonlyArray<Tenant>]
  return { clock, healthy, others }
})

type Tenant = Effect.Success<ReturnType<typeof checks.tenant>>

class World
  extends Context.Service<World, Effect.Success<typeof world>>()("@wac/server/test/http/isolation.test/World")
{
  static readonly layer = Layer.effect(World, world)
}

const sends = (tenant: Tenant, count: number, to: string) =>
  Effect.forEach(Array.from({ length: count }), () => send(tenant, hello(to)), { concurrency: 8, discard: true })

const health = ({ session, url }: Tenant) =>
  Effect.map(call(`${url}/internal/webhook`, { headers: session }), ({ body }) => body)

/** Messages of the healthy one arrive whole and in order, and nobody's attempt has to end for that. */
const assertServed = Effect.gen(function*() {
  const { healthy } = yield* World
  yield* sends(healthy, 5, "+15551234567")
  const received = yield* healthy.customer.take(15)
  const sequences = new Map<string, Array<number>>()
  for (const { event: { data } } of received) {
    sequences.set(data.message_id, [...sequences.get(data.message_id) ?? [], data.sequence])
  }
  assert.deepStrictEqual([...sequences.values()], Array.from({ length: 5 }, () => [1, 2, 3]))
})

layer(World.layer, { excludeTestServices: true })(`beside ${dead} dead webhooks`, (it) => {
  it.effect("a healthy webhook gets its events while the attempts at dead webhooks wait for a timeout", () =>
    Effect.gen(function*() {
      const { healthy, others } = yield* World
      for (const [i, { customer }] of others.entries()) {
        yield* customer.answerWith(
          i % 2 === 0 ? RecordingReceiver.hang : RecordingReceiver.slowDrip("x".repeat(16_000), "500 millis")
        )
      }
      // it has answered before
      yield* assertServed
      yield* Effect.forEach(others, (one) => sends(one, backlog, silent), { concurrency: "unbounded", discard: true })
      yield* Effect.forEach(others, ({ customer }) => customer.waitFor(1), { discard: true })
      yield* assertServed
      for (const one of others) {
        const { failingSince, lastFailure } = yield* health(one)
        assert.deepStrictEqual([failingSince, lastFailure], [null, null])
        const { length } = yield* one.customer.requests
        assert.isAtLeast(length, 1)
        assert.isAtMost(length, 16)
      }
      assert.strictEqual((yield* healthy.customer.requests).length, 30)
    }))

  it.effect("a healthy webhook gets its events while the attempts at dead webhooks fail and are retried", () =>
    Effect.gen(function*() {
      const { clock, others } = yield* World
      const failed = (one: Tenant) =>
        checks.until(
          Effect.andThen(clock.end, health(one)),
          ({ failingSince }) => failingSince !== null
        )
      for (const one of others) {
        assert.match((yield* failed(one)).lastFailure.message, /did not (answer|finish its response) within 5 seconds$/)
      }
      yield* assertServed
    }))

  it.effect("the events of dead webhooks are all delivered once they respond", () =>
    Effect.gen(function*() {
      const { clock, others } = yield* World
      for (const { customer } of others) yield* customer.answerWith(RecordingReceiver.ok)
      for (const { customer } of others) {
        yield* checks.until(
          Effect.andThen(clock.end, customer.requests),
          (requests) => new Set(requests.map(({ headers }) => headers["webhook-id"])).size === backlog
        )
      }
    }))
})
