/**
 * Port: deliveries, as the scheduler claims and completes them. `DeliveryStep` says what its transitions decide.
 */
import { Context, Duration, type Effect, type Option } from "effect"
import type { Event, EventType } from "../events/Event.ts"
import type { DeliveryId, MessageId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as Delivery from "./Delivery.ts"
import type { BeginTest, ClaimedName, Complete } from "./DeliveryStep.ts"
import * as Webhook from "./Webhook.ts"

/** A delivery that its claimer now owns, and what an attempt needs. */
export interface ClaimedDelivery {
  readonly delivery: Delivery.Delivery
  readonly event: Event
  readonly url: string
  /** Live ones, newest first, sealed for the webhook's row. */
  readonly secrets: ReadonlyArray<Webhook.WebhookSecret>
  /** The webhook's when it was claimed: against which limit the attempt counts. */
  readonly standing: Webhook.Standing
  /** Whether it was of the webhook's backlog then (`Delivery.line`). */
  readonly isBacklog: boolean
  /** The storage's time when it was claimed (`StorageTime`), by which its attempt is dated. */
  readonly at: Instant
}

/** A delivery as it is claimed now. */
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
  standing: Webhook.standing(webhook.health),
  at: now,
  isBacklog: Delivery.line(delivery, webhook) === "backlog"
})

/** What a claim gave. */
export interface Claimed {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** The storage's time (`StorageTime`), to which `nextDueAt` belongs. */
  readonly at: Instant
  /** When to ask again, should nothing wake the claimer before: `null` when nothing waits for a time. */
  readonly nextDueAt: Instant | null
}

/** Which deliveries. */
export interface DeliveryFilter {
  /** As it is shown. A test that is being made is listed under no status. */
  readonly status?: Delivery.DeliveryStatus
  readonly eventType?: EventType
  /** Of events of the life of that message. */
  readonly messageId?: MessageId
  /** Of the last attempt. */
  readonly outcome?: Delivery.AttemptOutcome
  /** That the last attempt was answered with. */
  readonly statusCode?: number
  /** Recorded at or after this time. */
  readonly since?: Instant
  /** Recorded before this time. */
  readonly until?: Instant
}

/**
 * How many deliveries a page with a filter looks at, at most, but for the status and the message: these have an index,
 * and another one would be paid for by every event.
 */
export const lookedAt = 10_000

/** The ids of an event and of its delivery are made together: they are not further apart than this. */
export const idsApart = Duration.seconds(5)

/** Whether a delivery is one of those, but for its message. Pure. */
export const isOf = (
  { eventType, outcome, since, status, statusCode, until }: DeliveryFilter,
  { delivery, ...shown }: DeliveryView,
  last: Pick<Delivery.Attempt, "outcome" | "statusCode"> | undefined
): boolean =>
  (status === undefined || shown.status === status && !(Delivery.isTest(delivery) && Delivery.isOpen(delivery))) &&
  (eventType === undefined || delivery.eventType === eventType) &&
  (outcome === undefined || last?.outcome === outcome) &&
  (statusCode === undefined || last?.statusCode === statusCode) &&
  (since === undefined || delivery.createdAt >= since) &&
  (until === undefined || delivery.createdAt < until)

/** A delivery as a person is shown it. */
export interface DeliveryView {
  readonly delivery: Delivery.Delivery
  readonly status: Delivery.DeliveryStatus
  /** That it goes to, or went to: one that was removed is not paused. */
  readonly webhook: Pick<Webhook.Webhook, "id" | "pausedAt">
}

/** A delivery to a webhook, shown. */
export const viewOf = (
  delivery: Delivery.Delivery,
  { id, pausedAt }: Pick<Webhook.Webhook, "id" | "pausedAt">
): DeliveryView => ({
  delivery,
  status: Delivery.statusShown(delivery, { pausedAt }),
  webhook: { id, pausedAt }
})

/** What waits, over all workspaces, for whoever runs the service. */
export interface BacklogReport {
  /** Since when the delivery that is longest due waits to be attempted; `null` when none is due. */
  readonly oldestDueAt: Instant | null
  readonly pausedWebhooks: number
  /** Failing ones that are not paused. */
  readonly failingWebhooks: number
  /** Deliveries without an end, held ones included: exact up to {@link countedExactly}, an estimate beyond. */
  readonly pending: number
  /**
   * Webhooks by how much each has waiting, for every one of {@link backlogSizes}: how many there are that are not
   * paused, have a delivery due, and at least so many without an end. Beyond a thousand, those first in line.
   */
  readonly webhooksByBacklog: ReadonlyArray<number>
}

