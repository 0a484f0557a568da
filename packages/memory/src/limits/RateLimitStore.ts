import { type RateLimit, RateLimitStore, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { type Memory, State } from "../State.ts"
import * as Buckets from "./Buckets.ts"

const spend = (
  memory: Memory,
  wanted: ReadonlyArray<Buckets.Bucket>,
  now: Time.Instant
): ReadonlyArray<RateLimit.Reading> => {
  const decided = Buckets.decide(memory.buckets, wanted, now)
  if (decided.refused.length === 0) decided.spend()
  return decided.readings
}

export const layer = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.map(State, (memory) =>
    RateLimitStore.RateLimitStore.of({
      spend: (buckets, now) => Effect.sync(() => spend(memory, buckets, memory.now(now))),
      giveBack: (buckets, now) => Effect.sync(() => Buckets.giveBack(memory.buckets, buckets, memory.now(now)))
    }))
)
