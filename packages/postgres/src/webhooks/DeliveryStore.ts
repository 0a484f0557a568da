import { Delivery, DeliveryStep, DeliveryStore, type Event, type Id, Page, type Time, Webhook } from "@wac/core"
import { Duration, Effect, Layer, Option, Queue, Semaphore } from "effect"
import { asked } from "../Asked.ts"
import * as Clocks from "../Clocks.ts"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"
import { Hint } from "../Hint.ts"
import type { Row } from "../Statement.ts"
import * as BeginTest from "./BeginTest.ts"
import * as Complete from "./Complete.ts"
import * as Rounds from "./Rounds.ts"
import { secretOf, type StoredSecret } from "./StoredWebhook.ts"

type Store = DeliveryStore.DeliveryStore["Service"]

/** A claimed delivery, by position: `wac_claim_due` writes it. It is pending. */
type ClaimedRow = readonly [
  id: Id.DeliveryId,
  workspaceId: Id.WorkspaceId,
  webhookId: Id.WebhookId,
  eventId: Id.EventId,
  eventType: Event.EventType,
  envelope: Event.Envelope,
  orderKey: Delivery.Delivery["orderKey"],
  sequence: number | null,
  trigger: Delivery.AttemptTrigger,
  attemptCount: number,
  roundAttempts: number,
  firstAttemptAt: Time.Instant | null,
  lastAttemptAt: Time.Instant | null,
  nextAttemptAt: Time.Instant | null,
  createdAt: Time.Instant,
  eventCreatedAt: Time.Instant,
  eventOrderKey: Event.Event["orderKey"],
  eventSequence: number | null,
  data: Event.Event["data"],
  isDoubtful: boolean,
  isBacklog: boolean
]

/** What a claim answers. */
interface ClaimAnswer {
  readonly deliveries: ReadonlyArray<ClaimedRow>
  readonly webhooks: ReadonlyArray<{
    readonly id: Id.WebhookId
    readonly url: string
    readonly secrets: ReadonlyArray<StoredSecret>
  }>
  readonly nextDueAt: Time.Instant | null
  readonly at: Time.Instant
  readonly seen: number
  readonly again: ReadonlyArray<Id.WebhookId>
}

type Sender = Pick<DeliveryStore.ClaimedDelivery, "url" | "secrets">

const claimedDelivery = (
  [
    id,
    workspaceId,
    webhookId,
    eventId,
    eventType,
    envelope,
    orderKey,
    sequence,
    trigger,
    attemptCount,
    roundAttempts,
    firstAttemptAt,
    lastAttemptAt,
    nextAttemptAt,
    createdAt,
    eventCreatedAt,
    eventOrderKey,
    eventSequence,
    data,
    isDoubtful,
    isBacklog
  ]: ClaimedRow,
  senders: ReadonlyMap<Id.WebhookId, Sender>,
  at: Time.Instant
): DeliveryStore.ClaimedDelivery => ({
  delivery: {
    id,
    workspaceId,
    webhookId,
    eventId,
    eventType,
    envelope,
    orderKey,
    sequence,
    status: "pending",
    trigger,
    attemptCount,
    roundAttempts,
    firstAttemptAt,
    lastAttemptAt,
    nextAttemptAt,
    createdAt,
    completedAt: null
  },
  event: {
    id: eventId,
    workspaceId,
    type: eventType,
    createdAt: eventCreatedAt,
    orderKey: eventOrderKey,
    sequence: eventSequence,
    data
  },
  ...senders.get(webhookId)!,
  standing: isDoubtful ? "doubtful" : "healthy",
  at,
  isBacklog
})

const claimedOf = ({ at, deliveries, nextDueAt, webhooks }: ClaimAnswer): DeliveryStore.Claimed => {
  const senders = new Map(
    webhooks.map(({ id, secrets, url }) => [id, { url, secrets: secrets.map(secretOf) }] as const)
  )
  return { deliveries: deliveries.map((row) => claimedDelivery(row, senders, at)), at, nextDueAt }
}

interface StoredAttempt extends Omit<Delivery.Attempt, "retryAfter"> {
  readonly retryAfterMs: number | null
}

