/**
 * Alerts (contract §12): problems that a person should look at. A problem has one alert for as long as it lasts. Pure
 * rules, no storage.
 */
import { Duration } from "effect"
import * as Campaign from "../campaigns/Campaign.ts"
import type { AlertId, WorkspaceId } from "../Id.ts"
import * as ApiKey from "../keys/ApiKey.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import * as SenderBlock from "../numbers/SenderBlock.ts"
import type { Backlog } from "../queue/QueueStore.ts"
import * as Subscription from "../subscriptions/Subscription.ts"
import type { Standing } from "../subscriptions/SubscriptionStore.ts"
import type { Template } from "../templates/Template.ts"
import { type Instant, iso } from "../Time.ts"
import * as Delivery from "../webhooks/Delivery.ts"
import type * as Webhook from "../webhooks/Webhook.ts"
import * as WebhookHealth from "../webhooks/WebhookHealth.ts"

/** The kinds of alerts. */
export const kinds = [
  "campaign_paused",
  "events_exhausted",
  "key_expires_in_1_day",
  "key_expires_in_30_days",
  "key_expires_in_7_days",
  "number_blocked",
  "number_low_quality",
  "queue_late",
  "quota_high",
  "quota_used_up",
  "subscription_behind",
  "subscription_failed",
  "template_paused",
  "webhook_failing",
  "webhook_paused",
  "webhook_pausing"
] as const
/** The kind of problem that an alert is about. */
export type Kind = (typeof kinds)[number]

/** A problem of a workspace that exists now. */
export interface Problem {
  readonly kind: Kind
  /** The id of the affected object, the name of a subscription, or the month of a quota. */
  readonly subject: string
  /** One sentence, for people. */
  readonly message: string
}

/** A problem, from when it was noticed until it ended. */
export interface Alert extends Problem {
  readonly id: AlertId
  readonly workspaceId: WorkspaceId
  readonly openedAt: Instant
  /** `null` while the problem lasts. */
  readonly closedAt: Instant | null
}

/** Where a workspace's alerts are sent; the dashboard always shows them. */
export interface Settings {
  /** Addresses that get mail, if mail is configured. */
  readonly emails: ReadonlyArray<string>
  /** Where alerts are posted, signed with the webhook's secret. */
  readonly url: string | null
}

/** No recipients. */
export const noSettings: Settings = { emails: [], url: null }

/** The maximum number of addresses. */
export const maxEmails = 20

/** How long closed alerts are kept. */
export const retention = Duration.days(365)

/** How long before a webhook's automatic pause its alert opens. */
const pausingWithin = Duration.hours(6)

/** How long before a key expires its alerts open. They close once the key has expired. */
const expirySteps: ReadonlyArray<readonly [kind: Kind, before: Duration.Duration]> = [
  ["key_expires_in_30_days", Duration.days(30)],
  ["key_expires_in_7_days", Duration.days(7)],
  ["key_expires_in_1_day", Duration.days(1)]
]

/** How recently a key must have been used for its expiry to be a problem. */
const inUseFor = Duration.days(30)

/** The filter (`ApiKeyStore.expiring`) for the keys whose alerts may be open at a time. */
export const expiringAt = (now: Instant) => ({
  now,
  until: now + Math.max(...expirySteps.map(([, before]) => Duration.toMillis(before))),
  usedSince: now - Duration.toMillis(inUseFor),
  limit: 100
})

/** How late a queued message may be before an alert opens. */
const queueLateAfter = Duration.minutes(1)

/** The fraction of the quota from which `quota_high` applies. */
const highFrom = 0.8

/** The quality ratings that open an alert: WhatsApp's `RED`, and `low` from any provider. */
const low = new Set(["red", "low"])

/** The state of a workspace that alerts depend on. */
export interface State {
  readonly now: Instant
  /** The provider that runs, as `Provider.name`. */
  readonly provider: string
  readonly webhook: (Webhook.Webhook & { readonly pausesAt: Instant | null }) | undefined
  /** The newest exhausted deliveries, to whichever webhook. */
  readonly exhausted: ReadonlyArray<Pick<Delivery.Delivery, "webhookId" | "trigger">>
  readonly numbers: ReadonlyArray<PhoneNumber>
  readonly pausedTemplates: ReadonlyArray<Template>
  readonly pausedCampaigns: ReadonlyArray<Campaign.Campaign>
  /** At least every key that the filter {@link expiringAt} selects. */
  readonly expiringKeys: ReadonlyArray<
    Pick<ApiKey.ApiKey, "id" | "name" | "prefix" | "expiresAt" | "revokedAt" | "lastUsedAt">
  >
  readonly quota: { readonly month: string; readonly used: number; readonly limit: number | null }
  readonly queue: Backlog
  readonly subscriptions: ReadonlyArray<Standing>
}

