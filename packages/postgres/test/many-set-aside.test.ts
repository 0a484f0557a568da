/**
 * The events that a subscription has set aside are retried and discarded in parts, however many they are.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { SubscriptionStore } from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { bound } from "./bound.ts"
import { storageAndClient } from "./servers.ts"

const most = 1000
const count = 5 * most + 1

/** A subscription that has set aside many events. */
const subscription = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const own = yield* Fixture.world()
  const key = { workspaceId: own.workspace.id, name: "one" }
  const store = yield* SubscriptionStore.SubscriptionStore
  yield* store.open({ ...key, now: own.start, types: ["message.sent"] })
  yield* client.unsafe(
    `insert into wac.subscription_entries (workspace_id, name, event_id, place, recorded_at, state, attempts,
      round_attempts, failed_at, failure)
    select $1, 'one', 'evt_' || i, i, 1, 'failed', 1, 1, 1, 'no' from generate_series(1, ${count}) i`,
    [key.workspaceId]
  )
  const states = Effect.map(
    client<{ readonly state: string; readonly count: number }>`
      select state, count(*)::int as count from wac.subscription_entries where workspace_id = ${key.workspaceId}
      group by state`,
    (rows) => rows.map(({ count, state }) => [state, count])
  )
  return { key, now: own.start, states, store }
})

layer(Layer.provideMerge(bound(most, ["subscription_entries"]), storageAndClient), { excludeTestServices: true })(
  "a subscription that has set aside many events",
  (it) => {
    it.effect("a retry of all of them retries each once, and counts them", () =>
      Effect.gen(function*() {
        const { key, now, states, store } = yield* subscription
        assert.strictEqual(yield* store.retry({ ...key, eventId: null, now }), count)
        assert.deepStrictEqual(yield* states, [["waiting", count]])
        assert.strictEqual(yield* store.retry({ ...key, eventId: null, now }), 0)
      }))

    it.effect("all of them can be discarded", () =>
      Effect.gen(function*() {
        const { key, states, store } = yield* subscription
        assert.strictEqual(yield* store.discard({ ...key, eventId: null }), count)
        assert.deepStrictEqual(yield* states, [])
      }))

    it.effect("the subscription can be removed with them", () =>
      Effect.gen(function*() {
        const { key, states, store } = yield* subscription
        assert.isTrue(yield* store.remove(key))
        assert.deepStrictEqual(yield* states, [])
      }))
  }
)
