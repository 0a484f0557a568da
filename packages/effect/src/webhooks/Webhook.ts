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
import type { CallOptions } from "../generated/Messaging.ts"
import type {
  Attempt,
  Delivery,
  DeliveryDetail,
  DeliveryFilter,
  NewReplay,
  NewWebhook,
  Replay,
  ResumedWebhook,
  ResumeWebhook,
  RotatedSecret,
  RotateSecret,
  SetWebhook,
  WebhookState,
  WebhookStatus
} from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"
import { inMillis, iso, written } from "../TimeInput.ts"

/** A webhook's configuration. */
export type WebhookConfiguration = Omit<SetWebhook, "signingSecret">

/** Deliveries to the webhook. */
export interface Deliveries {
  /**
   * Newest first. A page with a filter other than `status` and `messageId` may have fewer items than its limit, or
   * none, before the end of the list.
   */
  readonly list: (filter?: DeliveryFilter, options?: CallOptions) => Listing.Listing<Delivery>
  readonly get: (id: string, options?: CallOptions) => Promise<DeliveryDetail>
  /** Retries it immediately and then by a new run of the retry schedule, even if it has ended. */
  readonly retry: (id: string, options?: CallOptions) => Promise<Delivery>
}

/** Replay jobs. */
export interface Replays {
  /** Delivers the events recorded in a range of time again, oldest first, at a bounded rate. */
  readonly create: (replay: NewReplay, options?: CallOptions) => Promise<Replay>
  /** Newest first. */
  readonly list: (options?: CallOptions) => Listing.Listing<Replay>
  readonly get: (id: string, options?: CallOptions) => Promise<Replay>
  /** Cancels a job. Deliveries that it has already retried continue. */
  readonly cancel: (id: string, options?: CallOptions) => Promise<void>
}

/** The one webhook of a workspace. */
export interface Webhook {
  /**
   * Sets the workspace's one webhook as a whole. A change keeps its id, secret and state. A call that ended early may
   * still take effect, even after a later call, and the secret of a new webhook is then lost: look at the webhook with
   * `get`, and call `rotateSecret` for a secret that you know.
   */
  readonly set: (webhook: NewWebhook, options?: CallOptions) => Promise<SetWebhook>
  /** Rejects with `not_found` if none is set. */
  readonly get: (options?: CallOptions) => Promise<WebhookState>
  readonly remove: (options?: CallOptions) => Promise<void>
  /** Posts a `webhook.test` event and returns the one attempt at it. */
  readonly test: (options?: CallOptions) => Promise<Attempt>
  /** Holds deliveries until the webhook is resumed. */
  readonly pause: (options?: CallOptions) => Promise<WebhookStatus>
  /**
   * Resumes the webhook after a probe, which must succeed unless `force` is set. If it fails, the webhook stays paused,
   * and `probe` shows why. `replay` selects the held events to deliver; by default all.
   */
  readonly resume: (choice?: ResumeWebhook, options?: CallOptions) => Promise<ResumedWebhook>
  /**
   * Creates a new signing secret, returned only once. The old one also signs for `overlapSeconds`: by default a day; 0
   * ends it immediately. A call that ended early may still take effect, even after a later call, and its secret is
   * lost: rotate again. With an overlap above 0 a late call does not end the secret that your receivers know.
   */
  readonly rotateSecret: (choice?: RotateSecret, options?: CallOptions) => Promise<Required<RotatedSecret>>
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
      set: (webhook, options) =>
        run(
          Effect.gen(function*() {
            const { envelope, eventTypes, url } = yield* readWebhook(webhook)
            const set = yield* webhooks.put({ workspaceId, url, envelope, eventTypes })
            return {
              ...WebhookHandlers.configuration(set.webhook),
              ...(set.signingSecret === null ? {} : { signingSecret: Redacted.value(set.signingSecret) })
            }
          }),
          // the lookup of the name ends with the call, so that it cannot replace what a later call sets
          { options, stops: true }
        ),
      get: (options) => run(Effect.map(webhooks.get(workspaceId), WebhookHandlers.shown), { options }),
      remove: (options) => run(webhooks.remove(workspaceId), { options }),
      test: (options) => run(Effect.map(webhooks.test(workspaceId), DeliveriesHandlers.attempt), { options }),
      pause: (options) => run(Effect.map(webhooks.pause(workspaceId), WebhookHandlers.status), { options }),
      resume: (choice = {}, options) =>
        run(
          Effect.gen(function*() {
            const { replay } = choice
            const { force, replay: wanted } = yield* readResume({
              ...choice,
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
          }),
          { options }
        ),
      rotateSecret: (choice = {}, options) =>
        run(
          Effect.gen(function*() {
            const { overlapSeconds } = yield* readRotation(choice)
            const { previousExpiresAt, signingSecret } = yield* webhooks.rotateSecret({
              workspaceId,
              overlap: overlapSeconds === undefined ? Core.secretOverlap : Duration.seconds(overlapSeconds)
            })
            return {
              signingSecret: Redacted.value(signingSecret),
              previousExpiresAt: Time.iso(previousExpiresAt)
            }
          }),
          { options }
        ),
      deliveries: {
        list: (filter = {}, options) =>
          Listing.make(
            running,
            "dlv",
            (page) =>
              Effect.flatMap(
                readFilter(written(filter)),
                (filter) => deliveries.list(workspaceId, inMillis(filter), page)
              ),
            DeliveriesHandlers.listed,
            options
          ),
        get: (id, options) =>
          run(
            Effect.map(deliveries.get(workspaceId, id), (detail) => ({
              ...DeliveriesHandlers.listed(detail),
              attempts: detail.attempts.map(DeliveriesHandlers.attempt)
            })),
            { options }
          ),
        retry: (id, options) =>
          run(Effect.map(deliveries.retry(workspaceId, id), DeliveriesHandlers.listed), { options })
      },
      replays: {
        create: (replay, options) =>
          run(
            Effect.gen(function*() {
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
            }),
            { options }
          ),
        list: (options) =>
          Listing.make(running, "job", (page) => replays.list(workspaceId, page), ReplaysHandlers.shown, options),
        get: (id, options) => run(Effect.map(replays.get(workspaceId, id), ReplaysHandlers.shown), { options }),
        cancel: (id, options) => run(Effect.asVoid(replays.cancel(workspaceId, id)), { options })
      }
    }
  }
})
