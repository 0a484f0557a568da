/**
 * A queue in memory of accounts whose templates must be listed again soon, with the schedule of the listings: `Inbound`
 * adds to it and `TemplateSync` empties it.
 */
import { Context, Effect, Layer, Queue } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { TemplateSyncSchedule } from "./TemplateSyncSchedule.ts"

export class TemplateRequests extends Context.Service<TemplateRequests, {
  /** Requests a listing of an account's templates. Repeated requests count once. */
  readonly ask: (providerAccountId: string) => Effect.Effect<void>
  /** Waits for a request. */
  readonly awaitAsked: Effect.Effect<void>
  /** Removes and returns the requested accounts. */
  readonly take: Effect.Effect<ReadonlyArray<string>>
  /**
   * When each workspace's templates are listed next. Outlives `TemplateSync`, which an instance without background work
   * builds for each shift: otherwise every shift would list all templates.
   */
  readonly schedules: Map<WorkspaceId, TemplateSyncSchedule>
}>()("@wac/core/templates/TemplateRequests") {
  static readonly layer = Layer.effect(
    TemplateRequests,
    Effect.gen(function*() {
      const asked = new Set<string>()
      const hint = yield* Queue.sliding<void>(1)
      return TemplateRequests.of({
        ask: (providerAccountId) =>
          Effect.suspend(() => {
            asked.add(providerAccountId)
            return Effect.asVoid(Queue.offer(hint, undefined))
          }),
        awaitAsked: Queue.take(hint),
        take: Effect.sync(() => {
          const all = [...asked]
          asked.clear()
          return all
        }),
        schedules: new Map()
      })
    })
  )
}
