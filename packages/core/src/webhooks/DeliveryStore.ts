/**
 * Port: deliveries, which the scheduler claims and completes, and people list and retry. `DeliveryStep` decides its
 * transitions.
 */
import { Context, Duration, type Effect, type Option } from "effect"
import type { Event, EventType } from "../events/Event.ts"
import type { DeliveryId, MessageId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as Delivery from "./Delivery.ts"
import type { BeginTest, ClaimedName, Complete } from "./DeliveryStep.ts"
import * as Webhook from "./Webhook.ts"
import * as WebhookHealth from "./WebhookHealth.ts"

/** A claimed delivery, with everything that its attempt needs. */
export interface ClaimedDelivery {
  readonly delivery: Delivery.Delivery
  readonly event: Event
  readonly url: string
  /** The live secrets, newest first, sealed for the webhook's row. */
  readonly secrets: ReadonlyArray<Webhook.WebhookSecret>
  /** The webhook's standing when claimed, which determines the limit that the attempt counts against. */
  readonly standing: WebhookHealth.Standing
  /** Whether the delivery was in the webhook's backlog when claimed (`Delivery.line`). */
  readonly isBacklog: boolean
  /** The storage's time when claimed (`StorageTime`), which dates the attempt. */
  readonly at: Instant
}

/** A delivery as it is claimed at `now`. */
export const claimedOf = (
  { delivery, event, webhook }: {
    readonly delivery: Delivery.Delivery
    readonly event: Event
    readonly webhook: Webhook.Webhook
  },
  now: Instant
): ClaimedDelivery => ({
  delivery,
  event,
  url: webhook.url,
  secrets: webhook.secrets.filter((secret) => Webhook.isLive(secret, now)),
  standing: WebhookHealth.standing(webhook.health),
  at: now,
  isBacklog: Delivery.line(delivery, webhook) === "backlog"
})

/** The result of a claim. */
export interface Claimed {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** The storage's time (`StorageTime`), on which `nextDueAt` is based. */
  readonly at: Instant
  /** When to claim again unless a hint comes earlier; `null` if nothing is scheduled. */
  readonly nextDueAt: Instant | null
}

/** Which deliveries to list. */
export interface DeliveryFilter {
  /** The status as shown. A test in progress has no status to be found by. */
  readonly status?: Delivery.DeliveryStatus
  readonly eventType?: EventType
  /** Deliveries of events about this message. */
  readonly messageId?: MessageId
  /** The outcome of the last attempt. */
  readonly outcome?: Delivery.AttemptOutcome
  /** The status code of the last attempt. */
  readonly statusCode?: number
  /** Recorded at or after this time. */
  readonly since?: Instant
  /** Recorded before this time. */
  readonly until?: Instant
}

/** The maximum distance between the creation times of an event's id and of its delivery's id. */
export const idsApart = Duration.seconds(5)

/** Whether a delivery passes the filter, apart from `messageId`. Pure. */
export const isOf = (
  { eventType, outcome, since, status, statusCode, until }: DeliveryFilter,
  { delivery, lastAttempt, ...shown }: ListedDelivery
): boolean =>
  (status === undefined || shown.status === status && !(Delivery.isTest(delivery) && Delivery.isOpen(delivery))) &&
  (eventType === undefined || delivery.eventType === eventType) &&
  (outcome === undefined || lastAttempt?.outcome === outcome) &&
  (statusCode === undefined || lastAttempt?.statusCode === statusCode) &&
  (since === undefined || delivery.createdAt >= since) &&
  (until === undefined || delivery.createdAt < until)

/** A delivery as people see it. */
export interface DeliveryView {
  readonly delivery: Delivery.Delivery
  readonly status: Delivery.DeliveryStatus
  /** The delivery's webhook. A removed webhook is not paused. */
  readonly webhook: Pick<Webhook.Webhook, "id" | "pausedAt">
}

/** The view of a delivery to a webhook. */
export const viewOf = (
  delivery: Delivery.Delivery,
  { id, pausedAt }: Pick<Webhook.Webhook, "id" | "pausedAt">
): DeliveryView => ({
  delivery,
  status: Delivery.statusShown(delivery, { pausedAt }),
  webhook: { id, pausedAt }
})

/** A delivery as a list shows it. */
export interface ListedDelivery extends DeliveryView {
  /** The customer that its event is about (`Event.customerOf`). */
  readonly customer: string | null
  /** The outcome of its last attempt; `null` if none ended, or if it is no longer kept. */
  readonly lastAttempt: Pick<Delivery.Attempt, "outcome" | "statusCode"> | null
}

/** The backlog of all workspaces, for operators. */
export interface BacklogReport {
  /** The due time of the delivery that has been due longest; `null` if none is due. */
  readonly oldestDueAt: Instant | null
  readonly pausedWebhooks: number
  /** Failing webhooks that are not paused. */
  readonly failingWebhooks: number
  /** Deliveries that have not ended, including held ones: exact up to {@link countedExactly}, an estimate beyond. */
  readonly pending: number
  /**
   * For each of {@link backlogSizes}, the number of webhooks that are not paused, have a delivery due, and have at
   * least that many deliveries that have not ended. Covers the first thousand webhooks in line.
   */
  readonly webhooksByBacklog: ReadonlyArray<number>
}

/** Deliveries are counted exactly up to this number. */
export const countedExactly = 10_000

/** Powers of ten up to a hundred. No more deliveries are counted for a webhook, so that a report has a bounded cost. */
export const backlogSizes = [1, 10, 100] as const

export class DeliveryStore extends Context.Service<DeliveryStore, {
  /**
   * Claims due deliveries (`Delivery.dueAt`) until `leaseUntil`: up to `limit.healthy` of healthy webhooks and up to
   * `limit.doubtful` of others (`WebhookHealth.standing`). A claim whose lease has ended is due again.
   *
   * Fair across webhooks: they take turns, with several deliveries a turn if many are requested, and a webhook that had
   * nothing due goes before those that have just had a turn. Within a failing webhook the last attempt of a round goes
   * first (`Delivery.endsRound`), then the queues one after another (`Delivery.line`); otherwise the delivery that has
   * waited longest comes first (`Delivery.place`). Never takes more than `AttemptSlots.freeSlots`, nor more than
   * `AttemptSlots.drainSlots` of the backlog. A delivery has one claimer at a time, and only the first open sequence of
   * an order key is ever due. `nextDueAt` ignores webhooks whose standing has a limit of 0. Each attempt in flight,
   * tests included, takes a slot.
   */
  readonly claimDue: (command: {
    readonly now: Instant
    readonly limit: { readonly [standing in WebhookHealth.Standing]: number }
    readonly token: string
    readonly leaseUntil: Instant
  }) => Effect.Effect<Claimed, StoreError>
  /**
   * Records a test event with a delivery to the workspace's webhook, whatever types the webhook subscribes to, and
   * claims it immediately until `leaseUntil`, even while the webhook is paused. The delivery is never due: if its claim
   * is released, or its lease ends without a record, the next `claimDue` ends it (`exhausted`). `None` without a
   * webhook.
   */
  readonly beginTest: (command: BeginTest) => Effect.Effect<Option.Option<ClaimedDelivery>, StoreError>
  /**
   * Records an attempt and applies `Delivery.afterAttempt` to the delivery and its webhook in one step, if the token
   * still holds the claim. When the delivery has ended, the next one of its order key is due at `now`. If the claim was
   * lost, returns false and changes nothing.
   */
  readonly complete: (command: Complete) => Effect.Effect<boolean, StoreError>
  /** Releases claims without counting an attempt. The deliveries are due again as before. Lost claims are ignored. */
  readonly release: (token: string, deliveries: ReadonlyArray<ClaimedName>) => Effect.Effect<void, StoreError>
  /**
   * Suspends until a delivery may have become due for a reason other than time. This is a hint, which may come late or
   * never, so claimers also poll.
   */
  readonly awaitHint: Effect.Effect<void>
  /**
   * Starts a new round of a delivery (`Delivery.newRound`, trigger `manual`). While the webhook is paused, it is held
   * like others. An existing claim stays, so nothing is attempted twice concurrently. `None`, and no change, if the
   * workspace's present webhook has no such delivery or if it is a test.
   */
  readonly retry: (
    workspaceId: WorkspaceId,
    id: DeliveryId,
    now: Instant
  ) => Effect.Effect<Option.Option<DeliveryView>, StoreError>
  /**
   * Writes the status of up to `limit` deliveries that a resume or a removal skipped, and makes those that waited for
   * them due at `now`. They already count as skipped wherever they are shown or claimed. Returns how many it wrote; 0
   * if none is left.
   */
  readonly tidySkipped: (now: Instant, limit: number) => Effect.Effect<number, StoreError>
  /** The backlog of all workspaces, at a bounded cost. */
  readonly backlog: (now: Instant) => Effect.Effect<BacklogReport, StoreError>
  /**
   * Deliveries of the workspace, newest first. The message and every status but `delivered` have an index; with another
   * filter a page reads at most `Page.maxScanned` deliveries.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: DeliveryFilter,
    page: PageRequest
  ) => Effect.Effect<Page<ListedDelivery>, StoreError>
  /** A delivery with its attempts, oldest first. */
  readonly get: (
    workspaceId: WorkspaceId,
    id: DeliveryId
  ) => Effect.Effect<
    Option.Option<ListedDelivery & { readonly attempts: ReadonlyArray<Delivery.Attempt> }>,
    StoreError
  >
  /**
   * Deletes a bounded number of attempts that began before a time, of deliveries recorded before it. The deliveries
   * stay.
   */
  readonly forgetAttempts: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/webhooks/DeliveryStore") {}
