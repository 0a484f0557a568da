/**
 * Streams of changed topics for open pages. The sources are change notices from every process, and polls for new
 * events, which are recorded without notices.
 */
import { Context, Duration, Effect, Latch, Layer, type Scope } from "effect"
import { ServerError } from "../Errors.ts"
import { EventStore } from "../events/EventStore.ts"
import type { WorkspaceId } from "../Id.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { ofEvent, type Topic, topics } from "./Change.ts"
import { ChangeStore } from "./ChangeStore.ts"

/** How often a watched workspace is polled for new events. */
export const pollEvery = Duration.seconds(1)

/** The minimum time between two results for a watcher. Changes within it are gathered into the second result. */
const gatheredFor = Duration.seconds(1)

/** The maximum number of watchers of one workspace in one process. */
export const maxWatchers = 100

/** The topics that a watcher has not received yet: each topic at most once. */
class Watcher {
  readonly #news = Latch.makeUnsafe(false)
  readonly #pending = new Set<Topic>()

  readonly tell = (changed: ReadonlyArray<Topic>): void => {
    for (const topic of changed) this.#pending.add(topic)
    Latch.openUnsafe(this.#news)
  }

  readonly next: Effect.Effect<ReadonlyArray<Topic>> = Effect.map(Effect.suspend(() => Latch.await(this.#news)), () => {
    const changed = [...this.#pending].sort()
    this.#pending.clear()
    Latch.closeUnsafe(this.#news)
    return changed
  })
}

export class Changes extends Context.Service<Changes, {
  /**
   * Watches a workspace while the scope is open. The returned effect waits until something has changed since its last
   * use and returns each changed topic once. After its first use, it gathers changes for at least a second. Fails if the
   * workspace already has too many watchers.
   */
  readonly watch: (
    workspaceId: WorkspaceId
  ) => Effect.Effect<Effect.Effect<ReadonlyArray<Topic>>, ServerError, Scope.Scope>
}>()("@wac/core/changes/Changes") {
  static readonly layer = Layer.effect(
    Changes,
    Effect.gen(function*() {
      const store = yield* ChangeStore
      const events = yield* EventStore
      const watched = new Map<WorkspaceId, Set<Watcher>>()
      const some = Latch.makeUnsafe(false)
      /** The newest event of each watched workspace. */
      const newest = new Map<WorkspaceId, string | null>()

      const tell = (workspaceId: WorkspaceId, changed: ReadonlyArray<Topic>): void => {
        for (const watcher of watched.get(workspaceId) ?? []) watcher.tell(changed)
      }

      const next = yield* store.changes
      yield* Effect.map(next, (change) => {
        if (change !== null) return tell(change.workspaceId, [change.topic])
        for (const workspaceId of watched.keys()) tell(workspaceId, topics)
      }).pipe(Effect.forever, Effect.forkScoped)

      const look = Effect.fnUntraced(function*(workspaceId: WorkspaceId) {
        const { items: [event] } = yield* events.latest(workspaceId, {}, { limit: 1, after: null })
        const id = event?.id ?? null
        const before = newest.get(workspaceId)
        // a watcher that has just connected has loaded its pages just now, so the first poll reports nothing
        if (before !== undefined && before !== id) tell(workspaceId, ofEvent)
        if (watched.has(workspaceId)) newest.set(workspaceId, id)
      })

      yield* Latch.await(some).pipe(
        Effect.andThen(
          Effect.suspend(() => Effect.forEach([...watched.keys()], look, { concurrency: 4, discard: true }))
        ),
        RepeatedFailure.watch("reading events for open pages"),
        Effect.ignoreCause,
        Effect.andThen(Effect.sleep(pollEvery)),
        Effect.forever,
        Effect.forkScoped
      )

      return Changes.of({
        watch: (workspaceId) =>
          Effect.map(
            Effect.acquireRelease(
              Effect.suspend(() => {
                const watchers = watched.get(workspaceId) ?? new Set<Watcher>()
                if (watchers.size >= maxWatchers) {
                  return Effect.fail(
                    new ServerError({
                      reason: "overloaded",
                      message: "too many pages are watching this workspace at the moment",
                      retryAfter: Duration.seconds(10)
                    })
                  )
                }
                const watcher = new Watcher()
                watched.set(workspaceId, watchers.add(watcher))
                Latch.openUnsafe(some)
                return Effect.succeed(watcher)
              }),
              (watcher) =>
                Effect.sync(() => {
                  const watchers = watched.get(workspaceId)!
                  watchers.delete(watcher)
                  if (watchers.size > 0) return
                  watched.delete(workspaceId)
                  newest.delete(workspaceId)
                  if (watched.size === 0) Latch.closeUnsafe(some)
                })
            ),
            ({ next }) => {
              let isFirst = true
              return Effect.suspend(() => {
                if (!isFirst) return Effect.delay(next, gatheredFor)
                isFirst = false
                return next
              })
            }
          )
      })
    })
  )
}
