import { assert, describe, it } from "@effect/vitest"
import { Id, InboundPostStore, Polling, SubscriptionStore } from "@wac/core"
import { Clock, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as InboundPosts from "../src/inbound/InboundPostStore.ts"
import * as Memory from "../src/Polling.ts"
import { State } from "../src/State.ts"
import * as Subscriptions from "../src/subscriptions/SubscriptionStore.ts"

const layer = Memory.layer.pipe(Layer.provideMerge(State.layer))

const every = Duration.seconds(1)

/** When a rest that begins now ends; `undefined` if it has not by `until`. */
const endOf = Effect.fnUntraced(function*(look: Polling.Look, until: Duration.Input) {
  const { rest } = yield* Polling.Polling
  return yield* Effect.forkChild(Effect.andThen(rest(look, every), Clock.currentTimeMillis), {
    startImmediately: true
  }).pipe(Effect.tap(() => TestClock.adjust(until)))
})

describe("the memory storage's pause between polls", () => {
  it.effect("a rest lasts as long as nothing changes and nothing becomes due", () =>
    Effect.gen(function*() {
      for (
        const look of [
          "sends",
          "deliveries",
          "skippedDeliveries",
          "replays",
          "posts",
          "expiredPosts",
          "events"
        ] as const
      ) {
        const fiber = yield* endOf(look, "30 days")
        assert.isUndefined(fiber.pollUnsafe(), look)
        yield* Fiber.interrupt(fiber)
      }
    }).pipe(Effect.provide(layer)))

  it.effect("a rest ends at the first poll at or after a due time, never before the interval has passed", () =>
    Effect.gen(function*() {
      const memory = yield* State
      memory.deadlines.push({ at: 90_500, name: "a" })
      assert.strictEqual(yield* Fiber.join(yield* endOf("sends", "2 minutes")), 91_000)
      const from = yield* Clock.currentTimeMillis
      // already overdue
      assert.strictEqual(yield* Fiber.join(yield* endOf("sends", "2 minutes")), from + 1000)
    }).pipe(Effect.provide(layer)))

  it.effect("a rest ends once the claim of a process that handled events may be taken over", () =>
    Effect.gen(function*() {
      const memory = yield* State
      const store = yield* SubscriptionStore.SubscriptionStore
      const key = { workspaceId: Id.WorkspaceId.make("ws_00000000000000000000000001"), name: "orders" }
      yield* store.open({ ...key, types: [], now: 0 })
      const kept = memory.subscriptions.get(key.workspaceId)!.get(key.name)!
      kept.subscription = { ...kept.subscription, owner: "lost", leaseUntil: 9500 }
      const fiber = yield* endOf("subscriptions", "1 minute")
      assert.deepStrictEqual(fiber.pollUnsafe(), Exit.succeed(10_000))
    }).pipe(Effect.provide(Layer.provideMerge(Subscriptions.layer, layer))))

  it.effect("a rest of the sweep over posts ends once a post that was processed meanwhile has been kept long enough", () =>
    Effect.gen(function*() {
      const store = yield* InboundPostStore.InboundPostStore
      const name = { provider: "sandbox", digest: "of a post" }
      const limit = { posts: 1, bytes: 1000 }
      const fiber = yield* endOf("expiredPosts", 0)
      yield* store.keep({ ...name, body: new Uint8Array(), now: 0 })
      yield* store.claim({ now: 0, provider: name.provider, token: "own", leaseUntil: 5000, limit })
      yield* TestClock.adjust("9500 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* store.complete({ ...name, token: "own", now: 9500, keptFor: Duration.minutes(1) })
      // once when it is known until when the post is kept, and once more when that time is over
      yield* TestClock.adjust(every)
      assert.deepStrictEqual(fiber.pollUnsafe(), Exit.succeed(10_000))
      assert.strictEqual(yield* store.sweep(10_000, 10), 0)
      const again = yield* endOf("expiredPosts", "2 minutes")
      assert.deepStrictEqual(again.pollUnsafe(), Exit.succeed(69_500))
      assert.strictEqual(yield* store.sweep(69_500, 10), 1)
    }).pipe(Effect.provide(Layer.provideMerge(InboundPosts.layer, layer))))

  it.effect("a rest ends at the poll after a change, even if nothing was due or only later", () =>
    Effect.gen(function*() {
      const memory = yield* State
      const events = yield* endOf("events", "90500 millis")
      memory.eventHint.notify()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(events), 91_000)
      const from = yield* Clock.currentTimeMillis
      memory.deadlines.push({ at: from + 3_600_000, name: "late" })
      const sends = yield* endOf("sends", "10 seconds")
      memory.deadlineHint.notify()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(sends), from + 10_000)
    }).pipe(Effect.provide(layer)))
})
