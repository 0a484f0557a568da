/**
 * Servers and browsers that the tests of one file share. They end after its last test.
 */
import { Effect, Exit, Scope } from "effect"
import { afterAll } from "vitest"

/** Runs what stays until the file's tests have ended. */
export type InScope = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) => Promise<A>

/** A scope of the file that calls this. */
export const ofFile = (): InScope => {
  const scope = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return (effect) => Effect.runPromise(Scope.provide(Effect.orDie(effect), scope))
}
