/**
 * Deletes what is older than its retention in the background, in small steps: `Retention` for the kinds that operators
 * configure, and the fixed times of requests' values, alerts, sessions, challenges, portal links, kept answers, the outbox and
 * usage. Age goes by the storage's time (`StorageTime`): a process whose clock is ahead must not delete what others keep.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import * as Alert from "./alerts/Alert.ts"
import { AlertStore } from "./alerts/AlertStore.ts"
import { AuditStore } from "./audit/AuditStore.ts"
import * as BackgroundLoop from "./BackgroundLoop.ts"
import { EventStore } from "./events/EventStore.ts"
import * as Idempotency from "./Idempotency.ts"
import { MessageStore } from "./messages/MessageStore.ts"
import * as Metrics from "./Metrics.ts"
import { OutboxStore } from "./outbox/OutboxStore.ts"
import { FactorStore } from "./people/FactorStore.ts"
import { PortalStore } from "./people/PortalStore.ts"
import { SessionStore } from "./people/SessionStore.ts"
import * as RepeatedFailure from "./RepeatedFailure.ts"
import { KeptAnswerStore } from "./requests/KeptAnswerStore.ts"
import { RequestStore } from "./requests/RequestStore.ts"
import * as RequestValues from "./requests/RequestValues.ts"
import { RequestValuesStore } from "./requests/RequestValuesStore.ts"
import * as Retention from "./Retention.ts"
import { Storage } from "./Storage.ts"
import type { StoreError } from "./StoreError.ts"
import * as Subscription from "./subscriptions/Subscription.ts"
import type { Instant } from "./Time.ts"
import * as Activity from "./usage/Activity.ts"
import * as Timing from "./usage/Timing.ts"
import { UsageStore } from "./usage/UsageStore.ts"
import { DeliveryStore } from "./webhooks/DeliveryStore.ts"

/** How long an expired record may stay. */
const every = Duration.hours(1)

/** The pause between two deletions of a round, so that they do not delay other queries. */
const pause = Duration.millis(50)

/** A kind of record, how long it is kept, and the deletion of a bounded number of older ones. */
interface Kept {
  readonly kind: string
  readonly retention: Duration.Duration
  readonly forget: (before: Instant, now: Instant) => Effect.Effect<Retention.Forgotten, StoreError>
}

/** Every kind of record that is deleted by its age. */
const kinds = Effect.gen(function*() {
  const retention = yield* Retention.CurrentRetention
  const messages = yield* MessageStore
  const events = yield* EventStore
  const usage = yield* UsageStore
  /** Events that a subscription has not handled are kept for longer, but at most for `Subscription.keptFor`. */
  const forgetEvents: Kept["forget"] = (before, now) =>
    events.forget(before, now - Duration.toMillis(Subscription.keptFor))
  const configured = (kind: Retention.Kind, forget: Kept["forget"]): Kept => ({
    kind,
    retention: Retention.keptFor(retention, kind),
    forget
  })
  const all: ReadonlyArray<Kept> = [
    configured("attempts", (yield* DeliveryStore).forgetAttempts),
    configured("events", forgetEvents),
    configured("messages", messages.forget),
    ...retention.bodies < retention.messages ? [configured("bodies", messages.forgetBodies)] : [],
    configured("requests", (yield* RequestStore).forget),
    configured("audit", (yield* AuditStore).forget),
    { kind: "request_values", retention: RequestValues.retention, forget: (yield* RequestValuesStore).forget },
    { kind: "alerts", retention: Alert.retention, forget: (yield* AlertStore).forget },
    { kind: "sessions", retention: Duration.zero, forget: (yield* SessionStore).forget },
    { kind: "challenges", retention: Duration.zero, forget: (yield* FactorStore).forget },
    { kind: "portal_links", retention: Duration.zero, forget: (yield* PortalStore).forget },
    { kind: "kept_answers", retention: Duration.zero, forget: (yield* KeptAnswerStore).forget },
    { kind: "outbox", retention: Idempotency.retention, forget: (yield* OutboxStore).forget },
    { kind: "usage", retention: Activity.retention, forget: usage.forget },
    { kind: "short_usage", retention: Timing.shortRetention, forget: usage.forgetShort }
  ]
  return all
})

/** Deletes everything that is older than its retention as a kind's deletion begins. If the deletion of one kind fails, the others still run. */
export const round = Effect.gen(function*() {
  const storage = yield* Storage
  yield* RepeatedFailure.each(
    yield* kinds,
    ({ forget, kind, retention }) =>
      Effect.flatMap(Clock.currentTimeMillis, storage.now).pipe(
        // one time for all steps: with a later one for each, a step would find what became old during the last
        Effect.flatMap((now) =>
          forget(now - Duration.toMillis(retention), now).pipe(
            Effect.tap(({ removed }) => Metrics.retentionRemoved(kind, removed)),
            Effect.tap(({ isMore }) => isMore ? Effect.sleep(pause) : Effect.void),
            Effect.repeat({ while: ({ isMore }) => isMore })
          )
        ),
        Metrics.retentionRound(kind)
      )
  )
})

/** Exports the metrics of each kind before its first deletion, so that a deletion that never succeeds is noticed. */
const began = Effect.gen(function*() {
  const now = yield* Clock.currentTimeMillis
  for (const { kind } of yield* kinds) yield* Metrics.retentionBegan(kind, now)
})

/** Runs as long as its scope. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.suspend(() =>
    Effect.andThen(began, Effect.forkScoped(BackgroundLoop.make("deleting expired data", round, Effect.sleep(every))))
  )
)
