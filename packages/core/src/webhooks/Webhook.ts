/**
 * Webhooks: configuration, secrets, health, and the limits on attempts that follow from health (specification §3
 * *Webhook*, contract §6). A webhook's state is in its one row: pausing or resuming it rewrites no delivery. The model
 * and its rules; pure.
 */
import { Duration } from "effect"
import { InvalidBody } from "../Errors.ts"
import type { Envelope, EventType } from "../events/Event.ts"
import type { WebhookId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Instant } from "../Time.ts"
import * as Url from "../Url.ts"

/** A secret of a webhook, sealed for its row. `expiresAt` is set on the old secrets after a rotation. */
export interface WebhookSecret {
  readonly sealed: Sealed
  readonly expiresAt: Instant | null
}

/** A workspace's webhook: its configuration and its state. */
export interface Webhook {
  readonly id: WebhookId
  readonly workspaceId: WorkspaceId
  readonly url: string
  readonly envelope: Envelope
  readonly eventTypes: ReadonlyArray<EventType>
  /** Newest first. */
  readonly secrets: ReadonlyArray<WebhookSecret>
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** `null` while active. */
  readonly pausedAt: Instant | null
  /** When the webhook was last resumed. Deliveries that were pending then start a new round with their next attempt. */
  readonly resumedAt: Instant | null
  readonly health: Health
}

/** The receiver's health, from attempts for any events. */
export interface Health {
  /** Consecutive failed attempts since the last success. */
  readonly consecutiveFailures: number
  /** When the first of them ended. */
  readonly failuresSince: Instant | null
  readonly lastFailure: { readonly at: Instant; readonly message: string } | null
  readonly lastSuccessAt: Instant | null
  /** When the last success that took {@link slowAfter} or longer ended. */
  readonly slowAt: Instant | null
  /** When the last attempt ended. A failing webhook's next attempt comes at least {@link failingGap} later. */
  readonly lastAttemptAt: Instant | null
  /** Retries whose last attempt ended before this instant are due immediately, since the receiver has recovered. */
  readonly recoveredAt: Instant | null
}

/** Health before the first attempt. */
export const unknownHealth: Health = {
  consecutiveFailures: 0,
  failuresSince: null,
  lastFailure: null,
  lastSuccessAt: null,
  slowAt: null,
  lastAttemptAt: null,
  recoveredAt: null
}

/** This many consecutive failures make a webhook *failing*: it then gets one attempt at a time. */
export const failingAfter = 5

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

/**
 * A success that takes this long is slow. Most receivers respond in a tenth of it. Thirty receivers this slow, each
 * with a backlog, would occupy every healthy slot of a process and leave the others a few hundred deliveries a second.
 */
export const slowAfter = Duration.seconds(1)

/**
 * A webhook stays slow until it succeeds this long after its last slow success. It is twice an attempt's deadline, so
 * that a receiver that alternates between fast and slow does not count as healthy, while a single slow response is soon
 * forgotten.
 */
export const slowFor = Duration.seconds(10)

/** The maximum of attempts in flight to one webhook that are from its backlog. The other slots are for new events. */
export const maxDraining = 8

/** The minimum average gap between attempts of a backlog: at most 100 a second. */
export const drainGap = Duration.millis(10)

/** Whether the webhook has so many consecutive failures ({@link failingAfter}) that it gets one attempt at a time. */
export const isFailing = (health: Health): boolean => health.consecutiveFailures >= failingAfter

/** Since when the webhook has been failing; `null` if it is not. */
export const failingSince = (health: Health): Instant | null => isFailing(health) ? health.failuresSince : null

/** Whether the webhook's successes are slow. The result does not depend on the order in which attempts are recorded. */
export const isSlow = ({ lastSuccessAt, slowAt }: Health): boolean =>
  slowAt !== null && lastSuccessAt !== null && lastSuccessAt < slowAt + Duration.toMillis(slowFor)

/** Health after an attempt that ended at `at`. */
export const afterAttempt = (
  health: Health,
  attempt: { readonly at: Instant; readonly durationMs: number; readonly failure: string | null }
): Health =>
  attempt.failure === null
    ? {
      ...health,
      consecutiveFailures: 0,
      failuresSince: null,
      lastSuccessAt: Math.max(attempt.at, health.lastSuccessAt ?? attempt.at),
      slowAt: attempt.durationMs < Duration.toMillis(slowAfter)
        ? health.slowAt
        : Math.max(attempt.at, health.slowAt ?? attempt.at),
      lastAttemptAt: attempt.at,
      recoveredAt: isFailing(health) ? attempt.at : health.recoveredAt
    }
    : {
      ...health,
      consecutiveFailures: health.consecutiveFailures + 1,
      failuresSince: health.failuresSince ?? attempt.at,
      lastFailure: { at: attempt.at, message: attempt.failure },
      lastAttemptAt: attempt.at
    }

