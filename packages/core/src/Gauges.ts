/**
 * Gauges of what waits in the storage (deliveries, queued messages, the outbox, events for subscriptions, provider
 * posts) and of the database itself. They are measured just before the metrics are read (contract §8).
 */
import { Clock, Context, Duration, Effect, Metric } from "effect"
import { InboundPostStore, type PostBacklog } from "./inbound/InboundPostStore.ts"
import { exportedFromZero } from "./Metrics.ts"
import { OutboxStore } from "./outbox/OutboxStore.ts"
import { type Backlog, QueueStore } from "./queue/QueueStore.ts"
import { type Measured, Storage } from "./Storage.ts"
import { SubscriptionStore } from "./subscriptions/SubscriptionStore.ts"
import type { Instant } from "./Time.ts"
import { type BacklogReport, backlogSizes, DeliveryStore } from "./webhooks/DeliveryStore.ts"

const oldestDueSeconds = Metric.gauge("wac_webhook_oldest_due_age_seconds", {
  description: "How long the oldest due delivery has waited for its attempt; 0 if none is due"
})

const pendingDeliveries = Metric.gauge("wac_webhook_deliveries_pending", {
  description: "Deliveries that have not ended, including held ones; an estimate above ten thousand"
})

const webhooks = Metric.gauge("wac_webhooks", { description: "Webhooks in trouble, by state" })

const backlogs = Metric.gauge("wac_webhooks_with_backlog", {
  description:
    "Webhooks with a due delivery, by the minimum number of their unfinished deliveries; at most 1,000 are counted"
})

/** The age at `now`, the storage's time, in seconds. 0 if there is nothing, or if something is due since then. */
const age = (since: Instant | null, now: Instant): number => since === null ? 0 : Math.max(0, now - since) / 1000

const observeBacklog = (report: BacklogReport, now: Instant): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Metric.update(oldestDueSeconds, age(report.oldestDueAt, now))
    yield* Metric.update(pendingDeliveries, report.pending)
    yield* Metric.update(Metric.withAttributes(webhooks, { state: "failing" }), report.failingWebhooks)
    yield* Metric.update(Metric.withAttributes(webhooks, { state: "paused" }), report.pausedWebhooks)
    for (const [i, size] of backlogSizes.entries()) {
      yield* Metric.update(Metric.withAttributes(backlogs, { deliveries: `${size}` }), report.webhooksByBacklog[i]!)
    }
  })

const queuedMessages = Metric.gauge("wac_queue_messages", {
  description: "Messages that callers queued and that wait to be sent"
})

const oldestQueuedSeconds = Metric.gauge("wac_queue_oldest_due_age_seconds", {
  description: "How long the queued message has waited that was due first; 0 if none is due"
})

const queueHeld = Metric.gauge("wac_queue_held", {
  description: "1 while the queue waits for a person because the database was restored, otherwise 0"
})

const observeQueue = ({ at, heldSince, oldestDueAt, queued }: Backlog): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Metric.update(queuedMessages, queued)
    yield* Metric.update(oldestQueuedSeconds, age(oldestDueAt, at))
    yield* Metric.update(queueHeld, heldSince === null ? 0 : 1)
  })

const oldestEnqueuedSeconds = Metric.gauge("wac_outbox_oldest_age_seconds", {
  description: "How long the oldest message in the outbox has waited that was not tried yet; 0 if there is none"
})

const oldestUnhandledSeconds = Metric.gauge("wac_subscription_oldest_unhandled_age_seconds", {
  description: "Age of the oldest event that a durable subscription has not handled; 0 if all are handled or set aside"
})

const keptPosts = Metric.gauge("wac_inbound_posts", {
  description: "Provider posts that wait, those that have failed among them, and those that cannot be read"
})

const oldestPostSeconds = Metric.gauge("wac_inbound_oldest_post_age_seconds", {
  description: "How long the oldest waiting provider post has waited; 0 if none waits"
})