/** Lists every current problem. Pure. */
export const problems = (
  {
    exhausted,
    expiringKeys,
    now,
    numbers,
    pausedCampaigns,
    pausedTemplates,
    provider,
    queue,
    quota,
    subscriptions,
    webhook
  }: State
): ReadonlyArray<Problem> => {
  const found: Array<Problem> = []
  if (webhook !== undefined) {
    const about = (kind: Kind, message: string) => found.push({ kind, subject: webhook.id, message })
    if (webhook.pausedAt !== null) {
      about("webhook_paused", "The webhook is paused: events are held until it is resumed.")
    } else if (WebhookHealth.isFailing(webhook.health)) {
      about(
        "webhook_failing",
        `The webhook is failing: ${webhook.health.lastFailure?.message ?? "no attempt succeeds"}.`
      )
      if (webhook.pausesAt !== null && webhook.pausesAt - now <= Duration.toMillis(pausingWithin)) {
        about("webhook_pausing", "The webhook will be paused soon unless an attempt succeeds.")
      }
    }
  }
  if (webhook !== undefined && exhausted.some((one) => one.webhookId === webhook.id && !Delivery.isTest(one))) {
    found.push({
      kind: "events_exhausted",
      subject: webhook.id,
      message:
        "The receiver refused events for 24 hours while it took others: deliver them again before they are deleted."
    })
  }
  for (const { available, block, id, learned, phoneNumber, provider: itsProvider } of numbers) {
    // no message can show that the block of a number that the operator or the configuration has switched off is over
    const canSend = available && itsProvider === provider
    if (block !== null && (canSend ? SenderBlock.mayLast : SenderBlock.inForce)(block, now)) {
      const why = SenderBlock.describe(block)
      found.push({
        kind: "number_blocked",
        subject: id,
        message: SenderBlock.inForce(block, now)
          ? `Sending from ${phoneNumber} is blocked: ${why}.`
          : `Sending from ${phoneNumber} was blocked: ${why}. The next ${
            block.scope === "all" ? "message" : "template"
          } shows whether it still is.`
      })
    }
    if (learned.quality !== null && low.has(learned.quality.toLowerCase())) {
      found.push({
        kind: "number_low_quality",
        subject: id,
        message: `The provider rates the quality of ${phoneNumber} as low: customers block or report its messages.`
      })
    }
  }
  for (const { id, language, name } of pausedTemplates) {
    found.push({
      kind: "template_paused",
      subject: id,
      message: `The provider has paused the template ${name} (${language}): sends of it are refused.`
    })
  }
  for (const { id, name, pausedFor } of pausedCampaigns) {
    if (pausedFor === null || pausedFor === "person") continue
    found.push({
      kind: "campaign_paused",
      subject: id,
      message: `The campaign ${name} has paused itself: ${Campaign.describe(pausedFor)}.`
    })
  }
  for (const key of expiringKeys) {
    const { expiresAt, id, lastUsedAt, name, prefix } = key
    if (expiresAt === null || lastUsedAt === null || ApiKey.refusal(key, now) !== undefined) continue
    if (lastUsedAt <= now - Duration.toMillis(inUseFor)) continue
    for (const [kind, before] of expirySteps) {
      if (expiresAt - now > Duration.toMillis(before)) continue
      found.push({
        kind,
        subject: id,
        message: `The API key ${name} (${prefix}…) is in use and expires at ${iso(expiresAt)}: create another in time.`
      })
    }
  }
  if (queue.oldestDueAt !== null && queue.at - queue.oldestDueAt > Duration.toMillis(queueLateAfter)) {
    found.push({
      kind: "queue_late",
      subject: "queue",
      message: queue.heldSince === null
        ? "Queued messages are sent more than a minute late."
        : "Queued messages wait until a person releases them, because the database was restored from a backup."
    })
  }
  for (const { failed, name, oldestUnhandledAt } of subscriptions) {
    if (oldestUnhandledAt !== null && now - oldestUnhandledAt > Duration.toMillis(Subscription.patience)) {
      found.push({
        kind: "subscription_behind",
        subject: name,
        message: `The subscription ${name} has not handled events since ${iso(oldestUnhandledAt)}: ` +
          `retention waits for it for ${Duration.toDays(Subscription.keptFor)} days at most.`
      })
    }
    if (failed > 0) {
      found.push({
        kind: "subscription_failed",
        subject: name,
        message: `The subscription ${name} has set events aside that its handler rejected for 24 hours.`
      })
    }
  }
  const { limit, month, used } = quota
  if (limit !== null && used >= limit * highFrom) {
    found.push({ kind: "quota_high", subject: month, message: `${used} of ${limit} messages of this month are used.` })
  }
  if (limit !== null && used >= limit) {
    found.push({
      kind: "quota_used_up",
      subject: month,
      message: `All ${limit} messages of this month are used: further sends are refused.`
    })
  }
  return found
}
