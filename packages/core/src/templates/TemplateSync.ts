/**
 * Keeps templates up to date with the provider in the background: lists them at start, every hour, and soon after the
 * provider reports a change. The templates of a workspace that another process created are listed within a minute.
 */
import { Cause, Duration, Effect, FiberSet, Layer, Queue } from "effect"
import * as Defect from "../Defect.ts"
import * as Elapsed from "../Elapsed.ts"
import type { WorkspaceId } from "../Id.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import { TemplatesUnavailable } from "../provider/Provider.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { StoreError } from "../StoreError.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import { TemplateRequests } from "./TemplateRequests.ts"
import { Templates } from "./Templates.ts"

/** The longest interval between listings. Providers allow a few hundred calls per hour and account. */
export const every = Duration.hours(1)

/**
 * The shortest interval between listings of a workspace, however often the provider reports changes. Also the first
 * delay after a failure.
 */
export const atMostEvery = Duration.minutes(1)

/** Workspaces that are listed concurrently. A slow listing holds one slot and delays nothing else. */
const places = 4

/** The timeout of a listing. Thousands of templates take a fraction of it. */
export const longest = Duration.minutes(5)

/** When a workspace's templates are listed next, by `Elapsed`, and how earlier listings ended. */
export interface Turn {
  /** `Infinity` while a listing runs, unless a change was reported meanwhile. */
  readonly dueAt: number
  readonly startedAt: number | null
  /** Failures since the last success. */
  readonly failures: number
}

/** The schedule of a workspace that is new to this process. */
export const first = (now: number): Turn => ({ dueAt: now, startedAt: null, failures: 0 })

/** The schedule when a listing begins. */
export const begun = (turn: Turn, now: number): Turn => ({ ...turn, dueAt: Infinity, startedAt: now })

/**
 * The schedule when a listing ends. After a failure the delay is shorter and doubles each time. A change that was
 * reported meanwhile is listed earlier.
 */
export const next = (turn: Turn, now: number, succeeded: boolean): Turn => {
  const wait = succeeded ? every : Duration.min(every, Duration.times(atMostEvery, 2 ** turn.failures))
  return {
    ...turn,
    dueAt: Math.min(turn.dueAt, now + Duration.toMillis(wait)),
    failures: succeeded ? 0 : turn.failures + 1
  }
}

/** The schedule after the provider has reported a change. */
export const asked = (turn: Turn, now: number): Turn => ({
  ...turn,
  dueAt: Math.min(
    turn.dueAt,
    Math.max(now, turn.startedAt === null ? now : turn.startedAt + Duration.toMillis(atMostEvery))
  )
})

/** Runs as long as its scope. Every process that runs it makes its own listings; `TemplateStore` keeps the newest. */
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
    /** When to look again for workspaces that other processes created. After each listing would be too often. */
    let lookAt = -Infinity

    const change = (id: WorkspaceId, how: (turn: Turn, now: number) => Turn) =>
      Effect.map(Elapsed.now, (now) => {
        turns.set(id, how(turns.get(id) ?? first(now), now))
      })

    const log = RepeatedFailure.make()
    const warn = (id: WorkspaceId, cause: Cause.Cause<unknown>) => {
      const error = Cause.squash(cause)
      // a storage that fails does so for every workspace
      return error instanceof TemplatesUnavailable || error instanceof StoreError
        ? log(
          error instanceof StoreError ? "storage" : id,
          `not all templates of ${id} could be listed: ${error.message}`
        )
        : Effect.logError(`listing the templates of ${id} failed unexpectedly: ${Defect.placeOf(error)}`)
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

    /** The waiting workspaces, longest due first, as many as there are free slots. */
    const waiting = () =>
      [...turns]
        .filter(([id]) => !underWay.has(id))
        .sort(([, a], [, b]) => a.dueAt - b.dueAt)
        .slice(0, places - underWay.size)

    const round = Effect.gen(function*() {
      const accounts = yield* requests.take
      yield* Effect.forEach(accounts, note, { discard: true }).pipe(
        // put back, because these requests are not repeated
        Effect.tapError(() => Effect.forEach(accounts, requests.ask, { discard: true }))
      )
      const now = yield* Elapsed.now
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
      const now = yield* Elapsed.now
      const dueAt = Math.min(lookAt, ...waiting().map(([, { dueAt }]) => dueAt))
      yield* Effect.timeoutOption(
        Effect.raceFirst(requests.awaitAsked, Queue.take(ended)),
        Duration.millis(Math.max(0, dueAt - now))
      )
    })

    yield* round.pipe(
      Effect.andThen(rest),
      RepeatedFailure.watch("syncing templates"),
      Effect.catchCause(() => Effect.sleep(atMostEvery)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
