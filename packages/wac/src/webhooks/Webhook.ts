/**
 * The workspace's webhook: where its events are posted (specification §6, contract §6), with its deliveries and
 * replays.
 */
import { DeliveriesApi, ReplaysApi, WebhookApi } from "@wac/api"
import {
  Deliveries as DeliveriesService,
  type Id,
  Replays as ReplaysService,
  Time,
  Webhook as Core,
  Webhooks
} from "@wac/core"
import { DeliveriesHandlers, ReplaysHandlers, WebhookHandlers } from "@wac/http"
import { DateTime, Duration, Effect, Redacted, Schema } from "effect"
import type { EventType } from "../generated/Event.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import { inMillis, iso, type Moment, written } from "../Moment.ts"
import type { Running } from "../Running.ts"

/**
 * The shape of the body. `combined` is the union of the two shapes in the specification; `a` and `b` are each exactly
 * one of them.
 */
export type Envelope = "combined" | "a" | "b"

/** A webhook's configuration. */
export interface WebhookConfiguration {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: Envelope
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
}

/** A webhook and its health, without secrets. */
export interface WebhookStatus extends WebhookConfiguration {
  /** `null` while it is not failing. */
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: { readonly at: string; readonly message: string } | null
}

/** A webhook with its waiting deliveries. They are counted: a million take a fraction of a second. */
export interface WebhookState extends WebhookStatus {
  /** When it will be paused unless an attempt succeeds. */
  readonly pausesAt: string | null
  /** Deliveries that wait for a resume. */
  readonly heldCount: number
  readonly oldestHeldAt: string | null
}

/** The webhook after it was set. */
export interface SetWebhook extends WebhookConfiguration {
  /** The secret that signs its deliveries, `whsec_…`. Returned once, when the webhook is created. */
  readonly signingSecret?: string
}

/** The configuration of a webhook. */
export interface NewWebhook {
  /** An https URL with a public address. */
  readonly url: string
  /** Defaults to `combined`. */
  readonly envelope?: Envelope
  /** Defaults to all types. */
  readonly eventTypes?: ReadonlyArray<EventType>
}

/** `pending` is in progress and `held` waits for the webhook's resume; the others are final. */
export type DeliveryStatus = "pending" | "held" | "delivered" | "exhausted" | "skipped"

/** The delivery of one event to the webhook. */
export interface Delivery {
  readonly id: string
  readonly eventId: string
  readonly eventType: EventType
  readonly status: DeliveryStatus
  readonly attemptCount: number
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly completedAt: string | null
}

/** One POST to the receiver. */
export interface Attempt {
  readonly id: string
  /** Counted from 1. */
  readonly number: number
  readonly trigger: "automatic" | "manual" | "replay" | "test" | "probe"
  readonly startedAt: string
  readonly durationMs: number
  readonly outcome: "delivered" | "dns" | "connect" | "tls" | "timeout" | "status" | "redirect" | "blocked_address"
  readonly statusCode: number | null
  /** How it ended, in one sentence. */
  readonly message: string
  /** How long each phase took; `null` for a phase that was not needed or not reached. */
  readonly timings: {
    readonly lookupMs: number | null
    readonly connectMs: number | null
    readonly tlsMs: number | null
    readonly firstByteMs: number | null
    readonly bodyMs: number | null
  } | null
  /** What was posted, without signatures. */
  readonly request: {
    readonly url: string
    readonly headers: { readonly [name: string]: string }
    readonly body: string
    readonly address: string | null
  }
  /** The receiver's response, with at most 16 KiB of its body. */
  readonly response: { readonly headers: { readonly [name: string]: string }; readonly body: string } | null
}

export interface DeliveryDetail extends Delivery {
  /** Oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
}

/** Which deliveries: all given fields must match. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus
  readonly eventType?: EventType
  /** Only deliveries of events about this message. */
  readonly messageId?: string
  /** The outcome of the last attempt. */
  readonly outcome?: Attempt["outcome"]
  /** The status code of the last attempt. */
  readonly statusCode?: number
  /** Only deliveries created at or after this time. */
  readonly since?: Moment
  /** Only deliveries created before this time. */
  readonly until?: Moment
}

/** Deliveries to the webhook. */
export interface Deliveries {
  /**
   * Newest first. A page with a filter other than `status` and `messageId` may have fewer items than its limit, or
   * none, before the end of the list.
   */
  readonly list: (filter?: DeliveryFilter) => Listing.Listing<Delivery>
  readonly get: (id: string) => Promise<DeliveryDetail>
  /** Retries it immediately and then by a new run of the retry schedule, even if it has ended. */
  readonly retry: (id: string) => Promise<Delivery>
}

/** A job that delivers a range of events again. */
export interface Replay {
  readonly id: string
  readonly state: "running" | "completed" | "cancelled"
  readonly since: string
  readonly until: string
  readonly status: "delivered" | "exhausted" | "skipped" | null
  /** How many deliveries it covers; `null` until known. */
  readonly total: number | null
  readonly replayed: number
  readonly createdAt: string
  readonly completedAt: string | null
}

/** Which events to deliver again. */
export interface NewReplay {
  /** Events recorded at or after this time, */
  readonly since: Moment
  /** and before this time. Defaults to now. */
  readonly until?: Moment
  /** Only deliveries that ended with this status. Defaults to all that have ended. */
  readonly status?: "delivered" | "exhausted" | "skipped"
}

/** Replay jobs. */
export interface Replays {
  /** Delivers the events recorded in a range of time again, oldest first, at a bounded rate. */
  readonly create: (replay: NewReplay) => Promise<Replay>
  /** Newest first. */
  readonly list: () => Listing.Listing<Replay>
  readonly get: (id: string) => Promise<Replay>
  /** Cancels a job. Deliveries that it has already retried continue. */
  readonly cancel: (id: string) => Promise<void>
}

