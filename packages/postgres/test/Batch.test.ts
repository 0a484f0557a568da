import { assert, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Queue, Ref, Scope } from "effect"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import * as Batch from "../src/Batch.ts"

/** A batch in flight: its commands, and a function that ends it. */
interface Flight {
  readonly commands: ReadonlyArray<number>
  readonly end: (exit: Exit.Exit<ReadonlyArray<Exit.Exit<string, string>>, string>) => Effect.Effect<boolean>
}

/** An operation whose batches the test observes and ends. */
const operation = (
  options: { readonly maxSize?: number; readonly deadline?: number } = {}
) =>
  Effect.gen(function*() {
    const flights = yield* Queue.unbounded<Flight>()
    const givenUp = yield* Ref.make(0)
    const run = Effect.fnUntraced(function*(commands: ReadonlyArray<number>) {
      const landed = yield* Deferred.make<ReadonlyArray<Exit.Exit<string, string>>, string>()
      yield* Queue.offer(flights, { commands, end: (exit) => Deferred.done(landed, exit) })
      return yield* Effect.onInterrupt(Deferred.await(landed), () => Ref.update(givenUp, (n) => n + 1))
    })
    const ask = yield* Batch.make<number, string, string>({
      maxSize: 64,
      deadline: 5000,
      late: Effect.fail("late"),
      unavailable: (isUndone) => isUndone ? "turned away" : "unavailable",
      ...options,
      run
    })
    return { ask, next: Queue.take(flights), size: Queue.size(flights), givenUp: Ref.get(givenUp) }
  })

const answered = ({ commands, end }: Flight) => end(Exit.succeed(commands.map((n) => Exit.succeed(`answer ${n}`))))

const ask = (call: (n: number) => Effect.Effect<string, string>, ...commands: ReadonlyArray<number>) =>
  Effect.forEach(commands, (n) => Effect.forkChild(call(n), { startImmediately: true }))

it.effect("a lone command leaves immediately, without any time passing", () =>
  Effect.gen(function*() {
    const { ask: call, next } = yield* operation()
    const [caller] = yield* ask(call, 1)
    const flight = yield* next
    assert.deepStrictEqual(flight.commands, [1])
    yield* answered(flight)
    assert.strictEqual(yield* Fiber.join(caller!), "answer 1")
  }))

it.effect("a caller that arrives while a batch is in flight joins the next one and gets its own answer", () =>
  Effect.gen(function*() {
    const { ask: call, next } = yield* operation()
    const early = yield* ask(call, 1, 2)
    const first = yield* next
    const late = yield* ask(call, 3, 4, 5)
    assert.deepStrictEqual(first.commands, [1, 2])
    yield* answered(first)
    assert.deepStrictEqual(yield* Effect.forEach(early, Fiber.join), ["answer 1", "answer 2"])
    const second = yield* next
    assert.deepStrictEqual(second.commands, [3, 4, 5])
    yield* answered(second)
    assert.deepStrictEqual(yield* Effect.forEach(late, Fiber.join), ["answer 3", "answer 4", "answer 5"])
    const [again] = yield* ask(call, 6)
    yield* Effect.flatMap(next, answered)
    assert.strictEqual(yield* Fiber.join(again!), "answer 6")
  }))

it.effect("a batch holds at most maxSize commands, and one batch is in flight at a time", () =>
  Effect.gen(function*() {
    const { ask: call, next, size } = yield* operation({ maxSize: 2 })
    const callers = yield* ask(call, 1, 2, 3, 4, 5)
    for (const commands of [[1, 2], [3, 4], [5]]) {
      const flight = yield* next
      assert.deepStrictEqual(flight.commands, commands)
      yield* Effect.yieldNow
      assert.strictEqual(yield* size, 0)
      yield* answered(flight)
    }
    assert.strictEqual((yield* Effect.forEach(callers, Fiber.join)).length, 5)
  }))

it.effect("a caller that is answered and calls again immediately joins the batch of those that waited", () =>
  Effect.gen(function*() {
    const { ask: call, next } = yield* operation()
    const one = yield* Effect.forkChild(Effect.andThen(call(1), call(3)), { startImmediately: true })
    const first = yield* next
    const [two] = yield* ask(call, 2)
    yield* answered(first)
    const second = yield* next
    assert.deepStrictEqual(second.commands, [2, 3])
    yield* answered(second)
    assert.strictEqual(yield* Fiber.join(one), "answer 3")
    assert.strictEqual(yield* Fiber.join(two!), "answer 2")
  }))

it.effect("a failed command fails only its own caller", () =>
  Effect.gen(function*() {
    const { ask: call, next } = yield* operation()
    const callers = yield* ask(call, 1, 2, 3)
    const { end } = yield* next
    yield* end(Exit.succeed([Exit.succeed("one"), Exit.fail("bad"), Exit.succeed("three")]))
    assert.deepStrictEqual(yield* Effect.forEach(callers, Fiber.await), [
      Exit.succeed("one"),
      Exit.fail("bad"),
      Exit.succeed("three")
    ])
  }))