const observePosts = (
  { failing, oldestReceivedAt, unreadable, waiting }: PostBacklog,
  now: Instant
): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Metric.update(oldestPostSeconds, age(oldestReceivedAt, now))
    for (const [state, count] of Object.entries({ waiting, failing, unreadable })) {
      yield* Metric.update(Metric.withAttributes(keptPosts, { state }), count)
    }
  })

const databaseBytes = Metric.gauge("wac_database_size_bytes", { description: "Size of the database on disk" })

const databaseConnections = Metric.gauge("wac_database_connections", {
  description: "Connections to the database server, of all programs, by state"
})

const maxConnections = Metric.gauge("wac_database_connections_max", {
  description: "The database server's limit of connections"
})

const pools = Metric.gauge("wac_database_pool", {
  description:
    "Connections of this process by pool, in use and idle (open or not yet), and operations that wait for one"
})

const observeStorage = (measured: Measured): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Metric.update(databaseBytes, measured.bytes)
    if (measured.maxConnections !== null) yield* Metric.update(maxConnections, measured.maxConnections)
    for (const [state, count] of Object.entries(measured.connections)) {
      yield* Metric.update(Metric.withAttributes(databaseConnections, { state }), count)
    }
    for (const [pool, { idle, inUse, waiting }] of Object.entries(measured.pools)) {
      for (const [state, count] of Object.entries({ in_use: inUse, idle, waiting })) {
        yield* Metric.update(Metric.withAttributes(pools, { pool, state }), count)
      }
    }
  })

/**
 * The time limit of each measurement. It is well within Prometheus's 10 s scrape timeout, even if the storage does not
 * respond.
 */
const timeLimit = Duration.seconds(1)

/** A further measurement that runs before the metrics are read, such as of the process. By default it does nothing. */
export const MoreObserved = Context.Reference<Effect.Effect<void>>("@wac/core/Gauges/MoreObserved", {
  defaultValue: () => Effect.void
})

/**
 * Builds an effect that measures the backlog over all workspaces, the storage, and {@link MoreObserved}. Run it before
 * reading the metrics. A gauge keeps its last value if storage does not respond within a second: the other metrics
 * matter most while storage is down.
 */
export const observer: Effect.Effect<
  Effect.Effect<void>,
  never,
  DeliveryStore | InboundPostStore | OutboxStore | QueueStore | Storage | SubscriptionStore
> = Effect.gen(function*() {
  const deliveries = yield* DeliveryStore
  const posts = yield* InboundPostStore
  const queue = yield* QueueStore
  const outbox = yield* OutboxStore
  const subscriptions = yield* SubscriptionStore
  const storage = yield* Storage
  const { measured } = storage
  const more = yield* MoreObserved
  yield* exportedFromZero
  return Effect.gen(function*() {
    const asked = yield* Clock.currentTimeMillis
    // what waits has the storage's times, so a process with a wrong clock must not subtract them from its own
    const now = yield* Effect.cached(storage.now(asked))
    yield* Effect.forEach(
      [
        Effect.flatMap(Effect.all([deliveries.backlog(asked), now]), ([report, at]) => observeBacklog(report, at)),
        Effect.flatMap(Effect.all([posts.backlog, now]), ([report, at]) => observePosts(report, at)),
        Effect.flatMap(queue.backlog(null, asked), observeQueue),
        Effect.flatMap(
          Effect.all([outbox.oldestWaitingAt, now]),
          ([since, at]) => Metric.update(oldestEnqueuedSeconds, age(since, at))
        ),
        Effect.flatMap(
          Effect.all([subscriptions.oldestUnhandledAt, now]),
          ([since, at]) => Metric.update(oldestUnhandledSeconds, age(since, at))
        ),
        measured === undefined ? Effect.void : Effect.flatMap(measured, observeStorage),
        more
      ],
      (observe) => Effect.ignore(Effect.timeout(observe, timeLimit)),
      { concurrency: "unbounded", discard: true }
    )
  })
})
