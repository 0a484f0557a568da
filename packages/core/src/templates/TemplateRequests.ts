/**
 * A queue in memory of accounts whose templates must be listed again soon: `Inbound` adds to it and `TemplateSync`
 * empties it.
 */
import { Context, Effect, Layer, Queue } from "effect"

export class TemplateRequests extends Context.Service<TemplateRequests, {
  /** Requests a listing of an account's templates. Repeated requests count once. */
  readonly ask: (providerAccountId: string) => Effect.Effect<void>
  /** Waits for a request. */
  readonly awaitAsked: Effect.Effect<void>
  /** Removes and returns the requested accounts. */
  readonly take: Effect.Effect<ReadonlyArray<string>>
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
        })
      })
    })
  )
}
