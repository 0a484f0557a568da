/**
 * What runs in the background of an instance: always, or only while the host lets it (`work`).
 */
import { Stopping } from "@wac/core"
import { Effect, Exit, Scope } from "effect"

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
  return Effect.andThen(end, close)
})

/** Jobs run from when they are added, until they are ended or the scope is closed. */
export const always = Effect.map(Effect.scope, (instance): Background => ({
  add: (job) => begun(job, instance),
  during: (effect) => effect
}))

interface Added {
  readonly job: Job<unknown>
  end: Effect.Effect<void>
}

/** Jobs run only during {@link Background.during}: of several concurrent calls, until the last one ends. */
export const inShifts = Effect.map(Effect.scope, (instance): Background => {
  const jobs = new Set<Added>()
  let shifts = 0
  const end = (added: Added): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { end } = added
      added.end = Effect.void
      return end
    })
  const begin = (added: Added): Effect.Effect<void> =>
    begun(added.job, instance).pipe(
      Effect.map((end) => {
        added.end = end
      }),
      Effect.catchCause((cause) => Effect.logWarning("a part of the background could not begin", cause))
    )
  const endAll = Effect.suspend(() => Effect.forEach(jobs, end, { concurrency: "unbounded", discard: true }))
  return {
    add: ({ begin: begins, prepare }) =>
      Effect.map(prepare, () => {
        const added: Added = { job: { begin: begins, prepare }, end: Effect.void }
        jobs.add(added)
        return { added, isOn: shifts > 0 }
      }).pipe(
        Effect.tap(({ added, isOn }) => isOn ? begin(added) : Effect.void),
        Effect.map(({ added }) =>
          Effect.suspend(() => {
            jobs.delete(added)
            return end(added)
          })
        )
      ),
    during: (effect) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => shifts++ > 0 ? Effect.void : Effect.forEach(jobs, begin, { discard: true })),
        () => effect,
        () =>
          Effect.suspend(() =>
            --shifts > 0 ? Effect.void : Effect.asVoid(Effect.timeoutOption(endAll, Stopping.timeout))
          )
      )
  }
})
