/**
 * Writes the status of deliveries that a resume or a removal skipped (`webhook_skips`): a bounded number for one
 * webhook at a time.
 */
import { Delivery, type Step, type Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { instant, plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"
import { follow } from "./DeliveryOrder.ts"
import { delivery } from "./StoredDelivery.ts"

/** Where the last look ended. The next one continues after it. */
interface Place {
  readonly webhookId: string
  readonly until: string
}

/** Looks at the next webhook that may have something to write. */
export interface Tidy {
  readonly after: Place | undefined
  readonly limit: number
  /** The time in tests that control it; `undefined` for the database's time. */
  readonly asked: Time.Instant | undefined
}

/** The result of a look. */
export interface Tidied {
  readonly written: number
  /** Where the next look continues; `undefined` once something is written or nothing is left. */
  readonly next: Place | undefined
}

const everything = "9223372036854775807"

/**
 * A separate statement, so that the statements after it know which webhook it has chosen. A recording that read a
 * webhook before its removal may commit after it, but not later than clocks may differ, so the row of a removal stays
 * that long.
 */
const chooseText = `select set_config('wac.skip', coalesce((
    select s.webhook_id || ' ' || s.until from webhook_skips s
    where (s.webhook_id, s.until) > ($2::text, $3::bigint)
      and (
        s.until < ${everything} or s.skipped_at < ${Clocks.at("$1")} - ${Clocks.spread}
        or exists (select from deliveries d where d.webhook_id = s.webhook_id and d.status = 'pending')
      )
    order by s.webhook_id, s.until limit 1
    for update skip locked
  ), ' 0'), true)`

const chosen = "split_part(current_setting('wac.skip'), ' ', 1)"
const isChosen = `s.webhook_id = ${chosen} and s.until = split_part(current_setting('wac.skip'), ' ', 2)::bigint`

const lockText = `select h.webhook_id from webhook_health h where h.webhook_id = ${chosen} for no key update`

const skipText = `select s.webhook_id, s.until::text, s.skipped_at, s.tidied_until,
    s.until < ${everything} or s.skipped_at < ${Clocks.at("$1")} - ${Clocks.spread} as is_over
  from webhook_skips s where ${isChosen}`

const skippedText = `select d.workspace_id, d.id, d.created_at, d.order_key
  from webhook_skips s cross join lateral (
    select d.* from deliveries d
    where d.webhook_id = s.webhook_id and d.status = 'pending' and d.position <= s.until
      and d.created_at >= s.tidied_until and d.created_at < s.created_before
    order by d.created_at, d.id limit $1::integer
    for no key update
  ) d
  where ${isChosen}`

interface Skip extends Place {
  readonly skippedAt: Time.Instant
  readonly tidiedUntil: Time.Instant
  /** Whether nothing can be added to it. */
  readonly isOver: boolean
}

interface Skipped {
  readonly workspaceId: string
  readonly id: string
  readonly createdAt: Time.Instant
  readonly orderKey: string | null
}

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

/** What is still claimed is being attempted. */
const unclaimText = `delete from delivery_claims k
  where k.webhook_id = $1 and k.delivery_id = any ($2::text[]) and k.lease_until <= $3`

const writeText = `update deliveries d set ${written.set("u", "workspaceId", "id")}
  from ${written.rows("u")} where d.workspace_id = u.workspace_id and d.id = u.id`

const reachText = "update webhook_skips s set tidied_until = $3 where s.webhook_id = $1 and s.until = $2::bigint"

const removeText = "delete from webhook_skips s where s.webhook_id = $1 and s.until = $2::bigint"

const overText = `update webhooks w set replayed_from = null
  where w.id = $1 and not exists (select from webhook_skips s where s.webhook_id = $1)`

const readyText = `update webhook_health h set ready_at = least(h.ready_at, $2::bigint), changes = h.changes + 1
  where h.webhook_id = $1 and exists (select from webhooks w where w.id = $1 and w.paused_at is null)`

const write = ({ now, skip, skipped }: Writes): ReadonlyArray<Statement> => {
  if (skip === undefined) return []
  const { isOver, skippedAt, tidiedUntil, until, webhookId } = skip
  const reach = (at: Time.Instant): Statement => ({ text: reachText, params: [webhookId, until, at] })
  if (skipped.length > 0) {
    const keys = [...new Set(skipped.map(({ orderKey }) => orderKey))].filter((key) => key !== null)
    return [
      { text: unclaimText, params: [webhookId, texts(skipped.map(({ id }) => id)), now] },
      {
        text: writeText,
        params: written.params(skipped.map((one) => ({ ...one, ...Delivery.ending("skipped", skippedAt) })))
      },
      reach(Math.max(tidiedUntil, ...skipped.map(({ createdAt }) => createdAt))),
      ...keys.length === 0 ? [] : [
        follow(keys.map((orderKey) => ({ webhookId, orderKey, at: now }))),
        { text: "update webhook_health h set changes = h.changes + 1 where h.webhook_id = $1", params: [webhookId] },
        { text: "select pg_notify('wac_deliveries', 'freed')" }
      ]
    ]
  }
  // once more from the beginning: an older delivery may have been recorded later
  if (tidiedUntil > 0) return [reach(0)]
  return isOver
    ? [
      { text: removeText, params: [webhookId, until] },
      { text: overText, params: [webhookId] },
      { text: readyText, params: [webhookId, now] }
    ]
    : []
}

/** `DeliveryStore.tidySkipped`, look by look. */
export const tidySkipped: StepOptions<Tidy, Loaded, Tidied, Writes> = {
  size: 1,
  load: ([command]) => {
    const { after, asked, limit } = command!
    return [
      { text: chooseText, params: [asked ?? null, after?.webhookId ?? "", after?.until ?? "0"] },
      { text: lockText },
      { text: skipText, params: [asked ?? null] },
      { text: skippedText, params: [limit] }
    ]
  },
  read: ([, , skips, skipped], now) => ({
    now,
    skip: skips!.map((row): Skip => ({
      webhookId: plain(row, "webhook_id"),
      until: plain(row, "until"),
      skippedAt: instant(row, "skipped_at"),
      tidiedUntil: instant(row, "tidied_until"),
      isOver: plain(row, "is_over")
    }))[0],
    skipped: skipped!.map((row) => ({
      workspaceId: plain(row, "workspace_id"),
      id: plain(row, "id"),
      createdAt: instant(row, "created_at"),
      orderKey: plain(row, "order_key")
    }))
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

/** Sorts before all webhooks. */
const none: Place = { webhookId: "", until: "0" }
