/**
 * Pieces of background work that are carried out whole: what a piece takes from the storage gets an owner that sends it
 * or gives it back, even if its runner is stopped in the middle. Otherwise it would wait for the end of its lease.
 */
import { Duration, Effect, Fiber, FiberSet, type Scope } from "effect"

/** How long a runner that is stopped waits for its piece of work, or to give back what it has taken. */
export const patience = Duration.seconds(2)

/** Runs a piece of work. An interruption only ends the wait for it. */
export type Whole = <A, E, R>(piece: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Creates the function for one runner. Closing the scope waits for a piece that has begun, up to {@link patience}. */
export const make: Effect.Effect<Whole, never, Scope.Scope> = Effect.gen(function*() {
  const pieces = yield* FiberSet.make()
  yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(pieces), patience))
  return (piece) => Effect.flatMap(FiberSet.run(pieces, piece), Fiber.join)
})
