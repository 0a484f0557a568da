/**
 * The handlers of `/internal/webhook`: the receiver of a workspace's events, its settings and its health.
 */
import { Api, Caller } from "@wac/api"
import { ReceiverReports, StoreError, Time, Webhook, WebhookHealth, Webhooks } from "@wac/core"
import { DateTime, Duration, Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"
import { attempt } from "./DeliveriesHandlers.ts"

/** A webhook's configuration, as the response to setting it shows it. */
export const configuration = (webhook: Webhook.Webhook) => ({
  id: webhook.id,
  url: webhook.url,
  status: webhook.pausedAt === null ? "active" as const : "paused" as const,
  envelope: webhook.envelope,
  eventTypes: webhook.eventTypes,
  createdAt: Time.iso(webhook.createdAt),
  updatedAt: Time.iso(webhook.updatedAt)
})

/** A webhook and its health. */
export const status = (webhook: Webhook.Webhook) => {
  const { health, pausedAt } = webhook
  return {
    ...configuration(webhook),
    failingSince: Time.isoOrNull(WebhookHealth.failingSince(health)),
    pausedAt: Time.isoOrNull(pausedAt),
    lastFailure: health.lastFailure === null
      ? null
      : { at: Time.iso(health.lastFailure.at), message: health.lastFailure.message }
  }
}

/** A webhook, its health and its backlog. */
export const shown = ({ heldCount, oldestHeldAt, pausesAt, webhook }: Webhooks.WebhookReport) => ({
  ...status(webhook),
  pausesAt: Time.isoOrNull(pausesAt),
  heldCount,
  oldestHeldAt: Time.isoOrNull(oldestHeldAt)
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const webhooks = yield* Webhooks.Webhooks
    const receivers = yield* ReceiverReports.ReceiverReports
    return HttpApiBuilder.group(Api, "webhook", (handlers) =>
      handlers.handleAll({
        get: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* webhooks.get(workspaceId))
        }, StoreError.orUnavailable),
        receiver: Effect.fnUntraced(function*({ query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const { outages, since, step, steps, ...all } = yield* receivers.report(workspaceId, {
            period: query.period,
            ...Paging.between(query.since, query.until)
          })
          return {
            ...all,
            since: Time.iso(since),
            stepSeconds: Duration.toSeconds(Duration.millis(step)),
            steps: steps.map(({ at, ...attempts }) => ({ at: Time.iso(at), ...attempts })),
            outages: outages.map(({ kind, since, until }) => ({
              kind,
              since: Time.iso(since),
              until: Time.isoOrNull(until)
            }))
          }
        }, StoreError.orUnavailable),
        put: Effect.fnUntraced(function*({ payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const { signingSecret, webhook } = yield* webhooks.put({
            workspaceId,
            url: payload.url,
            envelope: payload.envelope,
            eventTypes: payload.eventTypes
          })
          return {
            ...configuration(webhook),
            ...(signingSecret === null ? {} : { signingSecret: Redacted.value(signingSecret) })
          }
        }, StoreError.orUnavailable),
        remove: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          yield* webhooks.remove(workspaceId)
        }, StoreError.orUnavailable),
        rotateSecret: Effect.fnUntraced(function*({ payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const overlap = payload.overlapSeconds === undefined
            ? Webhook.secretOverlap
            : Duration.seconds(payload.overlapSeconds)
          const { previousExpiresAt, signingSecret } = yield* webhooks.rotateSecret({ workspaceId, overlap })
          return { signingSecret: Redacted.value(signingSecret), previousExpiresAt: Time.iso(previousExpiresAt) }
        }, StoreError.orUnavailable),
        test: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          return attempt(yield* webhooks.test(workspaceId))
        }, StoreError.orUnavailable),
        pause: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          return status(yield* webhooks.pause(workspaceId))
        }, StoreError.orUnavailable),
        resume: Effect.fnUntraced(function*({ payload: { force = false, replay = "all" } }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const { probe, webhook } = yield* webhooks.resume({
            workspaceId,
            replay: typeof replay === "string" ? replay : { since: DateTime.toEpochMillis(replay.since) },
            force
          })
          return { ...status(webhook), probe: probe === null ? null : attempt(probe) }
        }, StoreError.orUnavailable),
        verify: Effect.fnUntraced(function*({ payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return yield* webhooks.verify({ workspaceId, ...payload })
        }, StoreError.orUnavailable)
      }))
  })
)
