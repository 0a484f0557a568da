/**
 * Writes the status of deliveries that a resume or a removal skipped (`webhook_skips`): in each step, a bounded number
 * of deliveries of one webhook.
 */
import { Delivery, type Id, type Step, type Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { columns, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Statement, statement, value } from "../Statement.ts"
import { free } from "./DeliveryOrder.ts"
import { everything } from "./Remove.ts"
import { delivery } from "./StoredDelivery.ts"

/** The skip that the last step looked at. The next step continues after it. */
interface Place {
  readonly webhookId: string
  readonly until: string
}

/** A request to look at the next skip that may have deliveries to write. */
export interface Tidy {
  readonly after: Place | undefined
  readonly limit: number
  /** The time in tests that control it; `undefined` for the database's time. */
  readonly asked: Time.Instant | undefined
}

/** The result of a step. */
export interface Tidied {
  readonly written: number
  /** Where the next step continues; `undefined` once something is written or nothing is left. */
  readonly next: Place | undefined
}

/**
 * Chooses and locks a skip. A separate statement, so that the statements after it know which one it chose. A
 * transaction that read a webhook before its removal may record a delivery after the removal, though not later than
 * clocks may differ, so the skip of a removal stays that long.
 */
const choose = statement({
  asked: value<Time.Instant | null>(),
  webhookId: value<string>(),
  until: value<string>()
}, ({ asked, until, webhookId }) =>
  `select set_config('wac_step.skip', coalesce((
    select s.webhook_id || ' ' || s.until from wac.webhook_skips s
    where (s.webhook_id, s.until) > (${webhookId}::text, ${until}::bigint)
      and (
        s.until < ${everything} or s.skipped_at < ${Clocks.at(asked)} - ${Clocks.spread}
        or exists (select from wac.deliveries d where d.webhook_id = s.webhook_id and d.status = 'pending')
      )
    order by s.webhook_id, s.until limit 1
    for update skip locked
  ), ' 0'), true)`)

const chosen = "split_part(current_setting('wac_step.skip'), ' ', 1)"
const isChosen = `s.webhook_id = ${chosen} and s.until = split_part(current_setting('wac_step.skip'), ' ', 2)::bigint`

const lockText = `select h.webhook_id from wac.webhook_health h where h.webhook_id = ${chosen} for no key update`

interface Skip {
  readonly webhookId: Id.WebhookId
  readonly until: string
  readonly skippedAt: Time.Instant
  readonly tidiedUntil: Time.Instant
  /** Whether no more deliveries can come under this skip. */
  readonly isOver: boolean
}

const skip = columns<Skip>({
  webhookId: "text",
  until: "text",
  skippedAt: "bigint",
  tidiedUntil: "bigint",
  isOver: "boolean"
})

const loadSkip = statement(
  { asked: value<Time.Instant | null>() },
  ({ asked }) =>
    `select s.webhook_id, s.until::text, s.skipped_at, s.tidied_until,
    s.until < ${everything} or s.skipped_at < ${Clocks.at(asked)} - ${Clocks.spread} as is_over
  from wac.webhook_skips s where ${isChosen}`
)

const skipped = delivery.pick("workspaceId", "id", "createdAt", "orderKey")

const loadSkipped = statement({ limit: value<number>() }, ({ limit }) =>
  `select ${skipped.names("d")}
  from wac.webhook_skips s cross join lateral (
    select d.* from wac.deliveries d
    where d.webhook_id = s.webhook_id and d.status = 'pending' and d.position <= s.until
      and d.created_at >= s.tidied_until and d.created_at < s.created_before
    order by d.created_at, d.id limit ${limit}::integer
    for no key update
  ) d
  where ${isChosen}`)

type Skipped = ReturnType<typeof skipped.read>

interface Loaded extends Step.Known {
  readonly skip: Skip | undefined
  readonly skipped: ReadonlyArray<Skipped>
}

interface Writes {
  readonly skip: Skip | undefined
  readonly skipped: ReadonlyArray<Skipped>
  readonly now: Time.Instant
}

const written = delivery.pick("workspaceId", "id", "status", "nextAttemptAt", "completedAt")

/** Ends claims whose lease has ended. A live claim stays, since its delivery is being attempted. */
const endClaims = statement({
  webhookId: value<Id.WebhookId>(),
  ids: list<Id.DeliveryId>("text"),
  now: value<Time.Instant>()
}, ({ ids, now, webhookId }) =>
  `delete from wac.delivery_claims k
  where k.webhook_id = ${webhookId} and k.delivery_id = any (${ids}) and k.lease_until <= ${now}`)

const writeSkipped = unlessEmpty(
  written,
  (rows) =>
    `update wac.deliveries d set ${written.set("u", "workspaceId", "id")}
  from ${rows("u")} where d.workspace_id = u.workspace_id and d.id = u.id`
)

const place = skip.pick("webhookId", "until").one

const reach = statement(
  { place, at: value<Time.Instant>() },
  ({ at, place: { until, webhookId } }) =>
    `update wac.webhook_skips s set tidied_until = ${at} where s.webhook_id = ${webhookId} and s.until = ${until}::bigint`
)

const remove = statement(
  { place },
  ({ place: { until, webhookId } }) =>
    `delete from wac.webhook_skips s where s.webhook_id = ${webhookId} and s.until = ${until}::bigint`
)

const webhook = { webhookId: value<Id.WebhookId>() }

const finish = statement(webhook, ({ webhookId }) =>
  `update wac.webhooks w set replayed_from = null
  where w.id = ${webhookId} and not exists (select from wac.webhook_skips s where s.webhook_id = ${webhookId})`)

const makeReady = statement(
  { ...webhook, now: value<Time.Instant>() },
  ({ now, webhookId }) =>
    `update wac.webhook_health h set ready_at = least(h.ready_at, ${now}::bigint), changes = h.changes + 1
  where h.webhook_id = ${webhookId}
    and exists (select from wac.webhooks w where w.id = ${webhookId} and w.paused_at is null)`
)

const write = ({ now, skip, skipped }: Writes): ReadonlyArray<Statement> => {
  if (skip === undefined) return []
  const { isOver, skippedAt, tidiedUntil, webhookId } = skip
  if (skipped.length > 0) {
    const keys = [...new Set(skipped.map(({ orderKey }) => orderKey))].filter((key) => key !== null)
    return [
      endClaims({ webhookId, ids: skipped.map(({ id }) => id), now }),
      ...writeSkipped(skipped.map((one) => ({ ...one, ...Delivery.ending("skipped", skippedAt) }))),
      reach({ place: skip, at: Math.max(tidiedUntil, ...skipped.map(({ createdAt }) => createdAt)) }),
      ...free(keys.map((orderKey) => ({ webhookId, orderKey, at: now })))
    ]
  }
  // look once more from the beginning, since an older delivery may have been recorded later
  if (tidiedUntil > 0) return [reach({ place: skip, at: 0 })]
  return isOver ? [remove({ place: skip }), finish({ webhookId }), makeReady({ webhookId, now })] : []
}

/** `DeliveryStore.tidySkipped`, step by step. */
export const tidySkipped: StepOptions<Tidy, Loaded, Tidied, Writes> = {
  size: 1,
  load: ([command]) => {
    const { after, asked, limit } = command!
    return [
      choose({ asked: asked ?? null, webhookId: after?.webhookId ?? "", until: after?.until ?? "0" }),
      { text: lockText },
      loadSkip({ asked: asked ?? null }),
      loadSkipped({ limit })
    ]
  },
  read: ([, , skips, deliveries], now) => ({
    now,
    skip: skips!.map(skip.read)[0],
    skipped: deliveries!.map(skipped.read)
  }),
  decide: ({ now, skip, skipped }, [command]) => {
    const isAgain = skipped.length === 0 && skip !== undefined && skip.tidiedUntil > 0
    return {
      answers: [{
        written: skipped.length,
        next: skip === undefined || skipped.length > 0 ? undefined : isAgain ? command!.after ?? none : skip
      }],
      writes: { now: now(command!.asked ?? 0), skip, skipped }
    }
  },
  write
}

/** The place before all skips. */
const none: Place = { webhookId: "", until: "0" }