/** Whether a secret signs at `now`. */
export const isLive = ({ expiresAt }: Pick<WebhookSecret, "expiresAt">, now: Instant): boolean =>
  expiresAt === null || expiresAt > now

/** The maximum number of live secrets: as many signatures as receivers' libraries read (contract §5). */
export const maxSecrets = 8

/** How long the previous secrets still sign after a rotation, by default. */
export const secretOverlap = Duration.hours(24)

/**
 * The secrets after a rotation, newest first. Previous ones expire at `previousExpiresAt` unless they expire earlier.
 * Those that have expired by `now` are removed, and so are the oldest beyond {@link maxSecrets}.
 */
export const rotateSecrets = (
  secrets: ReadonlyArray<WebhookSecret>,
  rotation: { readonly secret: Sealed; readonly previousExpiresAt: Instant; readonly now: Instant }
): ReadonlyArray<WebhookSecret> =>
  [
    { sealed: rotation.secret, expiresAt: null },
    ...secrets
      .map(({ expiresAt, sealed }) => ({
        sealed,
        expiresAt: Math.min(expiresAt ?? rotation.previousExpiresAt, rotation.previousExpiresAt)
      }))
      .filter(({ expiresAt }) => expiresAt > rotation.now)
  ].slice(0, maxSecrets)

/**
 * What to expect of a receiver. A *doubtful* receiver has failed since its last success, has never succeeded, or is
 * slow ({@link isSlow}). It must not take the slots of healthy receivers in a process.
 */
export type Standing = "healthy" | "doubtful"

/** The standing that follows from a webhook's health. */
export const standing = (health: Health): Standing =>
  health.consecutiveFailures === 0 && health.lastSuccessAt !== null && !isSlow(health) ? "healthy" : "doubtful"

/**
 * How many attempts may be in flight at once, by health alone. A slow webhook needs at least as many as a healthy one.
 */
export const slots = (health: Health): number => {
  if (isFailing(health)) return 1
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

/** Changes a webhook's configuration. Its id, secrets, state and health stay. */
export const configure = (
  webhook: Webhook,
  { envelope, eventTypes, updatedAt, url }: Pick<Webhook, "url" | "envelope" | "eventTypes" | "updatedAt">
): Webhook => ({ ...webhook, url, envelope, eventTypes, updatedAt })

/** Pauses a webhook at `now`. A paused webhook stays as it is. */
export const pause = (webhook: Webhook, now: Instant): Webhook =>
  webhook.pausedAt === null ? { ...webhook, pausedAt: now } : webhook

/**
 * Resumes a webhook at `now`, or just after its last attempt if a clock was ahead. An active webhook stays as it is.
 * Its health stays, since only a response shows whether it has recovered.
 */
export const resume = (webhook: Webhook, now: Instant): Webhook => {
  if (webhook.pausedAt === null) return webhook
  const before = Math.max(webhook.health.lastAttemptAt ?? -Infinity, webhook.resumedAt ?? -Infinity)
  return { ...webhook, pausedAt: null, resumedAt: Math.max(now, before + 1) }
}

/** When a failing webhook's next attempt may begin; `null` if only attempts in flight limit it. */
export const nextSlotAt = (health: Health): Instant | null =>
  isFailing(health) && health.lastAttemptAt !== null ? health.lastAttemptAt + Duration.toMillis(failingGap) : null

const refusedUrl = (message: string) => new InvalidBody({ reason: "invalid_field", param: "url", message })

/**
 * Checks the form of a receiver URL: `https` (also `http` if the operator allows insecure receivers), without user,
 * password or port 0, and at most {@link Url.maxLength} characters. `ReceiverGuard` checks its address.
 */
export const parseUrl = (text: string, options: { readonly allowInsecure: boolean }): URL | InvalidBody => {
  // parsers drop surrounding white space and inner line breaks, but the URL is stored as given
  if (/^ |\p{Cc}| $/u.test(text) || !URL.canParse(text)) return refusedUrl("url must be an absolute URL")
  const url = new URL(text)
  // the written URL is stored, in which a character may have become nine
  if (url.href.length > Url.maxLength) {
    return refusedUrl(`url must be at most ${Url.maxLength} characters, with characters outside ASCII encoded`)
  }
  if (url.protocol !== "https:" && !(options.allowInsecure && url.protocol === "http:")) {
    const unless = url.protocol === "http:" ? "; the operator of this service can allow http" : ""
    return refusedUrl(options.allowInsecure ? "url must be an https or http URL" : `url must be an https URL${unless}`)
  }
  if (url.username !== "" || url.password !== "") return refusedUrl("url must not contain a user name or a password")
  // a URL may name port 0, but nothing can connect to it
  if (url.port === "0") return refusedUrl("url must not use port 0")
  return url
}
