import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import * as SharedPlaces from "../../src/queue/SharedPlaces.ts"

it.effect("a place that becomes free goes to the waiting parties in turn, and not to those who left", () =>
  Effect.gen(function*() {
    const occupy = SharedPlaces.make(1)
    const entered: Array<string> = []
    const first = Latch.makeUnsafe(false)
    const enter = (name: string, party: string) =>
      Effect.forkChild(occupy(party)(Effect.sync(() => void entered.push(name))), { startImmediately: true })
    const holding = yield* Effect.forkChild(occupy("a")(Latch.await(first)), { startImmediately: true })
    const waiting = [
      yield* enter("a1", "a"),
      yield* enter("a2", "a"),
      yield* enter("a3", "a"),
      yield* enter("b1", "b"),
      yield* enter("b2", "b"),
      yield* enter("c1", "c")
    ]
    yield* Fiber.interrupt(waiting[1]!)
    yield* Fiber.interrupt(waiting[5]!)
    assert.deepStrictEqual(entered, [])
    Latch.openUnsafe(first)
    yield* Fiber.join(holding)
    yield* Effect.forEach([0, 2, 3, 4], (place) => Fiber.join(waiting[place]!))
    assert.deepStrictEqual(entered, ["a1", "b1", "a3", "b2"])
    // the place is free again, also after a failure
    yield* Effect.ignore(occupy("d")(Effect.fail("broken")))
    yield* occupy("d")(Effect.sync(() => void entered.push("d1")))
    assert.strictEqual(entered.at(-1), "d1")
  }))

it.effect("a place is not lost when the one that it was given to is interrupted before it begins", () =>
  Effect.gen(function*() {
    const entered: Array<number> = []
    for (let turns = 0; turns < 4; turns++) {
      const occupy = SharedPlaces.make(1)
      const first = Latch.makeUnsafe(false)
      yield* Effect.forkChild(occupy("a")(Latch.await(first)), { startImmediately: true })
      const waiting = yield* Effect.forkChild(occupy("b")(Effect.never), { startImmediately: true })
      Latch.openUnsafe(first)
      for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
      yield* Fiber.interrupt(waiting)
      yield* Effect.forkChild(occupy("b")(Effect.sync(() => void entered.push(turns))), { startImmediately: true })
      yield* Effect.forkChild(occupy("c")(Effect.sync(() => void entered.push(turns))), { startImmediately: true })
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
    }
    assert.deepStrictEqual(entered, [0, 0, 1, 1, 2, 2, 3, 3])
  }))

it.effect("a party with as many places as it may have waits for one of its own, and others enter meanwhile", () =>
  Effect.gen(function*() {
    const occupy = SharedPlaces.make(3, 2)
    const entered: Array<string> = []
    const gate = Latch.makeUnsafe(false)
    const enter = (name: string, party: string) =>
      Effect.forkChild(
        occupy(party)(Effect.andThen(Effect.sync(() => void entered.push(name)), Latch.await(gate))),
        { startImmediately: true }
      )
    const first = yield* enter("a1", "a")
    yield* enter("a2", "a")
    yield* enter("a3", "a")
    assert.deepStrictEqual(entered, ["a1", "a2"])
    const other = yield* enter("b1", "b")
    assert.deepStrictEqual(entered, ["a1", "a2", "b1"])
    // a place that another party leaves is not for the party that has its own share
    yield* Fiber.interrupt(other)
    yield* Effect.yieldNow
    assert.deepStrictEqual(entered, ["a1", "a2", "b1"])
    yield* Fiber.interrupt(first)
    yield* Effect.yieldNow
    assert.deepStrictEqual(entered, ["a1", "a2", "b1", "a3"])
    Latch.openUnsafe(gate)
  }))