/** Up to so many deliveries are counted one by one. */
export const countedExactly = 10_000

/** Powers of ten up to a hundred: of each webhook no more are counted, so that a report has a bounded cost. */
export const backlogSizes = [1, 10, 100] as const

export class DeliveryStore extends Context.Service<DeliveryStore, {
  /**
   * Claims deliveries that are due (`Delivery.dueAt`), until `leaseUntil`: up to `limit.healthy` of healthy webhooks
   * and up to `limit.doubtful` of others (`Webhook.standing`); one whose lease ended is due again. Fair over webhooks:
   * they take turns, of several deliveries where many are asked for, and one that had nothing due goes before those
   * that have just had theirs. Within a webhook the lines go one after the other while it is failing (`Delivery.line`),
   * else who has waited for longest comes first (`Delivery.place`); never more than `Webhook.freeSlots`, and of its
   * backlog never more than `Webhook.drainSlots`. A delivery is claimed by one claimer at a time; of one order key only
   * the first open sequence is ever due. `nextDueAt` leaves out whom a limit of 0 kept from being asked for.
   * Attempts in flight, tests among them, take a slot each.
   */
  readonly claimDue: (command: {
    readonly now: Instant
    readonly limit: { readonly [standing in Webhook.Standing]: number }
    readonly token: string
    readonly leaseUntil: Instant
  }) => Effect.Effect<Claimed, StoreError>
  /**
   * Records a test event with a delivery to the workspace's webhook, whichever types that wants, and claims it at once
   * until `leaseUntil`, also while the webhook is paused. It is never due: a claim of it that was given back, or whose
   * lease ended without a record, ends it (`exhausted`) as soon as `claimDue` is called. `None` without a webhook.
   */
  readonly beginTest: (command: BeginTest) => Effect.Effect<Option.Option<ClaimedDelivery>, StoreError>
  /**
   * Records an attempt and applies `Delivery.afterAttempt` to delivery and webhook in one step, only under the claim's
   * token; when the delivery has ended, the next of its order key is due at `now`. False, and nothing changed, when
   * the claim was lost.
   */
  readonly complete: (command: Complete) => Effect.Effect<boolean, StoreError>
  /** Gives claims back without counting an attempt; they are due again as before. Lost claims are passed over. */
  readonly release: (token: string, deliveries: ReadonlyArray<ClaimedName>) => Effect.Effect<void, StoreError>
  /**
   * Suspends until something may have become due for another reason than time passing: a hint, which may come late
   * or not at all, so claimers look by themselves too.
   */
  readonly awaitHint: Effect.Effect<void>
  /**
   * Begins a new round of a delivery, by `Delivery.newRound` with the trigger `manual`; while the webhook is paused it
   * is held like others. A claim stays: nothing is attempted twice at once. `None`, and nothing changed, when there is
   * no such delivery to the workspace's present webhook, or when it is a test.
   */
  readonly retry: (
    workspaceId: WorkspaceId,
    id: DeliveryId,
    now: Instant
  ) => Effect.Effect<Option.Option<DeliveryView>, StoreError>
  /**
   * Writes out what a resume or a removal has skipped: up to `limit` deliveries, and frees those that waited for them
   * as of `now`. Skipped they are already, wherever they are shown or claimed. How many it wrote; 0 when none is left.
   */
  readonly tidySkipped: (now: Instant, limit: number) => Effect.Effect<number, StoreError>
  /** What waits over all workspaces, at a bounded cost. */
  readonly backlog: (now: Instant) => Effect.Effect<BacklogReport, StoreError>
  /**
   * Deliveries of the workspace, newest first. With a filter but the status and the message a page may hold fewer than
   * its limit, or none, and go on all the same: it ends at the latest after {@link lookedAt} deliveries.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: DeliveryFilter,
    page: PageRequest
  ) => Effect.Effect<Page<DeliveryView>, StoreError>
  /** One delivery with its attempts, oldest first. */
  readonly get: (
    workspaceId: WorkspaceId,
    id: DeliveryId
  ) => Effect.Effect<
    Option.Option<DeliveryView & { readonly attempts: ReadonlyArray<Delivery.Attempt> }>,
    StoreError
  >
}>()("@wac/core/webhooks/DeliveryStore") {}
