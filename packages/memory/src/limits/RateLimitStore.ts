/**
 * `RateLimitStore` in memory: each method is one synchronous step over `State`, decided by `TokenStep`.
 */
import { RateLimitStore, type Time, TokenStep } from "@wac/core"
import { Effect, Layer } from "effect"
import { type Memory, State } from "../State.ts"

const loaded = (memory: Memory): TokenStep.Loaded => ({ now: memory.now, fullAt: (key) => memory.buckets.get(key) })

const write = (memory: Memory, writes: TokenStep.Writes, now: Time.Instant): void => {
  for (const { fullAt, key } of writes) memory.buckets.set(key, fullAt, now)
}

export const layer = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.map(State, (memory) =>
    RateLimitStore.RateLimitStore.of({
      spend: (buckets, now) =>
        Effect.sync(() => {
          const { answers: [readings], writes } = TokenStep.spend(loaded(memory), [{ now, buckets }])
          write(memory, writes, memory.now(now))
          return readings!
        }),
      giveBack: (buckets, now) =>
        Effect.sync(() => {
          const { writes } = TokenStep.giveBack(loaded(memory), [{ now, buckets }])
          write(memory, writes, memory.now(now))
        })
    }))
)
