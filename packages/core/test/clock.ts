/**
 * Virtual time with real cryptography. The test clock waits for the fibers that it wakes, but not for WebCrypto: it
 * would pass a day while the first signature is still being computed. {@link hold} makes it wait.
 */
import { Clock, type Duration, Effect } from "effect"
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

/** How many turns of the event loop must pass without cryptography until everything that follows from it has run. */
const quietTurns = 8

/** Keeps the test clock, which woke this fiber, from advancing before the cryptography that now begins has ended. */
export const hold: Effect.Effect<void> = Effect.withFiber((fiber) => {
  // the test clock waits for the tasks that follow from waking a fiber
  const turn = (quiet: number): void =>
    fiber.currentDispatcher.scheduleTask(() => {
      if (underWay > 0) turn(0)
      else if (quiet < quietTurns) turn(quiet + 1)
    }, 0)
  turn(0)
  return Effect.void
})

/** Waits until every fiber is asleep or done, and WebCrypto is idle. */
export const settle: Effect.Effect<void> = Effect.promise(async () => {
  for (let quiet = 0; quiet < quietTurns;) {
    await new Promise((resolve) => setImmediate(resolve))
    quiet = underWay === 0 ? quiet + 1 : 0
  }
})

/** A clock whose wall time differs by `ahead` from the current clock's, as after somebody set it. */
export const settable = Effect.map(Clock.Clock, (clock) => {
  const set = { ahead: 0 }
  const wall = () => clock.currentTimeMillisUnsafe() + set.ahead
  const settable: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe: wall,
    currentTimeMillis: Effect.sync(wall)
  })
  return { clock: settable, set }
})

/** Runs an effect in a process whose clock is this far ahead of the storage's. */
export const inProcess = (ahead: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(settable, ({ clock, set }) => {
    set.ahead = ahead
    return Effect.provideService(effect, Clock.Clock, clock)
  })

/** Runs a test that begins at `start`. */
export const at = (start: number) => <A, E, R>(test: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.andThen(TestClock.setTime(start), test)

/** Advances the clock, and waits for everything that follows. */
export const advance = (duration: Duration.Input): Effect.Effect<void> =>
  Effect.andThen(Effect.andThen(settle, TestClock.adjust(duration)), settle)
