/**
 * `OutboxStore` in memory: no transaction of a host reaches it, so it is always empty.
 */
import { OutboxStore } from "@wac/core"
import { Clock, Effect, Layer } from "effect"

export const layer = Layer.succeed(
  OutboxStore.OutboxStore,
  OutboxStore.OutboxStore.of({
    enqueueFunction: null,
    claim: () => Effect.map(Clock.currentTimeMillis, (at) => ({ at, entries: [] })),
    end: () => Effect.succeed(false),
    awaitHint: Effect.never,
    oldestWaitingAt: Effect.succeed(null),
    list: () => Effect.succeed({ items: [], next: null }),
    enqueuedUntil: () => Effect.succeed(0),
    forget: () => Effect.succeed({ removed: 0, isMore: false })
  })
)
