/**
 * Accounts whose templates are to be listed anew, soon: what `Inbound` hears and `TemplateSync` does.
 */
import { Context, Effect, Layer, Queue } from "effect"

export class TemplateRequests extends Context.Service<TemplateRequests, {
  /** Asks for an account's templates. However often it is asked for, it waits once. */
  readonly ask: (providerAccountId: string) => Effect.Effect<void>
  /** Waits until something is asked for. */
  readonly awaitAsked: Effect.Effect<void>
  /** What was asked for since the last time. */
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
