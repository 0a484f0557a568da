/**
 * Rate limits in a real Redis.
 */
import { assert, describe, it } from "@effect/vitest"
import { RateLimitStore, type StoreError } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Fixture, StorageSuite } from "@wac/testkit"
import { Context, Effect, Layer, Redacted } from "effect"
import * as RateLimitStoreRedis from "../../src/RateLimitStoreRedis.ts"
import * as checks from "../checks.ts"
import { call, environment, hello, ownPage, ready, send, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"
import { needed, redisServer } from "../RedisServer.ts"

const inFront = (url: string) =>
  RateLimitStoreRedis.layer(Redacted.make(url)).pipe(Layer.provideMerge(MemoryStorage.layer))

/** A store of a process of its own. */
const store = (url: string) =>
  Effect.map(
    Layer.build(Layer.fresh(Layer.provide(inFront(url), Fixture.timeOfAsker))),
    (context) => Context.get(context, RateLimitStore.RateLimitStore)
  )

const policy = { name: "login", interval: 60_000, capacity: 10 } as const

const attempt = (url: string, password: string) =>
  call(`${url}/internal/session`, { headers: ownPage, body: { email: environment.WAC_OWNER_EMAIL, password } })

describe("rate limits in Redis", needed, () => {
  StorageSuite.suite("in front of a storage", Layer.unwrap(Effect.map(redisServer, ({ url }) => inFront(url))), {
    ports: ["RateLimitStore"]
  })

  it.live("limits in Redis apply across processes", () =>
    Effect.gen(function*() {
      const { url } = yield* redisServer
      const stores = yield* Effect.replicateEffect(store(url), 3)
      const buckets = [{ key: "login:account:shared", policy }]
      const readings = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, i) => stores[i % 3]!),
        (one) => one.spend(buckets, 1_767_614_400_000),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(readings.filter(([reading]) => reading!.allowed), 10)
    }).pipe(Effect.scoped))

  it.live("commands fail quickly while Redis is down, and recover with it", () =>
    Effect.gen(function*() {
      const redis = yield* redisServer
      const own = yield* store(redis.url)
      const spend = own.spend([{ key: "login:account:lost", policy }], 1_767_614_400_000)
      assert.isTrue((yield* spend)[0]!.allowed)
      const refusal = Effect.gen(function*() {
        yield* redis.stop
        const begun = performance.now()
        const error: StoreError.StoreError = yield* Effect.flip(spend)
        const took = performance.now() - begun
        assert.strictEqual(error.operation, "RateLimitStore.spend")
        yield* redis.start
        const again = yield* checks.until(Effect.result(spend), ({ _tag }) => _tag === "Success")
        assert.isTrue(again._tag === "Success" && again.success[0]!.allowed)
        return took
      })
      yield* checks.assertBelow(2000, refusal)
    }).pipe(Effect.scoped))

  it.live(
    "failed sign-ins are limited across servers; without Redis nobody can sign in, but messages are still sent",
    () =>
      Effect.gen(function*() {
        const redis = yield* redisServer
        const DATABASE_URL = yield* Effect.flatMap(postgres, freshDatabase)
        const options = {
          environment: { RATE_LIMIT_STORE: redis.url, DATABASE_URL, WAC_MASTER_KEY: masterKey() }
        }
        const a = yield* ready(options)
        const b = yield* start(options)
        for (let i = 0; i < 10; i++) {
          assert.strictEqual((yield* attempt([a, b][i % 2]!.url, "wrong")).status, 401)
        }
        for (const { url } of [a, b]) {
          const refused = yield* attempt(url, environment.WAC_OWNER_PASSWORD)
          checks.assertError(refused, 429, { code: "rate_limited", reason: "login" })
        }
        yield* redis.stop
        const away = yield* attempt(a.url, environment.WAC_OWNER_PASSWORD)
        checks.assertError(away, 503, { code: "server_error", reason: "storage_unavailable" })
        assert.strictEqual(away.headers.get("retry-after"), "1")
        assert.strictEqual((yield* send(a, hello())).status, 200)
      }).pipe(Effect.scoped)
  )
})

it.live("an unreachable Redis makes the start fail with one line", () =>
  Effect.gen(function*() {
    const unreachable = { RATE_LIMIT_STORE: "redis://user:hunter2@127.0.0.1:1" }
    const error = yield* Effect.flip(start({ environment: unreachable }))
    assert.strictEqual(error.message, "RATE_LIMIT_STORE: cannot reach the Redis at this address")
  }).pipe(Effect.scoped))