const attemptOf = ({ retryAfterMs, ...attempt }: StoredAttempt): Delivery.Attempt => ({
  ...attempt,
  retryAfter: retryAfterMs === null ? null : Duration.millis(retryAfterMs)
})

const attempts = `(
  select coalesce(json_agg(json_build_object(
    'id', a.id,
    'number', a.number,
    'trigger', a.trigger,
    'startedAt', a.started_at,
    'durationMs', a.duration_ms,
    'outcome', a.outcome,
    'statusCode', a.status_code,
    'message', a.message,
    'url', a.url,
    'address', a.address,
    'timings', a.timings,
    'response', a.response,
    'retryAfterMs', a.retry_after_ms
  ) order by a.number), '[]')
  from attempts a where a.delivery_id = d.id
)`

const shown = (more = "") =>
  `select wac_delivery(d) as delivery, w.paused_at::double precision, s.skipped_at::double precision${more}
  from deliveries d
  left join webhooks w on w.id = d.webhook_id
  left join lateral (
    select s.skipped_at from webhook_skips s where s.webhook_id = d.webhook_id and s.until >= d.position
    order by s.until limit 1
  ) s on d.status = 'pending'`

const viewOf = (row: Row): DeliveryStore.DeliveryView => {
  const stored = plain<Delivery.Delivery>(row, "delivery")
  const skippedAt = plain<Time.Instant | null>(row, "skipped_at")
  const delivery = skippedAt === null ? stored : Delivery.end(stored, "skipped", skippedAt)
  return DeliveryStore.viewOf(delivery, { id: delivery.webhookId, pausedAt: plain(row, "paused_at") })
}

/**
 * Newest first. What is pending or held is that of the present webhook, in an index of its own: its like may be a
 * million rows away from the newest.
 */
export const listText = (status: Delivery.DeliveryStatus | undefined, isAfter: boolean): string => {
  const where = {
    all: "d.workspace_id = $1",
    delivered: "d.workspace_id = $1 and d.status = 'delivered'",
    exhausted: "d.workspace_id = $1 and d.status = 'exhausted'",
    skipped: "d.workspace_id = $1 and (d.status = 'skipped' or s.skipped_at is not null)",
    pending: present("null"),
    held: present("not null")
  }[status ?? "all"]
  const isOpen = status === "pending" || status === "held"
  const after = isOpen
    ? "(d.created_at, d.id) < ((select c.created_at from deliveries c where c.workspace_id = $1 and c.id = $3), $3)"
    : "d.id < $3"
  const order = isOpen ? "d.created_at desc, d.id desc" : "d.id desc"
  return `${shown()} where ${where}${isAfter ? ` and ${after}` : ""} order by ${order} limit $2`
}

const present = (pausedAt: string): string => {
  const webhook = (column: string) =>
    `(
    select p.${column} from webhooks p where p.workspace_id = $1 and p.paused_at is ${pausedAt}
  )`
  return `d.status = 'pending' and d.webhook_id = ${webhook("id")} and d.position > ${webhook("skipped_until")}`
}

