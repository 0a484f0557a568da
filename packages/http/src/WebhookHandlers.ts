/**
 * `/internal/webhook`.
 */
import { Api, Caller } from "@wac/api"
import { StoreError, Time, type Webhook, Webhooks } from "@wac/core"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"

const configuration = (webhook: Webhook.Webhook) => ({
  id: webhook.id,
  url: webhook.url,
  status: webhook.pausedAt === null ? "active" as const : "paused" as const,
  envelope: webhook.envelope,
  eventTypes: webhook.eventTypes,
  createdAt: Time.iso(webhook.createdAt),
  updatedAt: Time.iso(webhook.updatedAt)
})

export const layer = HttpApiBuilder.group(
  Api,
  "webhook",
  Effect.fnUntraced(function*(handlers) {
    const webhooks = yield* Webhooks.Webhooks
    return handlers.handleAll({
      get: Effect.fnUntraced(function*() {
        const { workspaceId } = yield* Caller.CurrentSession
        const report = yield* webhooks.get(workspaceId)
        const { lastFailure } = report.webhook.health
        return {
          ...configuration(report.webhook),
          failingSince: Time.isoOrNull(report.failingSince),
          pausesAt: Time.isoOrNull(report.pausesAt),
          pausedAt: Time.isoOrNull(report.webhook.pausedAt),
          lastFailure: lastFailure === null ? null : { at: Time.iso(lastFailure.at), message: lastFailure.message },
          heldCount: report.heldCount,
          oldestHeldAt: Time.isoOrNull(report.oldestHeldAt)
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
      }, StoreError.orUnavailable)
    })
  })
)
