/**
 * What runs in the background of an instance: always, or only while the host lets it (`work`).
 */
import { Stopping } from "@wac/core"
import { Effect, Exit, Scope, Semaphore } from "effect"

/** Something that runs in the background. */
export interface Job<E> {
  /** Runs when the job is added, even if the job begins later. If it fails, the job is not added. */
  readonly prepare: Effect.Effect<void, E>
  /**
   * Begins the job in a scope, whose closing ends the job immediately. Returns an effect that ends it gracefully, which
   * runs before the scope is closed.
   */
  readonly begin: Effect.Effect<Effect.Effect<void>, E, Scope.Scope>
}

/** The background of an instance. */
export interface Background {
  /** Adds a job. The returned effect ends it gracefully. */
  readonly add: <E>(job: Job<E>) => Effect.Effect<Effect.Effect<void>, E>
  /**
   * Runs an effect, and with it every job, unless the jobs run always. Then ends them gracefully, within 9.5 seconds.
   */
  readonly during: (effect: Effect.Effect<void>) => Effect.Effect<void>
}

/** Begins a job. Returns the effect that ends it gracefully. */
const begun = Effect.fnUntraced(function*<E>({ begin }: Job<E>, instance: Scope.Scope) {
  const scope = yield* Scope.fork(instance)
  const close = Scope.close(scope, Exit.void)
  const end = yield* Effect.onError(Scope.provide(begin, scope), () => close)
  return Effect.ensuring(end, close)
})

/** Jobs run from when they are added, until they are ended or the scope is closed. */
export const always = Effect.map(Effect.scope, (instance): Background => ({
  add: (job) => Effect.andThen(job.prepare, begun(job, instance)),
  during: (effect) => effect
}))

interface Added {
  readonly job: Job<unknown>
  /** Held while the job begins or ends. */
  readonly turn: Semaphore.Semaphore
  /** Ends the job gracefully, if it has begun. */
  end: Effect.Effect<void> | undefined
}

/** Jobs run only during {@link Background.during}: of several concurrent calls, until the last one ends. */
export const inShifts = Effect.map(Effect.scope, (instance): Background => {
  const jobs = new Set<Added>()
  let shifts = 0
  /** Begins a job that should run and does not, or ends one that should not run and does. Follows every change of this. */
  const settle = (added: Added): Effect.Effect<void> => {
    const step: Effect.Effect<void> = Effect.suspend(() => {
      const { end, job } = added
      const isWanted = shifts > 0 && jobs.has(added)
      if (isWanted === (end !== undefined)) return Effect.void
      if (end !== undefined) {
        added.end = undefined
        return end
      }
      return Effect.matchCauseEffect(begun(job, instance), {
        onSuccess: (end) => {
          added.end = end
          // it may have been removed meanwhile, or work may have ended, which waits for this only for a time
          return step
        },
        onFailure: (cause) => Effect.logWarning("a part of the background could not begin", cause)
      })
    })
    return added.turn.withPermit(step)
  }
  const settleAll = (concurrency: 1 | "unbounded") =>
    Effect.suspend(() => Effect.forEach(jobs, settle, { concurrency, discard: true }))
  return {
    add: (job) =>
      Effect.flatMap(job.prepare, () => {
        const added: Added = { job, turn: Semaphore.makeUnsafe(1), end: undefined }
        jobs.add(added)
        const remove = Effect.suspend(() => {
          jobs.delete(added)
          return settle(added)
        })
        return Effect.as(settle(added), remove)
      }),
    during: (effect) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => shifts++ > 0 ? Effect.void : settleAll(1)),
        () => effect,
        () =>
          Effect.suspend(() =>
            --shifts > 0 ? Effect.void : Effect.asVoid(Effect.timeoutOption(settleAll("unbounded"), Stopping.timeout))
          )
      )
  }
})
