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
import * as TemplateSyncSchedule from "./TemplateSyncSchedule.ts"

/** Workspaces that are listed concurrently. A slow listing holds one slot and delays nothing else. */
const places = 4

/** The timeout of a listing. Thousands of templates take a fraction of it. */
export const longest = Duration.minutes(5)

/** Runs as long as its scope. Every process that runs it makes its own listings; `TemplateStore` keeps the newest. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const templates = yield* Templates
    const workspaces = yield* WorkspaceStore
    const numbers = yield* PhoneNumberStore
    const requests = yield* TemplateRequests
    const { schedules } = requests
    const underWay = new Set<WorkspaceId>()
    const listings = yield* FiberSet.make()
    const ended = yield* Queue.sliding<void>(1)
    /** When to look again for workspaces that other processes created. After each listing would be too often. */
    let lookAt = -Infinity

    const change = (
      id: WorkspaceId,
      how: (
        schedule: TemplateSyncSchedule.TemplateSyncSchedule,
        now: number
      ) => TemplateSyncSchedule.TemplateSyncSchedule
    ) =>
      Effect.map(Elapsed.now, (now) => {
        schedules.set(id, how(schedules.get(id) ?? TemplateSyncSchedule.initial(now), now))
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
        Effect.flatMap((succeeded) =>
          change(id, (schedule, now) => TemplateSyncSchedule.ended(schedule, now, succeeded))
        ),
        Effect.onInterrupt(() => change(id, TemplateSyncSchedule.interrupted)),
        Effect.ensuring(Effect.suspend(() => {
          underWay.delete(id)
          return Queue.offer(ended, undefined)
        }))
      )

    const note = Effect.fnUntraced(function*(providerAccountId: string) {
      for (const { workspaceId } of yield* numbers.named({ providerAccountId })) {
        yield* change(workspaceId, TemplateSyncSchedule.requested)
      }
    })

    /** The waiting workspaces, longest due first, as many as there are free slots. */
    const waiting = () =>
      [...schedules]
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
        for (const { id } of yield* workspaces.list) {
          if (!schedules.has(id)) schedules.set(id, TemplateSyncSchedule.initial(now))
        }
        lookAt = now + Duration.toMillis(TemplateSyncSchedule.minInterval)
      }
      for (const [id, { dueAt }] of waiting()) {
        if (dueAt > now) break
        yield* change(id, TemplateSyncSchedule.started)
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
      Effect.catchCause(() => Effect.sleep(TemplateSyncSchedule.minInterval)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
