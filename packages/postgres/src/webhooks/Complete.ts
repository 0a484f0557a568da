/**
 * Records attempts (core's `DeliveryStep.complete`): loads, decides and writes. `CompleteDirect` writes successes that
 * need no loading.
 */
import { Delivery, DeliveryStep, type Id, type Time, Webhook, WebhookScheduler } from "@wac/core"
import { Duration } from "effect"
import { instantOrNull, plain } from "../Column.ts"
import { columns } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"
import { ordersOf } from "./DeliveryOrder.ts"
import { lockHealthOf } from "./Health.ts"
import { delivery, deliveryOf, outcome, shownOf, skippedAt, storedOutcome } from "./StoredDelivery.ts"
import { healthColumns, healthOf, healthParams, healthTypes } from "./StoredWebhook.ts"

/** The result of a record. */
export type Recorded =
  /** The claim was lost, or the attempt cannot be written directly. */
  | "no"
  | "recorded"
  /** Recorded, and something may have become due that claimers would not find soon enough by polling. */
  | "hint"

/** Large, because a caller waits for all that arrive meanwhile, not for a place among them. */
export const size = 256

const attempted = columns({ id: "text", deliveryId: "text", workspaceId: "text", number: "integer", ...outcome })

/** A webhook's place in line. */
interface Place {
  readonly readyAt: Time.Instant | null
  /** Whether a due delivery may have had to wait for an attempt in flight to end. */
  readonly slotsTaken: boolean
}

interface Loaded extends DeliveryStep.LoadedClaims {
  readonly places: ReadonlyMap<Id.WebhookId, Place>
}

interface Writes extends DeliveryStep.CompleteWrites {
  /** When a claim must look at each webhook. */
  readonly readyAt: ReadonlyArray<Time.Instant | null>
  readonly claims: ReadonlyArray<DeliveryStep.ClaimedName>
}

const webhooksText =
  `select w.id, w.paused_at, w.resumed_at, h.consecutive_failures, h.failures_since, h.last_failure_at,
    h.last_failure_message, h.last_success_at, h.slow_at, h.last_attempt_at, h.recovered_at, h.ready_at, h.slots_taken
  from webhook_health h cross join lateral (select w.* from webhooks w where w.id = h.webhook_id offset 0) w
  where h.webhook_id = any ($1::text[])`

const claim = `unnest($1::text[], $2::text[], $3::text[]) g (webhook_id, delivery_id, token)
  cross join lateral (
    select k.workspace_id from delivery_claims k
    where k.webhook_id = g.webhook_id and k.delivery_id = g.delivery_id and k.token = g.token offset 0
  ) k
  cross join lateral (
    select d.* from deliveries d where d.workspace_id = k.workspace_id and d.id = g.delivery_id offset 0
  ) d`

const claimedText = `select g.token, ${delivery.names("d")}, ${skippedAt("d")} from ${claim}`

const orderText = `select distinct on (n.workspace_id, n.id) ${delivery.names("n")} from ${claim}
  cross join lateral (select w.skipped_until from webhooks w where w.id = g.webhook_id offset 0) w
  cross join lateral (
    select n.* from deliveries n
    where n.order_key = d.order_key and n.webhook_id = d.webhook_id and n.status = 'pending'
      and n.position > w.skipped_until
    order by n.sequence offset 0
  ) n`

const stateOf = (row: Row): DeliveryStep.State => ({
  id: plain(row, "id"),
  pausedAt: instantOrNull(row, "paused_at"),
  resumedAt: instantOrNull(row, "resumed_at"),
  health: healthOf(row)
})

/**
 * When a claim must look at a webhook: when something of it may be claimed that could not be claimed before these
 * attempts.
 */
const readyAt = (
  before: DeliveryStep.State,
  after: DeliveryStep.State,
  { readyAt, slotsTaken }: Place,
  deliveries: ReadonlyArray<Delivery.Delivery>,
  now: Time.Instant
): Time.Instant | null => {
  if (after.pausedAt !== null) return null
  const isFailing = Webhook.isFailing(after.health)
  const times = [
    readyAt,
    ...deliveries.map((delivery) => Delivery.dueAt(delivery, after)),
    Webhook.nextSlotAt(after.health),
    // a slot that a delivery may have waited for
    !isFailing && (slotsTaken || Webhook.isFailing(before.health)) ? now : null
  ].filter((at) => at !== null)
  return times.length === 0 ? null : Math.min(...times)
}

const decide = (
  loaded: Loaded,
  commands: ReadonlyArray<DeliveryStep.Complete>
): { readonly answers: ReadonlyArray<Recorded>; readonly writes: Writes } => {
  const { answers, writes } = DeliveryStep.complete(loaded, commands)
  const now = Math.min(...commands.map((command) => loaded.now(command.now)))
  const ready = writes.webhooks.map((after) =>
    readyAt(
      loaded.webhook(after.id)!,
      after,
      loaded.places.get(after.id)!,
      writes.deliveries.filter(({ webhookId }) => webhookId === after.id),
      now
    )
  )
  const soon = now + Duration.toMillis(WebhookScheduler.pollEvery)
  const isSooner = writes.webhooks.some(({ id }, i) => {
    const before = loaded.places.get(id)!.readyAt
    const at = ready[i]!
    return at !== null && at < soon && (before === null || at < before)
  })
  return {
    answers: answers.map((recorded) => recorded ? isSooner ? "hint" : "recorded" : "no"),
    writes: { ...writes, readyAt: ready, claims: commands.filter((_, i) => answers[i]).map(({ delivery }) => delivery) }
  }
}

