/**
 * Virtual time over real cryptography. The test clock alone does not wait for WebCrypto: it would run through a day
 * while the first signature is still being made. {@link advance} goes from one sleeper's end to the next and waits at
 * each until nothing is left to do at that instant.
 */
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

let begun = 0
let underWay = 0

const subtle = Object.getPrototypeOf(globalThis.crypto.subtle) as Record<
  string,
  (...args: Array<unknown>) => Promise<unknown>
>
for (const method of ["importKey", "sign", "verify", "encrypt", "decrypt", "digest"]) {
  const original = subtle[method]!
  subtle[method] = function(this: unknown, ...args) {
    begun++
    underWay++
    return original.apply(this, args).finally(() => underWay--)
  }
}

/** Waits until every fiber is asleep or done: nothing under way in WebCrypto, and nothing more to run after it. */
export const settle: Effect.Effect<void> = Effect.promise(async () => {
  for (let quiet = 0; quiet < 8;) {
    await new Promise((resolve) => setImmediate(resolve))
    quiet = underWay === 0 ? quiet + 1 : 0
  }
})

const sleepers = new WeakMap<Clock.Clock, Set<{ readonly until: number }>>()

/** Runs a test with a clock that {@link advance} can see the sleepers of, at `start`. */
export const at = (start: number) => <A, E, R>(test: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const clock = yield* Clock.Clock
    const sleeping = new Set<{ readonly until: number }>()
    const seen: Clock.Clock = {
      ...clock,
      sleep: (duration) =>
        Effect.suspend(() => {
          const sleeper = { until: clock.currentTimeMillisUnsafe() + Duration.toMillis(duration) }
          sleeping.add(sleeper)
          return Effect.ensuring(clock.sleep(duration), Effect.sync(() => sleeping.delete(sleeper)))
        })
    }
    sleepers.set(seen, sleeping)
    return yield* Effect.provideService(test, Clock.Clock, seen)
  })

/** Lets time pass, instant by instant. */
export const advance = (duration: Duration.Input): Effect.Effect<void> =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const sleeping = sleepers.get(clock)!
    const end = clock.currentTimeMillisUnsafe() + Duration.toMillis(duration)
    yield* settle
    while (true) {
      let next = end
      for (const { until } of sleeping) next = Math.min(next, until)
      const before = begun
      yield* TestClock.setTime(next)
      if (begun !== before || next === end) yield* settle
      if (next === end) return
    }
  })