export const layer = Layer.effect(
  DeliveryStore.DeliveryStore,
  Effect.gen(function*() {
    const { direct, listen, query, stepped } = yield* Database
    const askedAt = yield* asked
    const outright = yield* direct("DeliveryStore.complete", Complete.outright)
    const record = yield* stepped("DeliveryStore.complete", Complete.complete)
    const beginTest = yield* stepped("DeliveryStore.beginTest", BeginTest.beginTest)
    const retry = yield* stepped("DeliveryStore.retry", Rounds.retry)
    const claiming = yield* Semaphore.make(1)
    const hint = new Hint()

    /** Whether an attempt was recorded; claimers are told what they might wait for. */
    const told = (recorded: Complete.Recorded): boolean => {
      if (recorded === "hint") hint.tell()
      return recorded !== "no"
    }
    const complete = (command: DeliveryStep.Complete) => Effect.map(record(command), told)

    /** What the last claim saw; null when it must look at everything. */
    let seen: number | null = null
    /** Webhooks to look at again, besides those whose turn it is. */
    let again: ReadonlyArray<Id.WebhookId> = []

    const notifications = yield* listen("wac_deliveries")
    yield* Effect.forkScoped(Effect.forever(Effect.map(Queue.take(notifications), (payload) => {
      // after a reconnection this may be another server, for which what we saw means nothing
      if (payload === "") seen = null
      hint.tell()
    })))

    const claimDue = Effect.fnUntraced(function*({ leaseUntil, now, ...claim }: Parameters<Store["claimDue"]>[0]) {
      hint.claiming()
      const before = seen
      const [row] = yield* query("DeliveryStore.claimDue", "select wac_claim_due($1::text::json) as answer", [
        JSON.stringify({
          ...claim,
          now: askedAt(now),
          lease: leaseUntil - now,
          seen,
          again,
          maxDraining: Webhook.maxDraining,
          drainGap: Duration.toMillis(Webhook.drainGap)
        })
      ])
      const answer = plain<ClaimAnswer>(row!, "answer")
      // unless it was forgotten meanwhile
      if (seen === before) seen = answer.seen
      again = answer.again
      return claimedOf(answer)
    })

    return DeliveryStore.DeliveryStore.of({
      // claims wait for each other in the database, and need not do so with a connection each
      claimDue: (command) => claiming.withPermit(claimDue(command)),
      beginTest: (command) =>
        Effect.map(
          beginTest(command),
          (begun) => Option.map(Option.fromUndefinedOr(begun), (begun) => DeliveryStore.claimedOf(begun, begun.at))
        ),
      complete: (command) => {
        const after = DeliveryStep.outright(command)
        if (after === undefined) return complete(command)
        return Effect.flatMap(
          outright({ command, after, now: askedAt(command.now) }),
          (recorded) => recorded === "no" ? complete(command) : Effect.succeed(told(recorded))
        )
      },
      release: (token, deliveries) =>
        deliveries.length === 0 ? Effect.void : Effect.map(
          query("DeliveryStore.release", "select wac_release($1, $2, $3)", [
            token,
            deliveries.map(({ webhookId }) => webhookId),
            deliveries.map(({ id }) => id)
          ]),
          hint.tell
        ),
      retry: (workspaceId, id, now) =>
        Effect.map(retry({ workspaceId, id, now }), (retried) =>
          Option.map(
            Option.fromUndefinedOr(retried),
            ({ delivery, webhook }) => DeliveryStore.viewOf(delivery, webhook)
          )),
      awaitHint: hint.wait,
      tidySkipped: (now, limit) =>
        Effect.map(
          query("DeliveryStore.tidySkipped", "select wac_tidy_skipped(coalesce($1, wac_now()), $2, $3) as written", [
            askedAt(now) ?? null,
            limit,
            Clocks.spread
          ]),
          ([row]) => plain<number>(row!, "written")
        ),
      backlog: (now) =>
        Effect.map(
          query("DeliveryStore.backlog", "select wac_backlog(coalesce($1, wac_now()), $2, $3) as report", [
            askedAt(now) ?? null,
            DeliveryStore.backlogSizes,
            DeliveryStore.countedExactly
          ]),
          ([row]) => plain<DeliveryStore.BacklogReport>(row!, "report")
        ),
      list: (workspaceId, { status }, page) =>
        Effect.map(
          query("DeliveryStore.list", listText(status, page.after !== null), [
            workspaceId,
            page.limit + 1,
            ...page.after === null ? [] : [page.after]
          ]),
          (rows) => Page.fromOverread(rows.map(viewOf), page, ({ delivery }) => delivery.id)
        ),
      get: (workspaceId, id) =>
        Effect.map(
          query("DeliveryStore.get", `${shown(`, ${attempts} as attempts`)} where d.workspace_id = $1 and d.id = $2`, [
            workspaceId,
            id
          ]),
          ([row]) =>
            Option.map(Option.fromUndefinedOr(row), (row) => ({
              ...viewOf(row),
              attempts: plain<ReadonlyArray<StoredAttempt>>(row, "attempts").map(attemptOf)
            }))
        )
    })
  })
)
