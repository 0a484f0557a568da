/**
 * Keeps templates as the provider has them, in the background: lists them at the start, every hour, and soon after
 * upstream told that something has changed.
 */
import { Cause, Clock, Duration, Effect, FiberSet, Layer, Queue } from "effect"
import * as Defect from "../Defect.ts"
import type { WorkspaceId } from "../Id.ts"
import { TemplatesUnavailable } from "../messages/Provider.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import { TemplateRequests } from "./TemplateRequests.ts"
import { Templates } from "./Templates.ts"

/** How old a list becomes when nothing tells of changes. Providers allow some hundred calls an hour and account. */
export const every = Duration.hours(1)

/** No workspace's templates are listed more often, however often upstream tells of changes; a failure waits as long. */
export const atMostEvery = Duration.minutes(1)

/** Workspaces whose templates are listed at once. One that takes its time holds one place, and nobody up but for that. */
const places = 4

/** A listing that takes longer is given up: thousands of templates take a fraction of it. */
export const longest = Duration.minutes(5)

/** When a workspace's templates are listed next, and how it went. */
export interface Turn {
  /** `Infinity` while they are being listed, unless something has changed meanwhile. */
  readonly dueAt: Instant
  readonly startedAt: Instant | null
  /** Since the last success. */
  readonly failures: number
}

/** The turn of a workspace that is new to this process. */
export const first = (now: Instant): Turn => ({ dueAt: now, startedAt: null, failures: 0 })

/** The turn of a workspace whose listing begins. */
export const begun = (turn: Turn, now: Instant): Turn => ({ ...turn, dueAt: Infinity, startedAt: now })

/** The turn after a listing that ends: after a failure sooner, but later with each; as asked for meanwhile before that. */
export const next = (turn: Turn, now: Instant, succeeded: boolean): Turn => {
  const wait = succeeded ? every : Duration.min(every, Duration.times(atMostEvery, 2 ** turn.failures))
  return {
    ...turn,
    dueAt: Math.min(turn.dueAt, now + Duration.toMillis(wait)),
    failures: succeeded ? 0 : turn.failures + 1
  }
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
    const underWay = new Set<WorkspaceId>()
    const listings = yield* FiberSet.make()
    const ended = yield* Queue.sliding<void>(1)
    /** When new workspaces are looked for again, with whatever happens then: each end of a listing would be too often. */
    let lookAt = -Infinity

    const change = (id: WorkspaceId, how: (turn: Turn, now: Instant) => Turn) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        turns.set(id, how(turns.get(id) ?? first(now), now))
      })

    const warn = (id: WorkspaceId, cause: Cause.Cause<unknown>) => {
      const error = Cause.squash(cause)
      return error instanceof TemplatesUnavailable || error instanceof StoreError
        ? Effect.logWarning(`not all templates of ${id} could be listed: ${error.message}`)
        : Effect.logError(`listing the templates of ${id} met a defect: ${Defect.placeOf(error)}`)
    }

    const list = (id: WorkspaceId) =>
      templates.sync(id).pipe(
        Effect.timeoutOrElse({
          duration: longest,
          orElse: () => new TemplatesUnavailable({ message: "the provider did not list them in time" })
        }),
        Effect.as(true),
        Effect.catchCause((cause) => Effect.as(warn(id, cause), false)),
        Effect.flatMap((succeeded) => change(id, (turn, now) => next(turn, now, succeeded))),
        Effect.ensuring(Effect.suspend(() => {
          underWay.delete(id)
          return Queue.offer(ended, undefined)
        }))
      )

    const note = Effect.fnUntraced(function*(providerAccountId: string) {
      for (const { workspaceId } of yield* numbers.named({ providerAccountId })) yield* change(workspaceId, asked)
    })

    /** Those that wait, the longest due first, as many as there are places for. */
    const waiting = () =>
      [...turns]
        .filter(([id]) => !underWay.has(id))
        .sort(([, a], [, b]) => a.dueAt - b.dueAt)
        .slice(0, places - underWay.size)

    const round = Effect.gen(function*() {
      const accounts = yield* requests.take
      yield* Effect.forEach(accounts, note, { discard: true }).pipe(
        // nobody tells of them again
        Effect.tapError(() => Effect.forEach(accounts, requests.ask, { discard: true }))
      )
      const now = yield* Clock.currentTimeMillis
      if (now >= lookAt) {
        for (const { id } of yield* workspaces.list) if (!turns.has(id)) turns.set(id, first(now))
        lookAt = now + Duration.toMillis(atMostEvery)
      }
      for (const [id, { dueAt }] of waiting()) {
        if (dueAt > now) break
        yield* change(id, begun)
        underWay.add(id)
        yield* FiberSet.run(listings, list(id))
      }
    })

    const rest = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const dueAt = Math.min(now + Duration.toMillis(every), ...waiting().map(([, { dueAt }]) => dueAt))
      yield* Effect.timeoutOption(
        Effect.raceFirst(requests.awaitAsked, Queue.take(ended)),
        Duration.millis(Math.max(0, dueAt - now))
      )
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
