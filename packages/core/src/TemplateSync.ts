/**
 * Keeps templates as the provider has them, in the background: lists them at the start, every hour, and soon after
 * upstream told that something has changed.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import type { WorkspaceId } from "./Id.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TemplateRequests } from "./TemplateRequests.ts"
import { Templates } from "./Templates.ts"
import type { Instant } from "./Time.ts"
import { WorkspaceStore } from "./WorkspaceStore.ts"

/** How old a list becomes when nothing tells of changes. Providers allow some hundred calls an hour and account. */
export const every = Duration.hours(1)

/** No workspace's templates are listed more often, however often upstream tells of changes; a failure waits as long. */
export const atMostEvery = Duration.minutes(1)

/** Workspaces whose templates are listed at once. */
const concurrency = 4

/** When a workspace's templates are listed next, and how it went. */
export interface Turn {
  readonly dueAt: Instant
  readonly startedAt: Instant | null
  /** Since the last success. */
  readonly failures: number
}

/** The turn of a workspace that is new to this process. */
export const first = (now: Instant): Turn => ({ dueAt: now, startedAt: null, failures: 0 })

/** The turn after one that was taken at `startedAt`: after a failure sooner, but later with each. */
export const next = (turn: Turn, startedAt: Instant, succeeded: boolean): Turn => {
  const failures = succeeded ? 0 : turn.failures + 1
  const wait = succeeded ? every : Duration.min(every, Duration.times(atMostEvery, 2 ** turn.failures))
  return { dueAt: startedAt + Duration.toMillis(wait), startedAt, failures }
}

/** The turn of a workspace of which upstream told that something has changed. */
export const asked = (turn: Turn, now: Instant): Turn => ({
  ...turn,
  dueAt: Math.min(
    turn.dueAt,
    Math.max(now, turn.startedAt === null ? now : turn.startedAt + Duration.toMillis(atMostEvery))
  )
})

/** Runs as long as its scope. Every process that runs it lists for itself; `TemplateStore` takes the newest list. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const templates = yield* Templates
    const workspaces = yield* WorkspaceStore
    const numbers = yield* PhoneNumberStore
    const requests = yield* TemplateRequests
    const turns = new Map<WorkspaceId, Turn>()

    const sync = Effect.fnUntraced(function*(id: WorkspaceId, turn: Turn) {
      const startedAt = yield* Clock.currentTimeMillis
      const succeeded = yield* templates.sync(id).pipe(
        Effect.as(true),
        Effect.catch((error) =>
          Effect.as(Effect.logWarning(`the templates of ${id} are as they were: ${error.message}`), false)
        )
      )
      turns.set(id, next(turn, startedAt, succeeded))
    })

    const note = Effect.fnUntraced(function*(providerAccountId: string) {
      const now = yield* Clock.currentTimeMillis
      for (const { workspaceId } of yield* numbers.named({ providerAccountId })) {
        turns.set(workspaceId, asked(turns.get(workspaceId) ?? first(now), now))
      }
    })

    const round = Effect.gen(function*() {
      const accounts = yield* requests.take
      yield* Effect.forEach(accounts, note, { discard: true }).pipe(
        // nobody tells of them again
        Effect.tapError(() => Effect.forEach(accounts, requests.ask, { discard: true }))
      )
      const now = yield* Clock.currentTimeMillis
      for (const { id } of yield* workspaces.list) if (!turns.has(id)) turns.set(id, first(now))
      const due = [...turns].filter(([, { dueAt }]) => dueAt <= now)
      yield* Effect.forEach(due, ([id, turn]) => sync(id, turn), { concurrency, discard: true })
    })

    const rest = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const dueAt = Math.min(now + Duration.toMillis(every), ...[...turns.values()].map(({ dueAt }) => dueAt))
      yield* Effect.timeoutOption(requests.awaitAsked, Duration.millis(Math.max(0, dueAt - now)))
    })

    yield* round.pipe(
      Effect.andThen(rest),
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logWarning("templates could not be looked after; it is tried again", cause),
          Effect.sleep(atMostEvery)
        )
      ),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