it.effect("a failed statement fails every command in its batch and none in later batches", () =>
  Effect.gen(function*() {
    const { ask: call, next } = yield* operation()
    const unlucky = yield* ask(call, 1, 2)
    const first = yield* next
    const lucky = yield* ask(call, 3)
    yield* first.end(Exit.fail("down"))
    assert.deepStrictEqual(yield* Effect.forEach(unlucky, Fiber.await), [Exit.fail("down"), Exit.fail("down")])
    yield* Effect.flatMap(next, answered)
    assert.deepStrictEqual(yield* Effect.forEach(lucky, Fiber.join), ["answer 3"])
    const dying = yield* ask(call, 4)
    yield* (yield* next).end(Exit.die("a bug"))
    assert.deepStrictEqual(yield* Effect.forEach(dying, Fiber.await), [Exit.die("a bug")])
    const after = yield* ask(call, 5)
    yield* Effect.flatMap(next, answered)
    assert.deepStrictEqual(yield* Effect.forEach(after, Fiber.join), ["answer 5"])
  }))

it.effect("a command whose caller is interrupted while waiting is withdrawn", () =>
  Effect.gen(function*() {
    const { ask: call, next } = yield* operation()
    yield* ask(call, 1)
    const first = yield* next
    const [two, three] = yield* ask(call, 2, 3)
    yield* Fiber.interrupt(two!)
    yield* answered(first)
    const second = yield* next
    assert.deepStrictEqual(second.commands, [3])
    yield* answered(second)
    assert.strictEqual(yield* Fiber.join(three!), "answer 3")
  }))

it.effect("an interruption of one caller in flight leaves the other callers their answers", () =>
  Effect.gen(function*() {
    const { ask: call, next } = yield* operation()
    const [one, two] = yield* ask(call, 1, 2)
    const flight = yield* next
    yield* Fiber.interrupt(one!)
    yield* answered(flight)
    assert.strictEqual(yield* Fiber.join(two!), "answer 2")
  }))

it.effect("a caller that waits too long for a batch is turned away, and its command is not carried out", () =>
  Effect.gen(function*() {
    const { ask: call, next, size } = yield* operation({ deadline: 5000 })
    yield* ask(call, 1)
    const first = yield* next
    const [late] = yield* ask(call, 2)
    yield* TestClock.adjust(3000)
    const [patient] = yield* ask(call, 3)
    yield* TestClock.adjust(2001)
    yield* answered(first)
    assert.deepStrictEqual(yield* Fiber.await(late!), Exit.fail("turned away"))
    const second = yield* next
    assert.deepStrictEqual(second.commands, [3])
    yield* answered(second)
    assert.strictEqual(yield* Fiber.join(patient!), "answer 3")
    assert.strictEqual(yield* size, 0)
  }))

it.effect("a caller whose batch leaves in time is answered, even if the process's clock was set forward", () =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    let ahead = 0
    const settable: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ahead
    })
    const { ask: call, next } = yield* Effect.provideService(operation(), Clock.Clock, settable)
    yield* ask(call, 1)
    const first = yield* next
    const [waiting] = yield* ask(call, 2)
    ahead = 7_200_000
    yield* answered(first)
    yield* answered(yield* next)
    assert.strictEqual(yield* Fiber.join(waiting!), "answer 2")
  }))

it.effect("a late batch is given up: its callers are notified, and the next batch leaves", () =>
  Effect.gen(function*() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
    const { ask: call, givenUp, next } = yield* operation({ deadline: 5000 })
    const [late] = yield* ask(call, 1)
    yield* next
    const [patient] = yield* ask(call, 2)
    vi.advanceTimersByTime(4999)
    yield* Effect.yieldNow
    assert.strictEqual(yield* givenUp, 0)
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(yield* Fiber.await(late!), Exit.fail("late"))
    assert.strictEqual(yield* givenUp, 1)
    yield* Effect.flatMap(next, answered)
    assert.strictEqual(yield* Fiber.join(patient!), "answer 2")
    vi.advanceTimersByTime(5000)
    yield* Effect.yieldNow
    assert.strictEqual(yield* givenUp, 1)
  }))

it.effect("closing the scope fails every caller, and those who wait or call afterwards learn that nothing was done", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const { ask: call, next } = yield* Scope.provide(operation(), scope)
    const [underWay] = yield* ask(call, 1)
    yield* next
    const [waiting] = yield* ask(call, 2)
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* Fiber.await(underWay!), Exit.fail("unavailable"))
    assert.deepStrictEqual(yield* Fiber.await(waiting!), Exit.fail("turned away"))
    assert.deepStrictEqual(yield* Effect.exit(call(3)), Exit.fail("turned away"))
  }))
