/**
 * When jobs begin and end in the background that runs only while the host lets it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import * as Background from "../src/Background.ts"

/** A job whose beginning and graceful end wait for latches, which are open at first. */
const jobOf = Effect.fnUntraced(function*() {
  const [mayBegin, mayEnd] = [yield* Latch.make(true), yield* Latch.make(true)]
  const now = { asked: 0, begun: 0, running: 0 }
  const job: Background.Job<never> = {
    prepare: Effect.void,
    begin: Effect.gen(function*() {
      now.asked++
      yield* mayBegin.await
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          now.begun++
          now.running++
        }),
        () => Effect.sync(() => now.running--)
      )
      return mayEnd.await
    })
  }
  return { job, mayBegin, mayEnd, now }
})

/** Lets every fiber run until it waits. */
const settled = TestClock.adjust(0)

/** Works until the latch is open. */
const working = (background: Background.Background, over: Latch.Latch) =>
  Effect.forkChild(background.during(over.await))

describe("a background in shifts", () => {
  it.effect("a job that is added while an earlier one begins is begun once", () =>
    Effect.gen(function*() {
      const background = yield* Background.inShifts
      const [slow, added, over] = [yield* jobOf(), yield* jobOf(), yield* Latch.make()]
      yield* slow.mayBegin.close
      yield* Effect.asVoid(background.add(slow.job))
      const shift = yield* working(background, over)
      yield* settled
      yield* Effect.asVoid(background.add(added.job))
      yield* slow.mayBegin.open
      yield* settled
      assert.deepStrictEqual([slow.now, added.now], [
        { asked: 1, begun: 1, running: 1 },
        { asked: 1, begun: 1, running: 1 }
      ])
      yield* over.open
      yield* Fiber.join(shift)
      assert.deepStrictEqual([slow.now.running, added.now.running], [0, 0])
    }))

  it.effect("a job that is stopped while it begins has ended when its stop returns", () =>
    Effect.gen(function*() {
      const background = yield* Background.inShifts
      const [slow, over] = [yield* jobOf(), yield* Latch.make()]
      yield* slow.mayBegin.close
      const stop = yield* background.add(slow.job)
      const shift = yield* working(background, over)
      yield* settled
      const stopping = yield* Effect.forkChild(stop)
      yield* settled
      yield* slow.mayBegin.open
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(slow.now, { asked: 1, begun: 1, running: 0 })
      yield* over.open
      yield* Fiber.join(shift)
      assert.deepStrictEqual(slow.now, { asked: 1, begun: 1, running: 0 })
    }))

  it.effect("a job that is added during work, and begins only after it, ends immediately", () =>
    Effect.gen(function*() {
      const background = yield* Background.inShifts
      const [slow, over] = [yield* jobOf(), yield* Latch.make()]
      yield* slow.mayBegin.close
      const shift = yield* working(background, over)
      yield* settled
      const adding = yield* Effect.forkChild(background.add(slow.job))
      yield* settled
      yield* over.open
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(shift)
      yield* slow.mayBegin.open
      yield* Effect.asVoid(Fiber.join(adding))
      assert.deepStrictEqual(slow.now, { asked: 1, begun: 1, running: 0 })
    }))

  it.effect("a job that does not end in time is ended before it begins again", () =>
    Effect.gen(function*() {
      const background = yield* Background.inShifts
      const [slow, over] = [yield* jobOf(), yield* Latch.make()]
      yield* slow.mayEnd.close
      yield* Effect.asVoid(background.add(slow.job))
      const shift = yield* working(background, over)
      yield* over.open
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(shift)
      assert.strictEqual(slow.now.running, 0)
      yield* over.close
      const next = yield* working(background, over)
      yield* settled
      assert.deepStrictEqual(slow.now, { asked: 2, begun: 2, running: 1 })
      yield* slow.mayEnd.open
      yield* over.open
      yield* Fiber.join(next)
      assert.strictEqual(slow.now.running, 0)
    }))

  it.effect("work that begins while earlier work ends waits for each job's end before it begins the job", () =>
    Effect.gen(function*() {
      const background = yield* Background.inShifts
      const [slow, first, second] = [yield* jobOf(), yield* Latch.make(), yield* Latch.make()]
      yield* slow.mayEnd.close
      yield* Effect.asVoid(background.add(slow.job))
      const earlier = yield* working(background, first)
      yield* settled
      yield* first.open
      yield* settled
      const later = yield* working(background, second)
      yield* settled
      assert.deepStrictEqual(slow.now, { asked: 1, begun: 1, running: 1 })
      yield* slow.mayEnd.open
      yield* Fiber.join(earlier)
      yield* settled
      assert.deepStrictEqual(slow.now, { asked: 2, begun: 2, running: 1 })
      yield* second.open
      yield* Fiber.join(later)
      assert.strictEqual(slow.now.running, 0)
    }))
})
