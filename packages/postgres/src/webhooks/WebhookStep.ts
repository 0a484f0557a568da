/**
 * The steps of webhooks (core's `WebhookStep`) that change only their own rows: setting, pausing and rotating secrets.
 */
import { type Id, type Step, type Webhook, WebhookStep } from "@wac/core"
import { columns, inJson, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Rows, type Statement, statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { healthWritten, keepSecrets, webhookColumns, webhookOf, writtenHealth } from "./StoredWebhook.ts"

const workspaces = list<Id.WorkspaceId>("text")

/** Serializes the creation of a workspace's webhook. */
const lockCreation = statement(
  { workspaces },
  ({ workspaces }) =>
    `select pg_advisory_xact_lock(hashtext('wac:webhooks'), l.name)
  from (select distinct hashtext(o.id) as name from unnest(${workspaces}) o (id) order by 1) l`
)

/** Locks the present webhooks of workspaces. */
const lock = statement(
  { workspaces },
  ({ workspaces }) =>
    `select w.id from wac.webhooks w where w.workspace_id = any (${workspaces}) order by w.id for no key update`
)

/** Loads the present webhooks of workspaces. Must come in a statement after the one that locks them. */
export const loadPresent = statement(
  { workspaces },
  ({ workspaces }) => `select ${webhookColumns} from wac.webhooks w where w.workspace_id = any (${workspaces})`
)

/** Reads the result of {@link loadPresent}. */
export const readPresent = (rows: Rows, now: Step.Known["now"]): WebhookStep.Loaded => {
  const webhooks = new Map(rows.map(webhookOf).map((webhook) => [webhook.workspaceId, webhook]))
  return { now, present: (workspaceId) => webhooks.get(workspaceId) }
}

const load = (commands: ReadonlyArray<Pick<Webhook.Webhook, "workspaceId">>): ReadonlyArray<Statement> => {
  const workspaces = commands.map(({ workspaceId }) => workspaceId)
  return [lock({ workspaces }), loadPresent({ workspaces })]
}

const read = (rows: ReadonlyArray<Rows>, now: Step.Known["now"]) => readPresent(rows.at(-1)!, now)

type Written = Omit<Webhook.Webhook, "health" | "secrets">

/** Writes webhooks, given as JSON because each has a list of event types. */
const putAll = statement(
  { webhooks: inJson<ReadonlyArray<Written>>() },
  ({ webhooks }) =>
    `insert into wac.webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at, paused_at,
    resumed_at)
  select c.id, c."workspaceId", c.url, c.envelope, c."eventTypes", c."createdAt", c."updatedAt", c."pausedAt",
    c."resumedAt"
  from json_to_recordset(${webhooks}) as c (id text, "workspaceId" text, url text, envelope text,
    "eventTypes" text[], "createdAt" bigint, "updatedAt" bigint, "pausedAt" bigint, "resumedAt" bigint)
  on conflict (id) do update set url = excluded.url, envelope = excluded.envelope, event_types = excluded.event_types,
    updated_at = excluded.updated_at`
)

const insertHealth = insert(healthWritten, "wac.webhook_health")

/** `WebhookStore.put`. */
export const put: StepOptions<Webhook.Webhook, WebhookStep.Loaded, WebhookStep.Put, WebhookStep.Writes> = {
  load: (candidates) => [
    lockCreation({ workspaces: candidates.map(({ workspaceId }) => workspaceId) }),
    ...load(candidates)
  ],
  read,
  decide: WebhookStep.put,
  write: ({ webhooks }, { present }) => {
    const made = webhooks.filter(({ workspaceId }) => present(workspaceId) === undefined)
    return [
      putAll({ webhooks: webhooks.map(({ health: _, secrets: __, ...webhook }) => webhook) }),
      ...insertHealth(made.map(writtenHealth)),
      ...keepSecrets(made)
    ]
  }
}

const removeSecrets = unlessEmpty(
  list<Id.WebhookId>("text"),
  (ids) => `delete from wac.webhook_secrets s where s.webhook_id = any (${ids})`
)

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
  write: ({ webhooks }) => [...removeSecrets(webhooks.map(({ id }) => id)), ...keepSecrets(webhooks)]
}

const writePause = unlessEmpty(
  columns<Pick<Webhook.Webhook, "id" | "pausedAt">>({ id: "text", pausedAt: "bigint" }),
  (rows) => `update wac.webhooks w set paused_at = p.paused_at from ${rows("p")} where w.id = p.id`
)

/** `WebhookStore.pause`. Writes only the webhook's row: the next claim sees there that the webhook is paused. */
export const pause: StepOptions<
  WebhookStep.Named,
  WebhookStep.Loaded,
  Webhook.Webhook | undefined,
  WebhookStep.Writes
> = {
  load,
  read,
  decide: WebhookStep.pause,
  write: ({ webhooks }) => writePause(webhooks)
}
