/**
 * A growing list that tests can wait for instead of sleeping.
 */
import { Deferred, Effect, Queue } from "effect"

/** A list that only grows. */
export interface Arrivals<A> {
  readonly add: (item: A) => Effect.Effect<void>
  /** Every item so far, in the order of arrival. */
  readonly all: Effect.Effect<ReadonlyArray<A>>
  /** The earliest item that `next` has not returned yet. Suspends until there is one. */
  readonly next: Effect.Effect<A>
  /** Suspends until at least `count` items have arrived in total. Returns all of them. */
  readonly waitFor: (count: number) => Effect.Effect<ReadonlyArray<A>>
}

/** Creates an empty list. */
export const make = <A>(): Effect.Effect<Arrivals<A>> =>
  Effect.gen(function*() {
    const items: Array<A> = []
    const fresh = yield* Queue.unbounded<A>()
    const waiting = new Set<{ readonly count: number; readonly reached: Deferred.Deferred<void> }>()
    return {
      add: Effect.fnUntraced(function*(item: A) {
        items.push(item)
        yield* Queue.offer(fresh, item)
        for (const { count, reached } of waiting) {
          if (items.length >= count) yield* Deferred.succeed(reached, undefined)
        }
      }),
      all: Effect.sync(() => [...items]),
      next: Queue.take(fresh),
      waitFor: Effect.fnUntraced(function*(count: number) {
        if (items.length < count) {
          const waiter = { count, reached: yield* Deferred.make<void>() }
          waiting.add(waiter)
          yield* Effect.ensuring(Deferred.await(waiter.reached), Effect.sync(() => waiting.delete(waiter)))
        }
        return [...items]
      })
    }
  })
