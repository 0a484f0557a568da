/**
 * Recording attempts (`DeliveryStep.complete` of the core). A success that needs no loading is written outright, in one
 * round trip; everything else is loaded, decided and written.
 */
import { Delivery, DeliveryStep, type Id, type Time, Webhook, WebhookScheduler } from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { instantOrNull, plain } from "../Column.ts"
import type { DirectOptions, StepOptions } from "../Database.ts"
import { instants, integers, jsons, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"
import { lockHealthOf } from "./Health.ts"
import { healthColumns, healthParams, healthTypes } from "./StoredWebhook.ts"

/** What became of a record. */
export type Recorded =
  /** The claim was lost, or it is not to be written outright. */
  | "no"
  | "recorded"
  /** Besides, something may have become due that claimers would not look for soon enough by themselves. */
  | "hint"

/** Whoever gets a place waits for all who come meanwhile, not for a place among them. */
const size = 256

const attemptColumns = `delivery_id, number, id, workspace_id, trigger, started_at, duration_ms, outcome, status_code,
  message, url, address, timings, response, retry_after_ms`

/** The types of an attempt's own columns, from `id` on, from the parameter `$first` on. */
const attemptTypes = (first: number): string =>
  [
    "text",
    "text",
    "bigint",
    "integer",
    "text",
    "integer",
    "text",
    "text",
    "text",
    "json",
    "json",
    "bigint"
  ].map((type, i) => `$${first + i}::${type}[]`).join(", ")

const attemptNames =
  `attempt_id, trigger, started_at, duration_ms, outcome, status_code, message, url, address, timings,
  response, retry_after_ms`

const attemptParams = (attempts: ReadonlyArray<Delivery.Attempt>): NonNullable<Statement["params"]> => [
  texts(attempts.map(({ id }) => id)),
  texts(attempts.map(({ trigger }) => trigger)),
  instants(attempts.map(({ startedAt }) => startedAt)),
  integers(attempts.map(({ durationMs }) => durationMs)),
  texts(attempts.map(({ outcome }) => outcome)),
  integers(attempts.map(({ statusCode }) => statusCode)),
  // PostgreSQL's text holds neither of what these replace
  texts(attempts.map(({ message }) => message.toWellFormed().replaceAll("\0", "\uFFFD"))),
  texts(attempts.map(({ url }) => url)),
  texts(attempts.map(({ address }) => address)),
  jsons(attempts.map(({ timings }) => timings)),
  // what is escaped in it is PostgreSQL's to keep, not to read
  jsons(attempts.map(({ response }) => response)),
  instants(
    attempts.map(({ retryAfter }) =>
      retryAfter === null ? null : Math.min(Math.ceil(Duration.toMillis(retryAfter)), Number.MAX_SAFE_INTEGER)
    )
  )
]

/**
 * Of webhooks that are healthy at this moment; the caller holds their health. What `DeliveryStep.outright` says stays as it
 * was is not written.
 */
const outrightText = `with ended as (
    delete from delivery_claims k
    using unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::bigint[],
      $8::bigint[], ${
  attemptTypes(9)
}) g (place, delivery_id, webhook_id, token, now, number, first_attempt_at, ended_at,
      ${attemptNames}), webhook_health h
    where k.webhook_id = g.webhook_id and k.delivery_id = g.delivery_id and k.token = g.token
      and h.webhook_id = g.webhook_id and not h.doubtful
    returning g.*, k.workspace_id
  ), written as (
    update deliveries d set status = 'delivered', attempt_count = e.number, round_attempts = 1,
      first_attempt_at = e.first_attempt_at, last_attempt_at = e.ended_at, next_attempt_at = null,
      completed_at = e.ended_at
    from ended e where d.workspace_id = e.workspace_id and d.id = e.delivery_id
    returning e.*
  ), kept as (
    insert into attempts (${attemptColumns})
    select w.delivery_id, w.number, w.attempt_id, w.workspace_id, w.trigger, w.started_at, w.duration_ms, w.outcome,
      w.status_code, w.message, w.url, w.address, w.timings, w.response, w.retry_after_ms
    from written w
  ), healths as (
    update webhook_health h set
      last_success_at = greatest(h.last_success_at, a.last_success_at),
      last_attempt_at = a.last_attempt_at,
      slots_taken = false,
      ready_at = least(h.ready_at, case when h.slots_taken then a.now end),
      changes = h.changes + 1
    from (
      select w.webhook_id, max(w.ended_at) as last_success_at,
        (array_agg(w.ended_at order by w.place desc))[1] as last_attempt_at, coalesce(min(w.now), ${Clocks.now}) as now
      from written w group by w.webhook_id
    ) a
    where h.webhook_id = a.webhook_id
    returning h.webhook_id, h.ready_at >= a.now and h.ready_at < a.now + $21::bigint as is_sooner
  )
  select w.place, h.is_sooner from written w join healths h on h.webhook_id = w.webhook_id`

/**
 * What is first now in an order is due (`Delivery.follow`). Whoever records a follower of something pending locks the
 * webhook's health (`Recording`), so that either they see that it has ended, or we see the follower.
 */
const followText = `with next as (
    select distinct on (n.workspace_id, n.id) n.workspace_id, n.id, coalesce(k.at, ${Clocks.now}) as at
    from unnest($1::text[], $2::text[], $3::bigint[]) k (webhook_id, order_key, at)
    cross join lateral (select w.skipped_until from webhooks w where w.id = k.webhook_id offset 0) w
    cross join lateral (
      select d.workspace_id, d.id, d.next_attempt_at from deliveries d
      where d.order_key = k.order_key and d.webhook_id = k.webhook_id and d.status = 'pending'
        and d.position > w.skipped_until
      order by d.sequence limit 1
    ) n
    where n.next_attempt_at is null
  ), freed as (
    update deliveries d set next_attempt_at = n.at from next n where d.workspace_id = n.workspace_id and d.id = n.id
    returning d.webhook_id, n.at
  )
  update webhook_health h set ready_at = least(h.ready_at, f.at)
  from (select f.webhook_id, min(f.at) as at from freed f group by f.webhook_id) f
  where h.webhook_id = f.webhook_id
  returning h.webhook_id`

/** A command whose record is to be written outright. */
export interface OutrightCommand {
  readonly command: DeliveryStep.Complete
  readonly after: DeliveryStep.Outright
  /** Where time passes as a test says; else the database's. */
  readonly now: Time.Instant | undefined
}

/** A claim ends with the first record. */
const firsts = (commands: ReadonlyArray<OutrightCommand>) => {
  const claims = new Set<string>()
  return commands.map((one, place) => ({ ...one, place })).filter(({ command: { delivery, token } }) => {
    const claim = `${delivery.id} ${token}`
    return !claims.has(claim) && claims.add(claim)
  })
}

/** Records of successes outright. */
export const outright: DirectOptions<OutrightCommand, Recorded> = {
  size,
  write: (commands) => {
    const given = firsts(commands)
    const claims = given.map(({ command }) => command)
    const followed = given.filter(({ command }) => command.delivery.orderKey !== null)
    const at = (all: typeof given) => instants(all.map(({ now }) => now ?? null))
    return [
      lockHealthOf(claims.map(({ delivery }) => delivery.webhookId)),
      {
        text: outrightText,
        params: [
          integers(given.map(({ place }) => place)),
          texts(claims.map(({ delivery }) => delivery.id)),
          texts(claims.map(({ delivery }) => delivery.webhookId)),
          texts(claims.map(({ token }) => token)),
          at(given),
          integers(given.map(({ after }) => after.delivery.attemptCount)),
          instants(given.map(({ after }) => after.delivery.firstAttemptAt)),
          instants(given.map(({ after }) => after.endedAt)),
          ...attemptParams(claims.map(({ attempt }) => attempt)),
          Duration.toMillis(WebhookScheduler.pollEvery)
        ]
      },
      ...followed.length === 0 ? [] : [{
        text: followText,
        params: [
          texts(followed.map(({ command }) => command.delivery.webhookId)),
          texts(followed.map(({ command }) => command.delivery.orderKey)),
          at(followed)
        ]
      }]
    ]
  },
  read: ([, written, freed], commands) => {
    const isSooner = (freed ?? []).length > 0 || written!.some((row) => plain<boolean | null>(row, "is_sooner"))
    const places = new Set(written!.map((row) => plain<number>(row, "place")))
    return commands.map((_, place) => places.has(place) ? isSooner ? "hint" : "recorded" : "no")
  }
}

/** A webhook's place in line. */
interface Place {
  readonly readyAt: Time.Instant | null
  /** Whether what is due may have had to wait for an attempt in flight to end. */
  readonly slotsTaken: boolean
}

interface Loaded extends DeliveryStep.LoadedClaims {
  readonly places: ReadonlyMap<Id.WebhookId, Place>
}

interface Writes extends DeliveryStep.CompleteWrites {
  /** When a claim is to look at each webhook. */
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

const claimedText = `select g.token, wac_delivery(d) as delivery from ${claim}`

const orderText = `select distinct on (n.workspace_id, n.id) wac_delivery(n) as delivery from ${claim}
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
  health: {
    consecutiveFailures: plain(row, "consecutive_failures"),
    failuresSince: instantOrNull(row, "failures_since"),
    lastFailure: row["last_failure_at"] === null ? null : {
      at: Number(row["last_failure_at"]),
      message: plain(row, "last_failure_message")
    },
    lastSuccessAt: instantOrNull(row, "last_success_at"),
    slowAt: instantOrNull(row, "slow_at"),
    lastAttemptAt: instantOrNull(row, "last_attempt_at"),
    recoveredAt: instantOrNull(row, "recovered_at")
  }
})

/** What is open of orders, as loaded. */
export const ordersOf = (deliveries: ReadonlyArray<Delivery.Delivery>): DeliveryStep.Loaded["order"] => {
  const orders = new Map<string, Array<Delivery.Delivery>>()
  for (const delivery of [...deliveries].sort((a, b) => a.sequence! - b.sequence!)) {
    const name = `${delivery.webhookId} ${delivery.orderKey}`
    const order = orders.get(name)
    if (order === undefined) orders.set(name, [delivery])
    else order.push(delivery)
  }
  return (webhookId, orderKey) => orders.get(`${webhookId} ${orderKey}`) ?? []
}

/**
 * When a claim is to look at a webhook: when something of it may be claimed that could not be before, as far as these
 * attempts have changed that.
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
    // a slot that somebody may have waited for
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

/** `resumed_at` is that of the webhook once a round began after it. */
const deliveriesText = `update deliveries d set status = g.status, attempt_count = g.attempt_count,
    round_attempts = g.round_attempts, first_attempt_at = g.first_attempt_at, last_attempt_at = g.last_attempt_at,
    next_attempt_at = g.next_attempt_at, completed_at = g.completed_at, resumed_at = coalesce(g.resumed_at, d.resumed_at)
  from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bigint[]) g (workspace_id, id, status, attempt_count, round_attempts, first_attempt_at,
    last_attempt_at, next_attempt_at, completed_at, resumed_at)
  where d.workspace_id = g.workspace_id and d.id = g.id`

const attemptsText = `insert into attempts (${attemptColumns})
  select g.delivery_id, g.number, g.attempt_id, g.workspace_id, g.trigger, g.started_at, g.duration_ms, g.outcome,
    g.status_code, g.message, g.url, g.address, g.timings, g.response, g.retry_after_ms
  from unnest($1::text[], $2::text[], $3::integer[], ${attemptTypes(4)})
    g (delivery_id, workspace_id, number, ${attemptNames})`

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
      params: [
        texts(deliveries.map(({ workspaceId }) => workspaceId)),
        texts(deliveries.map(({ id }) => id)),
        texts(deliveries.map(({ status }) => status)),
        integers(deliveries.map(({ attemptCount }) => attemptCount)),
        integers(deliveries.map(({ roundAttempts }) => roundAttempts)),
        instants(deliveries.map(({ firstAttemptAt }) => firstAttemptAt)),
        instants(deliveries.map(({ lastAttemptAt }) => lastAttemptAt)),
        instants(deliveries.map(({ nextAttemptAt }) => nextAttemptAt)),
        instants(deliveries.map(({ completedAt }) => completedAt)),
        instants(deliveries.map(({ firstAttemptAt, webhookId }) => {
          const resumedAt = webhook(webhookId)?.resumedAt ?? null
          return resumedAt !== null && firstAttemptAt !== null && firstAttemptAt >= resumedAt ? resumedAt : null
        }))
      ]
    },
    {
      text: attemptsText,
      params: [
        texts(attempts.map(({ deliveryId }) => deliveryId)),
        texts(attempts.map(({ deliveryId }) => workspaces.get(deliveryId)!)),
        integers(attempts.map(({ attempt }) => attempt.number)),
        ...attemptParams(attempts.map(({ attempt }) => attempt))
      ]
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

/** What is carried out of `DeliveryStore.complete` where that is not written {@link outright}. */
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
      const delivery = plain<Delivery.Delivery>(row, "delivery")
      return [`${delivery.id} ${plain<string>(row, "token")}`, delivery]
    }))
    return {
      now,
      webhook: (id) => states.get(id),
      claimed: ({ id }, token) => deliveries.get(`${id} ${token}`),
      order: ordersOf(orders!.map((row) => plain<Delivery.Delivery>(row, "delivery"))),
      places: new Map(webhooks!.map((row) => [plain<Id.WebhookId>(row, "id"), {
        readyAt: instantOrNull(row, "ready_at"),
        slotsTaken: plain(row, "slots_taken")
      }]))
    }
  },
  decide,
  write
}
