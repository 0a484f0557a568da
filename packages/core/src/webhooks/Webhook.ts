/**
 * Webhooks: configuration, secrets and state (specification §3 *Webhook*, contract §6). A webhook's state is in its one
 * row: pausing or resuming it rewrites no delivery. The model and its rules; pure.
 */
import { Duration } from "effect"
import { InvalidBody } from "../Errors.ts"
import type { Envelope, EventType } from "../events/Event.ts"
import type { WebhookId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Instant } from "../Time.ts"
import * as Url from "../Url.ts"
import type { WebhookHealth } from "./WebhookHealth.ts"

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
  readonly health: WebhookHealth
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