/** The one webhook of a workspace. */
export interface Webhook {
  /** Sets the workspace's one webhook as a whole. A change keeps its id, secret and state. */
  readonly set: (webhook: NewWebhook) => Promise<SetWebhook>
  /** Rejects with `not_found` if none is set. */
  readonly get: () => Promise<WebhookState>
  readonly remove: () => Promise<void>
  /** Posts a `webhook.test` event and returns the one attempt at it. */
  readonly test: () => Promise<Attempt>
  /** Holds deliveries until the webhook is resumed. */
  readonly pause: () => Promise<WebhookStatus>
  /**
   * Resumes the webhook after a probe, which must succeed unless `force` is set. If it fails, the webhook stays paused,
   * and `probe` shows why. `replay` selects the held events to deliver; by default all.
   */
  readonly resume: (options?: {
    readonly replay?: "all" | "none" | { readonly since: Moment }
    readonly force?: boolean
  }) => Promise<WebhookStatus & { readonly probe: Attempt | null }>
  /**
   * Creates a new signing secret, returned only once. The old one also signs for `overlapSeconds`: by default a day; 0
   * ends it immediately.
   */
  readonly rotateSecret: (options?: { readonly overlapSeconds?: number }) => Promise<{
    readonly signingSecret: string
    readonly previousExpiresAt: string
  }>
  readonly deliveries: Deliveries
  readonly replays: Replays
}

const readWebhook = Input.read(WebhookApi.PutWebhook)
const readRotation = Input.read(WebhookApi.RotateSecret)
const readResume = Input.read(WebhookApi.ResumeWebhook)
const readReplay = Input.read(ReplaysApi.CreateReplay)
const readFilter = Input.read(Schema.Struct(DeliveriesApi.filter))

export const make = Effect.gen(function*() {
  const webhooks = yield* Webhooks.Webhooks
  const deliveries = yield* DeliveriesService.Deliveries
  const replays = yield* ReplaysService.Replays

  return (running: Running, workspaceId: Id.WorkspaceId): Webhook => {
    const { run } = running
    return {
      set: (webhook) =>
        run(Effect.gen(function*() {
          const { envelope, eventTypes, url } = yield* readWebhook(webhook)
          const set = yield* webhooks.put({ workspaceId, url, envelope, eventTypes })
          return {
            ...WebhookHandlers.configuration(set.webhook),
            ...(set.signingSecret === null ? {} : { signingSecret: Redacted.value(set.signingSecret) })
          }
        })),
      get: () => run(Effect.map(webhooks.get(workspaceId), WebhookHandlers.shown)),
      remove: () => run(webhooks.remove(workspaceId)),
      test: () => run(Effect.map(webhooks.test(workspaceId), DeliveriesHandlers.attempt)),
      pause: () => run(Effect.map(webhooks.pause(workspaceId), WebhookHandlers.status)),
      resume: (options = {}) =>
        run(Effect.gen(function*() {
          const { replay } = options
          const { force, replay: wanted } = yield* readResume({
            ...options,
            replay: typeof replay === "object" && replay !== null ? { since: iso(replay.since) } : replay
          })
          const { probe, webhook } = yield* webhooks.resume({
            workspaceId,
            replay: typeof wanted === "object" ? { since: DateTime.toEpochMillis(wanted.since) } : wanted ?? "all",
            force: force ?? false
          })
          return {
            ...WebhookHandlers.status(webhook),
            probe: probe === null ? null : DeliveriesHandlers.attempt(probe)
          }
        })),
      rotateSecret: (options = {}) =>
        run(Effect.gen(function*() {
          const { overlapSeconds } = yield* readRotation(options)
          const { previousExpiresAt, signingSecret } = yield* webhooks.rotateSecret({
            workspaceId,
            overlap: overlapSeconds === undefined ? Core.secretOverlap : Duration.seconds(overlapSeconds)
          })
          return {
            signingSecret: Redacted.value(signingSecret),
            previousExpiresAt: Time.iso(previousExpiresAt)
          }
        })),
      deliveries: {
        list: (filter = {}) =>
          Listing.make(
            running,
            (page) =>
              Effect.flatMap(
                readFilter(written(filter)),
                (filter) => deliveries.list(workspaceId, inMillis(filter), page)
              ),
            DeliveriesHandlers.listed
          ),
        get: (id) =>
          run(Effect.map(deliveries.get(workspaceId, id), (detail) => ({
            ...DeliveriesHandlers.listed(detail),
            attempts: detail.attempts.map(DeliveriesHandlers.attempt)
          }))),
        retry: (id) => run(Effect.map(deliveries.retry(workspaceId, id), DeliveriesHandlers.listed))
      },
      replays: {
        create: (replay) =>
          run(Effect.gen(function*() {
            const { since, status, until } = yield* readReplay(
              { ...replay, since: iso(replay?.since), until: iso(replay?.until) }
            )
            return ReplaysHandlers.shown(
              yield* replays.create({
                workspaceId,
                since: DateTime.toEpochMillis(since),
                until: until === undefined ? undefined : DateTime.toEpochMillis(until),
                status
              })
            )
          })),
        list: () => Listing.make(running, (page) => replays.list(workspaceId, page), ReplaysHandlers.shown),
        get: (id) => run(Effect.map(replays.get(workspaceId, id), ReplaysHandlers.shown)),
        cancel: (id) => run(Effect.asVoid(replays.cancel(workspaceId, id)))
      }
    }
  }
})
