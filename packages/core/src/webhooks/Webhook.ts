/**
 * Webhook configuration and health (specification §3 *Webhook*, contract §6). A webhook's state lives on its one row:
 * pausing or resuming it rewrites no delivery.
 */
import { Duration } from "effect"
import { InvalidBody } from "../Errors.ts"
import type { Envelope, EventType } from "../events/Event.ts"
import type { WebhookId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Instant } from "../Time.ts"

/** One secret of a webhook, sealed for its row; `expiresAt` is set on the old one while a rotation overlaps. */
export interface WebhookSecret {
  readonly sealed: Sealed
  readonly expiresAt: Instant | null
}

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
  /** When it was last resumed: whatever was pending then starts a new round with its next attempt. */
  readonly resumedAt: Instant | null
  readonly health: Health
}

/** What attempts, of whatever events, have told of the receiver. */
export interface Health {
  /** Failed attempts in a row, with no success between. */
  readonly consecutiveFailures: number
  /** When the first of them ended. */
  readonly failuresSince: Instant | null
  readonly lastFailure: { readonly at: Instant; readonly message: string } | null
  readonly lastSuccessAt: Instant | null
  /** When the last success ended that took {@link slowAfter} or more. */
  readonly slowAt: Instant | null
  /** When the last attempt ended: a failing webhook gets the next no sooner than {@link failingGap} later. */
  readonly lastAttemptAt: Instant | null
  /** Retries whose last attempt ended before this are due at once: the receiver has recovered. */
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

/** So many failures in a row make a webhook *failing*: it then gets one attempt at a time. */
export const failingAfter = 5

/** A failing webhook's attempts are at least this far apart. */
export const failingGap = Duration.seconds(1)

/** Attempts in flight to one webhook whose last attempt succeeded. */
export const maxInFlight = 16

/** To one that has failed since its last success: enough to learn how it is, and few that a dead one can keep waiting. */
export const maxInDoubt = 4

/** To one that has never succeeded: nothing speaks for it, and its first success gives it all slots. */
export const maxUnproven = 1

/**
 * A success that took so long is slow. Most receivers answer in a tenth of it; thirty that take it, with a backlog, have
 * all places of the healthy in a process, and leave others a few hundred a second.
 */
export const slowAfter = Duration.seconds(1)

/**
 * A webhook is slow until it succeeds so long after its last slow success: twice the deadline of an attempt, so that one
 * that answers now in time and now late is not taken for healthy in between, while one late answer soon is forgotten.
 */
export const slowFor = Duration.seconds(10)

/** Of the attempts in flight to one webhook so many are of its backlog at most: the others are for what is new. */
export const maxDraining = 8

/** Attempts of a backlog begin at least this far apart on average: at most 100 a second. */
export const drainGap = Duration.millis(10)

/** Whether it has failed so often in a row that it gets one attempt at a time. */
export const isFailing = (health: Health): boolean => health.consecutiveFailures >= failingAfter

/** Since when it has been failing; `null` while it is not. */
export const failingSince = (health: Health): Instant | null => isFailing(health) ? health.failuresSince : null

/** Whether its successes take long. In whichever order attempts are recorded, this comes out the same. */
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

/** How many secrets may be live at once: as many as receivers' libraries read signatures (contract §5). */
export const maxSecrets = 8

/** For how long the secrets before a rotation go on signing, unless it says otherwise. */
export const secretOverlap = Duration.hours(24)

/**
 * The secrets after a rotation, newest first: those before expire at `previousExpiresAt` unless they expire sooner, and
 * those that have expired by `now` go, as do the oldest beyond {@link maxSecrets}.
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
 * What is to be expected of a receiver. *Doubtful* is one that has failed since its last success, never succeeded, or is
 * slow ({@link isSlow}): it must not take the places of healthy ones in a process.
 */
export type Standing = "healthy" | "doubtful"

/** What is to be expected of a receiver by its health. */
export const standing = (health: Health): Standing =>
  health.consecutiveFailures === 0 && health.lastSuccessAt !== null && !isSlow(health) ? "healthy" : "doubtful"

/** How many attempts may be in flight at once, by health alone. A slow webhook needs as many as a healthy one, or more. */
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

/** How a webhook's backlog goes: its attempts in flight, and when the next may begin. */
export interface Drain {
  readonly inFlight: number
  readonly nextAt: Instant
}

/** How many of `free` slots its backlog may take now. */
export const drainSlots = (drain: Drain, free: number, now: Instant): number =>
  drain.nextAt > now ? 0 : Math.max(0, Math.min(free, maxDraining - drain.inFlight))

/** When the next attempt of the backlog may begin after `taken` of it have begun now. */
export const nextDrainAt = ({ nextAt }: Pick<Drain, "nextAt">, taken: number, now: Instant): Instant =>
  Math.max(nextAt, now) + taken * Duration.toMillis(drainGap)

/** A webhook that is set once more: id, secrets, state and health stay. */
export const configure = (
  webhook: Webhook,
  { envelope, eventTypes, updatedAt, url }: Pick<Webhook, "url" | "envelope" | "eventTypes" | "updatedAt">
): Webhook => ({ ...webhook, url, envelope, eventTypes, updatedAt })

/** Paused at `now`, by whomever; one that is paused already stays as it is. */
export const pause = (webhook: Webhook, now: Instant): Webhook =>
  webhook.pausedAt === null ? { ...webhook, pausedAt: now } : webhook

/**
 * Resumed at `now`, or just after the last attempt if a clock was ahead; an active one stays as it is. Its health stays:
 * only an answer tells whether it has recovered.
 */
export const resume = (webhook: Webhook, now: Instant): Webhook => {
  if (webhook.pausedAt === null) return webhook
  const before = Math.max(webhook.health.lastAttemptAt ?? -Infinity, webhook.resumedAt ?? -Infinity)
  return { ...webhook, pausedAt: null, resumedAt: Math.max(now, before + 1) }
}

/** When a failing webhook's next attempt may begin; `null` when nothing but attempts in flight holds it back. */
export const nextSlotAt = (health: Health): Instant | null =>
  isFailing(health) && health.lastAttemptAt !== null ? health.lastAttemptAt + Duration.toMillis(failingGap) : null

/** How long a receiver URL may be. */
export const maxUrlLength = 2048

const refusedUrl = (message: string) => new InvalidBody({ reason: "invalid_field", param: "url", message })

/**
 * Checks the form of a receiver URL: `https` (`http` too when the operator allows insecure receivers), no user,
 * password or port 0, at most {@link maxUrlLength} characters. Its address is judged by `ReceiverGuard`.
 */
export const parseUrl = (text: string, options: { readonly allowInsecure: boolean }): URL | InvalidBody => {
  if (text.length > maxUrlLength) return refusedUrl(`url must be at most ${maxUrlLength} characters`)
  // parsers take white space off the ends, and line ends out of the middle: what is kept is what was given
  if (/^ |\p{Cc}| $/u.test(text) || !URL.canParse(text)) return refusedUrl("url must be an absolute URL")
  const url = new URL(text)
  if (url.protocol !== "https:" && !(options.allowInsecure && url.protocol === "http:")) {
    return refusedUrl(options.allowInsecure ? "url must be an https or http URL" : "url must be an https URL")
  }
  if (url.username !== "" || url.password !== "") return refusedUrl("url must not hold a user or a password")
  // URLs may name it, but nobody can connect to it
  if (url.port === "0") return refusedUrl("url must not name port 0")
  return url
}
