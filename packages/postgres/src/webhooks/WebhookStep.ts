/**
 * The steps of webhooks (core's `WebhookStep`) that change only their own rows: setting, pausing and rotating secrets.
 */
import { type Id, type Step, type Webhook, WebhookStep } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"
import type { Rows, Statement } from "../Statement.ts"
import { healthColumns, healthParams, healthTypes, keepSecrets, webhookColumns, webhookOf } from "./StoredWebhook.ts"

/** Serializes the creation of a workspace's webhook. */
const makeText = `select pg_advisory_xact_lock(hashtext('webhooks'), l.name)
  from (select distinct hashtext(o.id) as name from unnest($1::text[]) o (id) order by 1) l`

const lockText = "select w.id from webhooks w where w.workspace_id = any ($1::text[]) order by w.id for no key update"

const presentText = `select w.workspace_id, ${webhookColumns} from webhooks w where w.workspace_id = any ($1::text[])`

/** Locks the present webhooks of workspaces. */
const lock = (workspaces: ReadonlyArray<Id.WorkspaceId>): Statement => ({ text: lockText, params: [texts(workspaces)] })

/** Loads the present webhooks of workspaces. Must come in a statement after the one that locks them. */
export const loadPresent = (workspaces: ReadonlyArray<Id.WorkspaceId>): Statement => ({
  text: presentText,
  params: [texts(workspaces)]
})

/** Reads the result of {@link loadPresent}. */
export const readPresent = (rows: Rows, now: Step.Known["now"]): WebhookStep.Loaded => {
  const webhooks = new Map(
    rows.map((row) => [plain<Id.WorkspaceId>(row, "workspace_id"), webhookOf(row)])
  )
  return { now, present: (workspaceId) => webhooks.get(workspaceId) }
}

const load = (commands: ReadonlyArray<Pick<Webhook.Webhook, "workspaceId">>): ReadonlyArray<Statement> => {
  const workspaces = commands.map(({ workspaceId }) => workspaceId)
  return [lock(workspaces), loadPresent(workspaces)]
}

const read = (rows: ReadonlyArray<Rows>, now: Step.Known["now"]) => readPresent(rows.at(-1)!, now)

/** As JSON, because each webhook has a list of event types. */
const putText = `insert into webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at, paused_at,
    resumed_at)
  select c.id, c."workspaceId", c.url, c.envelope, c."eventTypes", c."createdAt", c."updatedAt", c."pausedAt",
    c."resumedAt"
  from json_to_recordset($1::text::json) as c (id text, "workspaceId" text, url text, envelope text,
    "eventTypes" text[], "createdAt" bigint, "updatedAt" bigint, "pausedAt" bigint, "resumedAt" bigint)
  on conflict (id) do update set url = excluded.url, envelope = excluded.envelope, event_types = excluded.event_types,
    updated_at = excluded.updated_at`

const healthText = `insert into webhook_health (webhook_id, ${healthColumns})
  select * from unnest($1::text[], ${healthTypes(2)})`

/** `WebhookStore.put`. */
export const put: StepOptions<Webhook.Webhook, WebhookStep.Loaded, WebhookStep.Put, WebhookStep.Writes> = {
  load: (candidates) => [
    { text: makeText, params: [texts(candidates.map(({ workspaceId }) => workspaceId))] },
    ...load(candidates)
  ],
  read,
  decide: WebhookStep.put,
  write: ({ webhooks }, { present }) => {
    const made = webhooks.filter(({ workspaceId }) => present(workspaceId) === undefined)
    return [
      { text: putText, params: [JSON.stringify(webhooks.map(({ health: _, secrets: __, ...webhook }) => webhook))] },
      ...made.length === 0 ? [] : [
        {
          text: healthText,
          params: [texts(made.map(({ id }) => id)), ...healthParams(made.map(({ health }) => health))]
        },
        keepSecrets(made)
      ]
    ]
  }
}

/** `WebhookStore.rotateSecret`. */
export const rotateSecret: StepOptions<
  WebhookStep.RotateSecret,
  WebhookStep.Loaded,
  Webhook.Webhook | undefined,
  WebhookStep.Writes
> = {
  load,
  read,
  decide: WebhookStep.rotateSecret,
  write: ({ webhooks }) =>
    webhooks.length === 0 ? [] : [
      {
        text: "delete from webhook_secrets s where s.webhook_id = any ($1::text[])",
        params: [texts(webhooks.map(({ id }) => id))]
      },
      keepSecrets(webhooks)
    ]
}

const pauseText = `update webhooks w set paused_at = p.at from unnest($1::text[], $2::bigint[]) p (id, at)
  where w.id = p.id`

/** `WebhookStore.pause`. Writes only the webhook's row; the next claim finds out by itself. */
export const pause: StepOptions<
  WebhookStep.Named,
  WebhookStep.Loaded,
  Webhook.Webhook | undefined,
  WebhookStep.Writes
> = {
  load,
  read,
  decide: WebhookStep.pause,
  write: ({ webhooks }) =>
    webhooks.length === 0 ? [] : [{
      text: pauseText,
      params: [texts(webhooks.map(({ id }) => id)), instants(webhooks.map(({ pausedAt }) => pausedAt))]
    }]
}
