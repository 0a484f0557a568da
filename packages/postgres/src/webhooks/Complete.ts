/**
 * Records attempts (core's `DeliveryStep.complete`): loads, decides and writes. `CompleteDirect` writes successes that
 * need no loading.
 */
import { AttemptSlots, Delivery, DeliveryStep, type Id, type Time, WebhookHealth, WebhookScheduler } from "@wac/core"
import { Duration } from "effect"
import { columns, list, row, type Table, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Statement, statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { ordersOf } from "./DeliveryOrder.ts"
import { lockHealthOf } from "./Health.ts"
import { attempt, delivery, deliveryOf, shownOf, skippedAt, storedOutcome } from "./StoredDelivery.ts"
import { health, healthOf, healthWritten, writtenHealth } from "./StoredWebhook.ts"

/** The result of recording an attempt. */
export type Recorded =
  /** The claim was lost, or the attempt cannot be written directly. */
  | "no"
  | "recorded"
  /** Recorded, and something may have become due that claimers would not find soon enough by polling. */
  | "hint"

/** The maximum number of attempts in a step. It is large so that a caller waits for one step, not for several. */
export const size = 256

/** A webhook's place in line. */
interface Place {
  readonly readyAt: Time.Instant | null
  /** Whether a due delivery may have had to wait for an attempt in flight to end. */
  readonly slotsTaken: boolean
}

interface Loaded extends DeliveryStep.LoadedClaims {
  readonly place: (id: Id.WebhookId) => Place
}

interface Writes extends DeliveryStep.CompleteWrites {
  /** When a claim must look at each of `webhooks` again. */
  readonly readyAt: ReadonlyArray<Time.Instant | null>
  readonly claims: ReadonlyArray<DeliveryStep.ClaimedName>
}

const state = columns<Pick<DeliveryStep.State, "id" | "pausedAt" | "resumedAt">>({
  id: "text",
  pausedAt: "bigint",
  resumedAt: "bigint"
})

const place = columns<Place>({ readyAt: "bigint", slotsTaken: "boolean" })

const loadWebhooks = statement(
  { ids: list<Id.WebhookId>("text") },
  ({ ids }) =>
    `select ${state.names("w")}, ${health.names("h")}, ${place.names("h")}
  from wac.webhook_health h cross join lateral (select w.* from wac.webhooks w where w.id = h.webhook_id offset 0) w
  where h.webhook_id = any (${ids})`
)

/** What identifies a claim of a delivery. */
const claim = row({ webhookId: text<Id.WebhookId>(), deliveryId: text<Id.DeliveryId>(), token: text() })

const claimed = (claims: Table) =>
  `${claims("g")}
  cross join lateral (
    select k.workspace_id from wac.delivery_claims k
    where k.webhook_id = g.webhook_id and k.delivery_id = g.delivery_id and k.token = g.token offset 0
  ) k
  cross join lateral (
    select d.* from wac.deliveries d where d.workspace_id = k.workspace_id and d.id = g.delivery_id offset 0
  ) d`

const token = claim.pick("token")

const loadClaimed = statement(
  { claims: claim },
  ({ claims }) => `select g.token, ${delivery.names("d")}, ${skippedAt("d")} from ${claimed(claims)}`
)

const loadOrders = statement(
  { claims: claim },
  ({ claims }) =>
    `select distinct on (n.workspace_id, n.id) ${delivery.names("n")} from ${claimed(claims)}
  cross join lateral (select w.skipped_until from wac.webhooks w where w.id = g.webhook_id offset 0) w
  cross join lateral (
    select n.* from wac.deliveries n
    where n.order_key = d.order_key and n.webhook_id = d.webhook_id and n.status = 'pending'
      and n.position > w.skipped_until
    order by n.sequence offset 0
  ) n`
)

/**
 * When a claim must look at a webhook again: when a delivery may be claimed that could not be claimed before these
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
  const isFailing = WebhookHealth.isFailing(after.health)
  const times = [
    readyAt,
    ...deliveries.map((delivery) => Delivery.dueAt(delivery, after)),
    AttemptSlots.nextSlotAt(after.health),
    // now, if a delivery may have waited for a slot that is free again
    !isFailing && (slotsTaken || WebhookHealth.isFailing(before.health)) ? now : null
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
      loaded.place(after.id),
      writes.deliveries.filter(({ webhookId }) => webhookId === after.id),
      now
    )
  )
  const soon = now + Duration.toMillis(WebhookScheduler.pollEvery)
  const isSooner = writes.webhooks.some(({ id }, i) => {
    const before = loaded.place(id).readyAt
    const at = ready[i]!
    return at !== null && at < soon && (before === null || at < before)
  })
  return {
    answers: answers.map((recorded) => recorded ? isSooner ? "hint" : "recorded" : "no"),
    writes: { ...writes, readyAt: ready, claims: commands.filter((_, i) => answers[i]).map(({ delivery }) => delivery) }
  }
}

const endClaims = unlessEmpty(claim.omit("token"), (rows) =>
  `delete from wac.delivery_claims k using ${rows("g")}
  where k.webhook_id = g.webhook_id and k.delivery_id = g.delivery_id`)

const written = delivery.pick(
  "workspaceId",
  "id",
  "status",
  "attemptCount",
  "roundAttempts",
  "firstAttemptAt",
  "lastAttemptAt",
  "nextAttemptAt",
  "completedAt"
)

/** Writes deliveries. `resumed_at` becomes the webhook's once a round has begun after the resume. */
const writeDeliveries = unlessEmpty(
  written.and(state.pick("resumedAt")),
  (rows) =>
    `update wac.deliveries d set ${
      written.set("g", "workspaceId", "id")
    }, resumed_at = coalesce(g.resumed_at, d.resumed_at)
  from ${rows("g")} where d.workspace_id = g.workspace_id and d.id = g.id`
)

const insertAttempts = insert(attempt.and(delivery.pick("workspaceId")).and(claim.pick("deliveryId")), "wac.attempts")

const placedHealth = healthWritten.and(place.pick("readyAt"))

const writeHealth = unlessEmpty(
  placedHealth,
  (rows) =>
    `update wac.webhook_health h set ${placedHealth.set("g", "webhookId")}, slots_taken = false, changes = h.changes + 1
  from ${rows("g")}
  where h.webhook_id = g.webhook_id`
)

/** Pauses webhooks, except those that a person has paused meanwhile. */
const pause = unlessEmpty(
  state.pick("id", "pausedAt"),
  (rows) =>
    `update wac.webhooks w set paused_at = p.paused_at from ${rows("p")} where w.id = p.id and w.paused_at is null`
)

const write = (
  { attempts, claims, deliveries, readyAt, webhooks }: Writes,
  { webhook }: Loaded
): ReadonlyArray<Statement> => {
  if (attempts.length === 0) return []
  const workspaces = new Map(deliveries.map(({ id, workspaceId }) => [id, workspaceId]))
  return [
    ...endClaims(claims.map(({ id, webhookId }) => ({ webhookId, deliveryId: id }))),
    ...writeDeliveries(deliveries.map((delivery) => {
      const resumedAt = webhook(delivery.webhookId)?.resumedAt ?? null
      return { ...delivery, resumedAt: Delivery.startsRound(delivery, { resumedAt }) ? null : resumedAt }
    })),
    ...insertAttempts(attempts.map(({ attempt, deliveryId }) => ({
      ...storedOutcome(attempt),
      deliveryId,
      workspaceId: workspaces.get(deliveryId)!
    }))),
    ...writeHealth(webhooks.map((webhook, i) => ({ ...writtenHealth(webhook), readyAt: readyAt[i]! }))),
    ...pause(webhooks.filter(({ id, pausedAt }) => pausedAt !== webhook(id)?.pausedAt))
  ]
}

/** `DeliveryStore.complete`, if it cannot be written directly (`CompleteDirect`). */
export const complete: StepOptions<DeliveryStep.Complete, Loaded, Recorded, Writes> = {
  size,
  load: (commands) => {
    const webhooks = commands.map(({ delivery }) => delivery.webhookId)
    const claims = commands.map(({ delivery, token }) => ({
      webhookId: delivery.webhookId,
      deliveryId: delivery.id,
      token
    }))
    return [
      lockHealthOf(webhooks),
      loadWebhooks({ ids: [...new Set(webhooks)] }),
      loadClaimed({ claims }),
      loadOrders({ claims })
    ]
  },
  read: ([, webhooks, claimed, orders], now) => {
    const states = new Map(webhooks!.map((row) => {
      const webhook = { ...state.read(row), health: healthOf(row) }
      return [webhook.id, { webhook, place: place.read(row) }]
    }))
    const deliveries = new Map(claimed!.map((row) => {
      const delivery = shownOf(row)
      return [`${delivery.id} ${token.read(row).token}`, delivery]
    }))
    return {
      now,
      webhook: (id) => states.get(id)?.webhook,
      claimed: ({ id }, token) => deliveries.get(`${id} ${token}`),
      order: ordersOf(orders!.map(deliveryOf)),
      place: (id) => states.get(id)!.place
    }
  },
  decide,
  write
}
