/**
 * Server processes of a test that die one after the other, each of which is started again, as an operator's supervisor
 * does.
 */
import { Effect, Fiber, type Scope } from "effect"
import * as checks from "./checks.ts"
import { type Answer, call } from "./harness.ts"
import { kill, type Steered } from "./processes.ts"

const processCount = 3

/** Starts three processes, none of which dies before `unsettle`. */
export const supervised = Effect.fnUntraced(function*(start: Effect.Effect<Steered, never, Scope.Scope>) {
  const alive: Array<Steered> = []
  /** Where PostgreSQL died meanwhile, a start fails, and another one follows. */
  const begin: Effect.Effect<void, never, Scope.Scope> = Effect.map(start, (process) => void alive.push(process)).pipe(
    Effect.catchDefect((why) => Effect.andThen(Effect.logWarning("a process is started again", why), begin))
  )
  yield* Effect.replicateEffect(begin, processCount)

  let killed = 0
  const killOne = Effect.gen(function*() {
    // two are left where starting takes longer than dying
    if (alive.length < 2) return
    yield* kill(alive.shift()!)
    killed++
    yield* Effect.forkScoped(begin)
  })
  const killing = Effect.forkScoped(Effect.uninterruptible(killOne).pipe(Effect.delay("2 seconds"), Effect.forever))
  return {
    /** Those that run. */
    alive: alive as ReadonlyArray<Steered>,
    /** Asks the latest process, and another one if that dies meanwhile, until one answers as awaited. */
    ask: (
      path: string,
      options: Parameters<typeof call>[1],
      awaited: (answer: Answer) => boolean
    ): Effect.Effect<Answer> =>
      checks.until(
        Effect.suspend(() => call(`${alive.at(-1)!.url}${path}`, options)).pipe(
          Effect.catchCause(() => Effect.undefined)
        ),
        (answer) => answer !== undefined && awaited(answer)
      ) as Effect.Effect<Answer>,
    /**
     * From now on, a process dies every two seconds. The inner effect ends that: it suspends until all run, and returns
     * how many died.
     */
    unsettle: Effect.map(killing, (killing) =>
      Effect.gen(function*() {
        yield* Fiber.interrupt(killing)
        yield* checks.until(Effect.sync(() => alive.length), (count) => count === processCount)
        return killed
      }))
  }
})
