/**
 * `WebhookStore` in PostgreSQL: combines the operations of this folder (`Remove`, `Resume`, `WebhookStep`) and adds the
 * short statements.
 */
import { type Id, WebhookStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { columns } from "../Columns.ts"
import { Database } from "../Database.ts"
import { first, statement, value } from "../Statement.ts"
import * as Remove from "./Remove.ts"
import * as Resume from "./Resume.ts"
import { webhookColumns, webhookOf } from "./StoredWebhook.ts"
import * as WebhookStep from "./WebhookStep.ts"

const held = "d.webhook_id = w.id and d.status = 'pending'"

const workspaceId = value<Id.WorkspaceId>()

/** Reads a workspace's webhook. */
export const find = statement(
  { workspaceId },
  ({ workspaceId }) => `select ${webhookColumns} from wac.webhooks w where w.workspace_id = ${workspaceId}`
)

/** The condition that excludes skipped deliveries, which are pending until their status is written. */
const notSkipped = "d.position > w.skipped_until"

/**
 * Reads a webhook and counts its waiting deliveries. They are counted from the index alone, unless it still contains
 * skipped ones.
 */
export const get = statement({ workspaceId }, ({ workspaceId }) => `
  select ${webhookColumns},
    case
      when w.paused_at is null then 0
      when w.replayed_from is null then (select count(*) from wac.deliveries d where ${held})
      else (select count(*) from wac.deliveries d where ${held} and ${notSkipped})
    end::double precision as held_count,
    case
      when w.paused_at is null then null
      when w.replayed_from is null then (
        select d.created_at from wac.deliveries d where ${held} order by d.created_at limit 1
      )
      else (
        select d.created_at from wac.deliveries d where ${held} and ${notSkipped} order by d.created_at limit 1
      )
    end::double precision as oldest_held_at,
    (
      select d.first_attempt_at from wac.deliveries d
      where d.webhook_id = w.id and d.status = 'pending' and d.round_attempts > 0
        and d.first_attempt_at > coalesce(h.last_success_at, -9007199254740992)
        and d.resumed_at = coalesce(w.resumed_at, 0)
      order by d.first_attempt_at limit 1
    )::double precision as oldest_tried_at
  from wac.webhooks w join wac.webhook_health h on h.webhook_id = w.id
  where w.workspace_id = ${workspaceId}`)

const waiting = columns<Omit<WebhookStore.WebhookState, "webhook">>({
  heldCount: "double precision",
  oldestHeldAt: "double precision",
  oldestTriedAt: "double precision"
})

export const layer = Layer.effect(
  WebhookStore.WebhookStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const put = yield* stepped("WebhookStore.put", WebhookStep.put)
    const rotateSecret = yield* stepped("WebhookStore.rotateSecret", WebhookStep.rotateSecret)
    const pause = yield* stepped("WebhookStore.pause", WebhookStep.pause)
    const resume = yield* stepped("WebhookStore.resume", Resume.resume)
    const remove = yield* stepped("WebhookStore.remove", Remove.remove)

    return WebhookStore.WebhookStore.of({
      put,
      find: (workspaceId) => Effect.map(query("WebhookStore.find", find({ workspaceId })), first(webhookOf)),
      get: (workspaceId) =>
        Effect.map(
          query("WebhookStore.get", get({ workspaceId })),
          first((row): WebhookStore.WebhookState => ({ webhook: webhookOf(row), ...waiting.read(row) }))
        ),
      rotateSecret: (command) => Effect.map(rotateSecret(command), Option.fromUndefinedOr),
      pause: (workspaceId, now) => Effect.map(pause({ workspaceId, now }), Option.fromUndefinedOr),
      resume: (command) => Effect.map(resume(command), Option.fromUndefinedOr),
      remove: (workspaceId, now) => remove({ workspaceId, now })
    })
  })
)