const unclaimText = `delete from delivery_claims k using unnest($1::text[], $2::text[]) g (webhook_id, delivery_id)
  where k.webhook_id = g.webhook_id and k.delivery_id = g.delivery_id`

const written = columns({
  workspaceId: "text",
  id: "text",
  status: "text",
  attemptCount: "integer",
  roundAttempts: "integer",
  firstAttemptAt: "bigint",
  lastAttemptAt: "bigint",
  nextAttemptAt: "bigint",
  completedAt: "bigint",
  resumedAt: "bigint"
})

/** `resumed_at` is the webhook's once a round has begun after it. */
const deliveriesText = `update deliveries d set ${
  written.set("g", "workspaceId", "id", "resumedAt")
}, resumed_at = coalesce(g.resumed_at, d.resumed_at)
  from ${written.rows("g")} where d.workspace_id = g.workspace_id and d.id = g.id`

const healthText = `update webhook_health h set (${healthColumns}, ready_at, slots_taken, changes) = (
    ${healthColumns.split(",").map((name) => `g.${name.trim()}`).join(", ")}, g.ready_at, false, h.changes + 1
  )
  from unnest($1::text[], $2::bigint[], ${healthTypes(3)}) g (webhook_id, ready_at, ${healthColumns})
  where h.webhook_id = g.webhook_id`

/** A person may have paused it meanwhile. */
const pauseText = `update webhooks w set paused_at = p.at from unnest($1::text[], $2::bigint[]) p (id, at)
  where w.id = p.id and w.paused_at is null`

const write = (
  { attempts, claims, deliveries, readyAt, webhooks }: Writes,
  { webhook }: Loaded
): ReadonlyArray<Statement> => {
  if (attempts.length === 0) return []
  const workspaces = new Map(deliveries.map(({ id, workspaceId }) => [id, workspaceId]))
  const pausing = webhooks.filter(({ id, pausedAt }) => pausedAt !== webhook(id)?.pausedAt)
  return [
    {
      text: unclaimText,
      params: [texts(claims.map(({ webhookId }) => webhookId)), texts(claims.map(({ id }) => id))]
    },
    {
      text: deliveriesText,
      params: written.params(deliveries.map((delivery) => {
        const resumedAt = webhook(delivery.webhookId)?.resumedAt ?? null
        return { ...delivery, resumedAt: Delivery.startsRound(delivery, { resumedAt }) ? null : resumedAt }
      }))
    },
    {
      text: attempted.insert("attempts"),
      params: attempted.params(attempts.map(({ attempt, deliveryId }) => ({
        ...storedOutcome(attempt),
        deliveryId,
        workspaceId: workspaces.get(deliveryId)!
      })))
    },
    {
      text: healthText,
      params: [
        texts(webhooks.map(({ id }) => id)),
        instants(readyAt),
        ...healthParams(webhooks.map(({ health }) => health))
      ]
    },
    ...pausing.length === 0 ? [] : [{
      text: pauseText,
      params: [texts(pausing.map(({ id }) => id)), instants(pausing.map(({ pausedAt }) => pausedAt))]
    }]
  ]
}

/** `DeliveryStore.complete`, if it cannot be written directly (`CompleteDirect`). */
export const complete: StepOptions<DeliveryStep.Complete, Loaded, Recorded, Writes> = {
  size,
  load: (commands) => {
    const webhooks = commands.map(({ delivery }) => delivery.webhookId)
    const claims = [
      texts(webhooks),
      texts(commands.map(({ delivery }) => delivery.id)),
      texts(commands.map(({ token }) => token))
    ]
    return [
      lockHealthOf(webhooks),
      { text: webhooksText, params: [texts([...new Set(webhooks)])] },
      { text: claimedText, params: claims },
      { text: orderText, params: claims }
    ]
  },
  read: ([, webhooks, claimed, orders], now) => {
    const states = new Map(webhooks!.map((row) => [plain<Id.WebhookId>(row, "id"), stateOf(row)]))
    const deliveries = new Map(claimed!.map((row) => {
      const delivery = shownOf(row)
      return [`${delivery.id} ${plain<string>(row, "token")}`, delivery]
    }))
    return {
      now,
      webhook: (id) => states.get(id),
      claimed: ({ id }, token) => deliveries.get(`${id} ${token}`),
      order: ordersOf(orders!.map(deliveryOf)),
      places: new Map(webhooks!.map((row) => [plain<Id.WebhookId>(row, "id"), {
        readyAt: instantOrNull(row, "ready_at"),
        slotsTaken: plain(row, "slots_taken")
      }]))
    }
  },
  decide,
  write
}
