import { RateLimit, RateLimitStore, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { asked } from "../Asked.ts"
import { Database } from "../Database.ts"

interface Bucket {
  readonly key: string
  readonly policy: RateLimit.Policy
}

/** What the SQL functions take: a bucket by its name, and how it fills. */
const written = (buckets: ReadonlyArray<Bucket>) =>
  buckets.map(({ key, policy: { capacity, interval } }) => ({ key, interval, capacity }))

export const layer = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.gen(function*() {
    const { batched, query } = yield* Database
    const askedAt = yield* asked
    /** Answers with when it was judged, and with each bucket's state before its token was asked for. */
    const spend = yield* batched<
      { readonly now: Time.Instant | undefined; readonly buckets: ReturnType<typeof written> },
      { readonly at: Time.Instant; readonly before: ReadonlyArray<Time.Instant> }
    >("RateLimitStore.spend", "wac_spend_tokens")

    return RateLimitStore.RateLimitStore.of({
      spend: (buckets, now) =>
        buckets.length === 0 ? Effect.succeed([]) : Effect.map(
          spend({ now: askedAt(now), buckets: written(buckets) }),
          ({ at, before }) => buckets.map(({ policy }, i) => RateLimit.take(policy, before[i]!, at).reading)
        ),
      giveBack: (buckets) =>
        buckets.length === 0 ? Effect.void : Effect.asVoid(
          query("RateLimitStore.giveBack", "select wac_give_tokens_back($1::text::json)", [
            JSON.stringify(written(buckets))
          ])
        )
    })
  })
)
