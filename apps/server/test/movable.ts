/**
 * Servers whose time a test lets pass, so that nothing comes too early or too late because the machine is slow or fast.
 */
import { StorageTime } from "@wac/core"
import { CloudApiClock } from "@wac/simulator"
import { Clock, Duration, Effect } from "effect"

export interface Movable {
  /** Time passes for it; what falls due on the way happens. */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
  readonly clock: Clock.Clock
}

/** Runs what makes a server; its time goes on by itself too. */
export const moving = <A extends object, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<A & Movable, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => under(clock, make))

/** The same, with a time that stands still but for what the test lets pass. */
export const still = <A extends object, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<A & Movable, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const [millis, nanos, monotonic] = [
      clock.currentTimeMillisUnsafe(),
      clock.currentTimeNanosUnsafe(),
      clock.monotonicTimeNanosUnsafe()
    ]
    return under({
      currentTimeMillisUnsafe: () => millis,
      currentTimeNanosUnsafe: () => nanos,
      monotonicTimeNanosUnsafe: () => monotonic
    }, make)
  })

const under = <A extends object, E, R>(base: CloudApiClock.Base, make: Effect.Effect<A, E, R>) => {
  const { advance, clock } = CloudApiClock.make(base)
  const pass = (duration: Duration.Input) => Effect.sync(() => advance(Duration.toMillis(duration)))
  return make.pipe(
    Effect.provideService(Clock.Clock, clock),
    // a database's own clock cannot be moved
    Effect.provideService(StorageTime.JudgedBy, "asker"),
    Effect.map((made) => ({ ...made, pass, clock }))
  )
}
