/**
 * Virtual time over real cryptography. The test clock waits for the fibers that it wakes, but not for WebCrypto: it
 * would run through a day while the first signature is still being made. {@link hold} makes it wait.
 */
import { type Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

let underWay = 0

const subtle = Object.getPrototypeOf(globalThis.crypto.subtle) as {
  [method: string]: (...given: Array<unknown>) => Promise<unknown>
}
for (const method of ["importKey", "sign", "verify", "encrypt", "decrypt", "digest"]) {
  const real = subtle[method]!
  subtle[method] = function(this: unknown, ...given) {
    underWay++
    return real.apply(this, given).finally(() => underWay--)
  }
}

/** How many turns of the event loop must pass without cryptography until all that followed from it has run. */
const quietTurns = 8

/** Keeps the test clock, which woke this fiber, from moving on before the cryptography that now begins has ended. */
export const hold: Effect.Effect<void> = Effect.withFiber((fiber) => {
  // the test clock counts the tasks that come of waking a fiber, and waits until there are none
  const turn = (quiet: number): void =>
    fiber.currentDispatcher.scheduleTask(() => {
      if (underWay > 0) turn(0)
      else if (quiet < quietTurns) turn(quiet + 1)
    }, 0)
  turn(0)
  return Effect.void
})

/** Waits until every fiber is asleep or done, and nothing is under way in WebCrypto. */
export const settle: Effect.Effect<void> = Effect.promise(async () => {
  for (let quiet = 0; quiet < quietTurns;) {
    await new Promise((resolve) => setImmediate(resolve))
    quiet = underWay === 0 ? quiet + 1 : 0
  }
})

/** Runs a test that begins at `start`. */
export const at = (start: number) => <A, E, R>(test: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.andThen(TestClock.setTime(start), test)

/** Lets time pass, and everything happen that comes of it. */
export const advance = (duration: Duration.Input): Effect.Effect<void> =>
  Effect.andThen(Effect.andThen(settle, TestClock.adjust(duration)), settle)
