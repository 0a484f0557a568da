/**
 * How many attempts to a webhook may be in flight at once, and when the next may begin: limits that follow from its
 * health (`WebhookHealth`), and a smaller share for its backlog. Pure rules.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"
import type { Webhook } from "./Webhook.ts"
import * as WebhookHealth from "./WebhookHealth.ts"

/** The minimum time between a failing webhook's attempts. */
export const failingGap = Duration.seconds(1)

/** The maximum of attempts in flight to a webhook whose last attempt succeeded. */
export const maxInFlight = 16

/**
 * The maximum of attempts in flight to a webhook that has failed since its last success: enough to learn its state, and
 * few enough that a dead receiver ties up little.
 */
export const maxInDoubt = 4

/** The maximum of attempts in flight to a webhook that has never succeeded. Its first success gives it all slots. */
export const maxUnproven = 1

/** The maximum of attempts in flight to one webhook that are from its backlog. The other slots are for new events. */
export const maxDraining = 8

/** The minimum average gap between attempts of a backlog: at most 100 a second. */
export const drainGap = Duration.millis(10)

/**
 * How many attempts may be in flight at once, by health alone. A slow webhook needs at least as many as a healthy one.
 */
export const slots = (health: WebhookHealth.WebhookHealth): number => {
  if (WebhookHealth.isFailing(health)) return 1
  if (health.lastSuccessAt === null) return maxUnproven
  return health.consecutiveFailures === 0 ? maxInFlight : maxInDoubt
}

/** How many more attempts may begin now, with `inFlight` under way. */
export const freeSlots = (webhook: Pick<Webhook, "pausedAt" | "health">, inFlight: number, now: Instant): number => {
  if (webhook.pausedAt !== null) return 0
  const opensAt = nextSlotAt(webhook.health)
  return opensAt !== null && opensAt > now ? 0 : Math.max(0, slots(webhook.health) - inFlight)
}

/** The draining of a webhook's backlog: its attempts in flight, and when the next may begin. */
export interface Drain {
  readonly inFlight: number
  readonly nextAt: Instant
}

/** How many of `free` slots the backlog may take now. */
export const drainSlots = (drain: Drain, free: number, now: Instant): number =>
  drain.nextAt > now ? 0 : Math.max(0, Math.min(free, maxDraining - drain.inFlight))

/** When the backlog's next attempt may begin after `taken` have begun now. */
export const nextDrainAt = ({ nextAt }: Pick<Drain, "nextAt">, taken: number, now: Instant): Instant =>
  Math.max(nextAt, now) + taken * Duration.toMillis(drainGap)

/** When a failing webhook's next attempt may begin; `null` if only attempts in flight limit it. */
export const nextSlotAt = (health: WebhookHealth.WebhookHealth): Instant | null =>
  WebhookHealth.isFailing(health) && health.lastAttemptAt !== null
    ? health.lastAttemptAt + Duration.toMillis(failingGap)
    : null
