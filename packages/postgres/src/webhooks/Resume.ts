/**
 * Resumes webhooks (core's `WebhookStep.resume`). Held deliveries that are not to be replayed are skipped by position:
 * all up to one position in the order of writing, so the cost does not depend on their number. Claims stay, for the
 * attempts in flight.
 */
import { type Id, type Time, type Webhook, WebhookStep } from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { settled } from "../events/EventPositions.ts"
import { statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { lockHealth } from "./Health.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

/**
 * In milliseconds. Scans leave out deliveries that were recorded longer than this before the time from which to replay.
 */
const margin = Duration.toMillis(Duration.minutes(1))

/**
 * The number of deliveries from the time from which to replay whose lowest position decides, instead of the first
 * one's. Positions follow the order of time only except for differing clocks and long transactions.
 */
const lookedAt = 10_000

/**
 * Up to where a webhook's deliveries were skipped before. Deliveries that are being recorded at this moment have
 * positions above `settled`.
 */
interface Places {
  readonly settled: number
  readonly skippedUntil: number
  readonly replayedFrom: Time.Instant | null
  /** The latest time at which a pending delivery was recorded; `null` if there are none. */
  readonly newest: Time.Instant | null
}

interface Loaded extends WebhookStep.Loaded {
  readonly places: ReadonlyMap<Id.WebhookId, Places>
  /** The lowest position of deliveries that were recorded at `from` or later; `null` if there are none. */
  readonly first: (webhookId: Id.WebhookId, from: Time.Instant) => number | null
}

const placed = columns<Places & { readonly id: Id.WebhookId }>({
  id: "text",
  skippedUntil: "bigint",
  replayedFrom: "bigint",
  settled: "bigint",
  newest: "bigint"
})

const loadPlaces = statement(
  { workspaces: list<Id.WorkspaceId>("text") },
  ({ workspaces }) =>
    `select w.id, w.skipped_until, w.replayed_from, ${settled} as settled, (
    select d.created_at from wac.deliveries d where d.webhook_id = w.id and d.status = 'pending'
    order by d.created_at desc, d.id desc limit 1
  ) as newest
  from wac.webhooks w where w.workspace_id = any (${workspaces}) order by w.id for no key update`
)

const first = row({ id: text<Id.WebhookId>(), since: bigint(), place: bigint<number | null>() })

const loadFirst = statement({
  asked: row({ workspaceId: text<Id.WorkspaceId>(), since: bigint() })
}, ({ asked }) =>
  `select w.id, a.since, (
    select min(oldest.position) from (
      select d.position from wac.deliveries d
      where d.webhook_id = w.id and d.status = 'pending' and d.created_at >= a.since
      order by d.created_at, d.id limit ${lookedAt}
    ) oldest
  ) as place
  from ${asked("a")}
  cross join lateral (select w.id from wac.webhooks w where w.workspace_id = a.workspace_id offset 0) w`)

const writeResumed = unlessEmpty(
  columns<Pick<Webhook.Webhook, "id" | "resumedAt">>({ id: "text", resumedAt: "bigint" }),
  (rows) =>
    `update wac.webhooks w set paused_at = null, resumed_at = r.resumed_at
  from ${rows("r")} where w.id = r.id`
)

const skip = row({
  webhookId: text<Id.WebhookId>(),
  until: bigint(),
  skippedAt: bigint(),
  createdBefore: bigint()
})

const skipUntil = unlessEmpty(
  skip.pick("webhookId", "until").and(placed.pick("replayedFrom")),
  (rows) =>
    `update wac.webhooks w set skipped_until = s.until, replayed_from = s.replayed_from
  from ${rows("s")} where w.id = s.webhook_id`
)

const insertSkips = insert(skip, "wac.webhook_skips")

const makeReady = unlessEmpty(
  row({ webhookId: text<Id.WebhookId>(), at: bigint() }),
  (rows) =>
    `update wac.webhook_health h set ready_at = least(h.ready_at, r.at), changes = h.changes + 1
  from ${rows("r")} where h.webhook_id = r.webhook_id`
)

const lock = lockHealth("no key update")

/** Up to which position a resume skips, and the bounds in time for later scans; empty if it skips nothing more. */
const skipOf = ({ first, places }: Loaded, { at, skip, webhook: { id } }: WebhookStep.Resumption) => {
  if (skip === undefined) return []
  const { newest, replayedFrom, settled, skippedUntil } = places.get(id)!
  const { from } = skip
  const until = from === null ? settled : Math.min(settled, (first(id, from) ?? Infinity) - 1)
  if (until <= skippedUntil) return []
  const begins = from === null ? at : Math.min(from, at)
  return [{
    webhookId: id,
    until,
    skippedAt: at,
    // a delivery from the future was recorded before the clock was set back, however far
    createdBefore: Math.max(begins + Clocks.spread, newest !== null && newest > at ? newest + 1 : 0),
    replayedFrom: from === null || replayedFrom === null ? begins - margin : Math.max(begins - margin, replayedFrom)
  }]
}

/** `WebhookStore.resume`. */
export const resume: StepOptions<
  WebhookStep.Resume,
  Loaded,
  Webhook.Webhook | undefined,
  WebhookStep.ResumeWrites
> = {
  load: (commands) => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    const asked = commands.flatMap(({ replay, workspaceId }) =>
      typeof replay === "string" ? [] : [{ workspaceId, since: replay.since }]
    )
    return [lock({ workspaces }), loadPlaces({ workspaces }), loadPresent({ workspaces }), loadFirst({ asked })]
  },
  read: ([, places, present, firstRows], now) => {
    const firsts = new Map(firstRows!.map(first.read).map(({ id, place, since }) => [`${id} ${since}`, place]))
    return {
      ...readPresent(present!, now),
      places: new Map(places!.map(placed.read).map((place) => [place.id, place])),
      first: (webhookId, from) => firsts.get(`${webhookId} ${from}`) ?? null
    }
  },
  decide: WebhookStep.resume,
  write: ({ resumed }, loaded) => {
    if (resumed.length === 0) return []
    const skips = resumed.flatMap((one) => skipOf(loaded, one))
    return [
      ...writeResumed(resumed.map(({ webhook }) => webhook)),
      ...skipUntil(skips),
      ...insertSkips(skips),
      ...makeReady(resumed.map(({ at, webhook }) => ({ webhookId: webhook.id, at }))),
      { text: "select pg_notify('wac:wac_deliveries', 'resumed')" }
    ]
  }
}
