import { assert, it } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { TestClock } from "effect/testing"
import { Notifications } from "../src/Notifications.ts"

it.effect("without notifications, a reader is told at first and once a minute to look at everything", () =>
  Effect.gen(function*() {
    const { listen } = yield* Notifications
    const hints = yield* listen("wac_deliveries")
    assert.strictEqual(yield* Queue.take(hints), "")
    yield* TestClock.adjust("59 seconds")
    assert.strictEqual(yield* Queue.size(hints), 0)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* Queue.take(hints), "")
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* Queue.size(hints), 2)
  }).pipe(Effect.provide(Notifications.layerNone)))
