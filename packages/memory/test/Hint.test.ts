import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Hint } from "../src/Hint.ts"

const start = (effect: Effect.Effect<void>) => Effect.forkChild(effect, { startImmediately: true })

it.effect("a notification wakes all waiting fibers", () =>
  Effect.gen(function*() {
    const hint = new Hint()
    const waiting = yield* Effect.all([start(hint.wait), start(hint.wait), start(hint.wait)])
    assert.isTrue(waiting.every((fiber) => fiber.pollUnsafe() === undefined))
    hint.notify()
    yield* Fiber.joinAll(waiting)
  }))

it.effect("a change between a claim and the wait is not lost", () =>
  Effect.gen(function*() {
    const hint = new Hint()
    hint.claimed(false)
    hint.notify()
    yield* hint.wait
    const again = yield* start(hint.wait)
    yield* Effect.yieldNow
    assert.isUndefined(again.pollUnsafe())
  }))

it.effect("a claim that leaves something behind wakes other claimers", () =>
  Effect.gen(function*() {
    const hint = new Hint()
    const waiting = yield* start(hint.wait)
    hint.claimed(true)
    yield* Fiber.join(waiting)
  }))

it.effect("a woken fiber does not run inside the notifying step", () =>
  Effect.gen(function*() {
    const hint = new Hint()
    let ran = false
    const waiting = yield* start(Effect.andThen(hint.wait, Effect.sync(() => ran = true)))
    const ranWithin = yield* Effect.sync(() => {
      hint.notify()
      return ran
    })
    assert.isFalse(ranWithin)
    yield* Fiber.join(waiting)
    assert.isTrue(ran)
  }))

it.effect("an interrupted fiber no longer waits", () =>
  Effect.gen(function*() {
    const hint = new Hint()
    const waiting = yield* start(hint.wait)
    yield* Fiber.interrupt(waiting)
    hint.notify()
    yield* hint.wait
  }))
