/**
 * Rate limits in Redis (`RATE_LIMIT_STORE=redis://…`), except those that sends spend. A send's buckets stay in the
 * storage, where *accept* spends them in the same step as everything else (docs/decisions/0008).
 */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Limits, RateLimit, RateLimitStore, StorageTime, StoreError, type Time } from "@wac/core"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Redis } from "effect/persistence"

/** The deadline of a command. A person who signs in waits for it, so a lost Redis must not delay them for long. */
const deadline = "1 second"

/** Redis does not respond at the variable's address. */
class RedisUnreachable extends Schema.TaggedError<RedisUnreachable>()("RedisUnreachable", {}) {
  override get message() {
    return "RATE_LIMIT_STORE: cannot reach the Redis at this address"
  }
}

type Buckets = Parameters<RateLimitStore.RateLimitStore["Service"]["spend"]>[0]

const intervals = (buckets: Buckets) => buckets.map(({ policy }) => policy.interval)

/**
 * `RateLimit.take` over several buckets, all or none, at the time of Redis, unless `asked` gives one (`StorageTime`).
 * Returns that time, and each bucket's state before its token was taken, `RateLimit.bounded`. A bucket expires a minute
 * after it is full, because the clock may be set back. Numbers are sent as text, because Redis would round them.
 */
const spending = Redis.script(
  (buckets: Buckets, asked: Time.Instant | undefined) => [
    ...buckets.map(({ key }) => `wac:${key}`),
    asked ?? "",
    ...buckets.flatMap(({ policy }) => [policy.interval, policy.capacity])
  ],
  {
    numberOfKeys: ({ length }) => length,
    lua: `
      local now = tonumber(ARGV[1])
      if not now then
        local time = redis.call('TIME')
        now = time[1] * 1000 + math.floor(time[2] / 1000)
      end
      local state, before, allowed = {}, {}, true
      for i, key in ipairs(KEYS) do
        local interval, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
        local empty_at = now + interval * capacity
        local stored = tonumber(redis.call('GET', key) or '0')
        if empty_at < stored then
          redis.call('SET', key, string.format('%.17g', empty_at), 'PX', math.ceil(empty_at - now) + 60000)
        end
        local full_at = math.min(state[key] or stored, empty_at)
        before[i] = string.format('%.17g', full_at)
        local next = math.max(full_at, now) + interval
        if next - now - interval * capacity > 0 then allowed = false else state[key] = next end
      end
      if allowed then
        for key, full_at in pairs(state) do
          redis.call('SET', key, string.format('%.17g', full_at), 'PX', math.ceil(full_at - now) + 60000)
        end
      end
      table.insert(before, string.format('%.17g', now))
      return before`
  }
).withReturnType<ReadonlyArray<string>>()

/** Returns one token to each bucket, except expired ones, which are full. */
const givingBack = Redis.script(
  (buckets: Buckets) => [...buckets.map(({ key }) => `wac:${key}`), ...intervals(buckets)],
  {
    numberOfKeys: ({ length }) => length,
    lua: `
      for i, key in ipairs(KEYS) do
        local full_at = redis.call('GET', key)
        if full_at then
          redis.call('SET', key, string.format('%.17g', tonumber(full_at) - tonumber(ARGV[i])), 'KEEPTTL')
        end
      end
      return 0`
  }
)

/** The port over Redis and, for limits that sends spend, over the storage's own store. */
const layerStore = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.gen(function*() {
    const storage = yield* RateLimitStore.RateLimitStore
    const redis = yield* Redis.Redis
    const judge = yield* StorageTime.JudgedBy
    const spend = redis.eval(spending)
    const giveBack = redis.eval(givingBack)

    const failed = (operation: string) => (why: string) =>
      Effect.andThen(
        Effect.logWarning(`${operation} failed: ${why}`),
        Effect.fail(new StoreError.StoreError({ operation }))
      )
    const timely = <A>(operation: string, command: Effect.Effect<A, Redis.RedisError>) =>
      command.pipe(
        Effect.catch(() => failed(operation)("Redis is unreachable or refused the command")),
        Effect.timeoutOrElse({
          duration: deadline,
          orElse: () => failed(operation)(`Redis did not respond within ${deadline}`)
        })
      )
    const isSpentBySends = (buckets: Buckets) => buckets.some(({ key }) => Limits.isSpentBySends(key))

    return RateLimitStore.RateLimitStore.of({
      spend: (buckets, now) =>
        buckets.length === 0 || isSpentBySends(buckets) ? storage.spend(buckets, now) : Effect.map(
          timely("RateLimitStore.spend", spend(buckets, judge === "asker" ? now : undefined)),
          (before) => {
            const at = Number(before.at(-1))
            return buckets.map(({ policy }, i) => RateLimit.take(policy, Number(before[i]), at).reading)
          }
        ),
      giveBack: (buckets, now) =>
        buckets.length === 0 || isSpentBySends(buckets)
          ? storage.giveBack(buckets, now)
          : Effect.asVoid(timely("RateLimitStore.giveBack", giveBack(buckets)))
    })
  })
)

/** The port over Redis with its own connection, which is reopened whenever it is lost. */
export const layer = (url: Redacted.Redacted) =>
  layerStore.pipe(
    Layer.provide(
      NodeRedis.layer({
        url: Redacted.value(url),
        // a command whose caller no longer waits is not queued
        disableOfflineQueue: true
      }).pipe(Layer.catchTag("RedisError", () => Layer.effectContext(Effect.fail(new RedisUnreachable()))))
    )
  )
