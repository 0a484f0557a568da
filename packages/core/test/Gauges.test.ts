import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as Gauges from "../src/Gauges.ts"
import { InboundPostStore, type PostBacklog } from "../src/inbound/InboundPostStore.ts"
import { OutboxStore } from "../src/outbox/OutboxStore.ts"
import { type Backlog, QueueStore } from "../src/queue/QueueStore.ts"
import { type Measured, Storage } from "../src/Storage.ts"
import { StoreError } from "../src/StoreError.ts"
import { SubscriptionStore } from "../src/subscriptions/SubscriptionStore.ts"
import { type BacklogReport, DeliveryStore } from "../src/webhooks/DeliveryStore.ts"
import { minute, second } from "./checks.ts"
import { start } from "./samples.ts"

const queue: Backlog = { at: start, queued: 5, oldestDueAt: start - 61 * second, heldSince: start }

const deliveries: BacklogReport = {
  oldestDueAt: start - 90 * second,
  pending: 7,
  failingWebhooks: 3,
  pausedWebhooks: 2,
  webhooksByBacklog: [6, 5, 4]
}

const posts: PostBacklog = { waiting: 13, oldestReceivedAt: start - 12_500, failing: 12, unreadable: 11 }

/** Gauges by name and labels, as Prometheus writes them. */
const gauges = Effect.map(Metric.snapshot, (snapshot) =>
  Object.fromEntries(snapshot.flatMap((metric) => {
    if (metric.type !== "Gauge") return []
    const labels = Object.entries(metric.attributes ?? {}).map(([name, value]) => `${name}="${value}"`)
    return [[labels.length === 0 ? metric.id : `${metric.id}{${labels}}`, metric.state.value]]
  })))

const measured: Measured = {
  bytes: 9_000_000,
  connections: { active: 3, idle: 8, idle_in_transaction: 1, other: 2 },
  maxConnections: 100,
  pools: { steps: { inUse: 5, idle: 0, waiting: 7 }, statements: { inUse: 1, idle: 4, waiting: 0 } }
}

const told = {
  "wac_database_size_bytes": 9_000_000,
  "wac_database_connections{state=\"active\"}": 3,
  "wac_database_connections{state=\"idle\"}": 8,
  "wac_database_connections{state=\"idle_in_transaction\"}": 1,
  "wac_database_connections{state=\"other\"}": 2,
  "wac_database_connections_max": 100,
  "wac_database_pool{pool=\"steps\",state=\"in_use\"}": 5,
  "wac_database_pool{pool=\"steps\",state=\"idle\"}": 0,
  "wac_database_pool{pool=\"steps\",state=\"waiting\"}": 7,
  "wac_database_pool{pool=\"statements\",state=\"in_use\"}": 1,
  "wac_database_pool{pool=\"statements\",state=\"idle\"}": 4,
  "wac_database_pool{pool=\"statements\",state=\"waiting\"}": 0,
  "wac_webhook_oldest_due_age_seconds": 90,
  "wac_webhook_deliveries_pending": 7,
  "wac_webhooks{state=\"failing\"}": 3,
  "wac_webhooks{state=\"paused\"}": 2,
  "wac_webhooks_with_backlog{deliveries=\"1\"}": 6,
  "wac_webhooks_with_backlog{deliveries=\"10\"}": 5,
  "wac_webhooks_with_backlog{deliveries=\"100\"}": 4,
  "wac_inbound_oldest_post_age_seconds": 12.5,
  "wac_inbound_posts{state=\"waiting\"}": 13,
  "wac_inbound_posts{state=\"failing\"}": 12,
  "wac_inbound_posts{state=\"unreadable\"}": 11,
  "wac_queue_messages": 5,
  "wac_queue_oldest_due_age_seconds": 61,
  "wac_queue_held": 1,
  "wac_outbox_oldest_age_seconds": 30,
  "wac_subscription_oldest_unhandled_age_seconds": 45
}

/** Observes at {@link start}, with a storage that returns these reports, in a process whose clock is `ahead`. */
const observing = (
  tells: {
    readonly deliveries: Effect.Effect<BacklogReport, StoreError>
    readonly posts: Effect.Effect<PostBacklog, StoreError>
  },
  test: (observe: Effect.Effect<void>) => Effect.Effect<void>,
  ahead = 0
) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(start + ahead)
    yield* test(yield* Gauges.observer)
  }).pipe(
    Effect.provide(Layer.mergeAll(
      Layer.succeed(Storage, {
        name: "a database",
        durable: true,
        ping: Effect.succeed("writable" as const),
        now: (asked) => Effect.succeed(asked - ahead),
        measured: Effect.succeed(measured)
      }),
      Layer.mock(DeliveryStore, { backlog: () => tells.deliveries }),
      Layer.mock(InboundPostStore, { backlog: tells.posts }),
      Layer.mock(QueueStore, { backlog: () => Effect.succeed(queue) }),
      Layer.mock(OutboxStore, { enqueueFunction: null, oldestWaitingAt: Effect.succeed(start - 30 * second) }),
      Layer.mock(SubscriptionStore, { oldestUnhandledAt: Effect.succeed(start - 45 * second) })
    )),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

describe("waiting deliveries", () => {
  it.effect.each([0, 10 * minute, -10 * minute])(
    "the backlog is reported by kind, with its age by the storage's clock, if the process's clock is ahead by %i ms",
    (ahead) =>
      observing(
        { deliveries: Effect.succeed(deliveries), posts: Effect.succeed(posts) },
        (observe) =>
          Effect.gen(function*() {
            yield* observe
            assert.deepStrictEqual(yield* gauges, told)
          }),
        ahead
      )
  )

  it.effect("the age is 0 if nothing waits or if another clock is fast", () =>
    observing({
      deliveries: Effect.succeed({ ...deliveries, oldestDueAt: null }),
      posts: Effect.succeed({ ...posts, oldestReceivedAt: start + second })
    }, (observe) =>
      Effect.gen(function*() {
        yield* observe
        assert.deepInclude(yield* gauges, {
          "wac_webhook_oldest_due_age_seconds": 0,
          "wac_inbound_oldest_post_age_seconds": 0
        })
      })))
})

describe("an unavailable storage", () => {
  it.effect("an unavailable storage delays no one for more than a second, and gauges keep their last values", () => {
    let isAway = false
    return observing({
      deliveries: Effect.suspend(() => isAway ? Effect.never : Effect.succeed(deliveries)),
      posts: Effect.suspend(() =>
        isAway ? Effect.fail(new StoreError({ operation: "InboundPostStore.backlog" })) : Effect.succeed(posts)
      )
    }, (observe) =>
      Effect.gen(function*() {
        yield* observe
        isAway = true
        const asked = yield* Effect.forkChild(observe, { startImmediately: true })
        yield* TestClock.adjust("999 millis")
        assert.isUndefined(asked.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.isDefined(asked.pollUnsafe())
        assert.deepStrictEqual(yield* gauges, told)
      }))
  })
})
