/**
 * Resumes webhooks (core's `WebhookStep.resume`). Held deliveries that are not to be replayed are skipped by position:
 * up to one in the order of writing. So the cost does not depend on their number. Claims stay, for the attempts in
 * flight.
 */
import { type Id, type Time, type Webhook, WebhookStep } from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { instant, instantOrNull, plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { settled } from "../events/Places.ts"
import { instants, texts } from "../Parameter.ts"
import { lockHealth } from "./Health.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

/** Deliveries recorded longer than this before the time from which to replay are not scanned. */
const margin = Duration.toMillis(Duration.minutes(1))

/**
 * Positions are in the order of time, except for differing clocks and long transactions. So the lowest position of this
 * many deliveries decides, not the first one's.
 */
const lookedAt = 10_000

/** How far a webhook was skipped before. Deliveries being recorded at this moment have positions above `settled`. */
interface Places {
  readonly settled: number
  readonly skippedUntil: number
  readonly replayedFrom: Time.Instant | null
}

interface Loaded extends WebhookStep.Loaded {
  readonly places: ReadonlyMap<Id.WebhookId, Places>
  /** The lowest position of deliveries recorded at a time or later. */
  readonly first: (webhookId: Id.WebhookId, from: Time.Instant) => number | null
}

const placesText = `select w.id, w.skipped_until, w.replayed_from, ${settled} as settled
  from webhooks w where w.workspace_id = any ($1::text[]) order by w.id for no key update`

const firstText = `select w.id, a.since, (
    select min(oldest.position) from (
      select d.position from deliveries d
      where d.webhook_id = w.id and d.status = 'pending' and d.created_at >= a.since
      order by d.created_at, d.id limit ${lookedAt}
    ) oldest
  ) as place
  from unnest($1::text[], $2::bigint[]) a (workspace_id, since)
  cross join lateral (select w.id from webhooks w where w.workspace_id = a.workspace_id offset 0) w`

const resumeText = `update webhooks w set paused_at = null, resumed_at = r.resumed_at
  from unnest($1::text[], $2::bigint[]) r (id, resumed_at) where w.id = r.id`

const skipText = `update webhooks w set skipped_until = s.until, replayed_from = s.replayed_from
  from unnest($1::text[], $2::bigint[], $3::bigint[]) s (id, until, replayed_from) where w.id = s.id`

const skipsText = `insert into webhook_skips (webhook_id, until, skipped_at, created_before)
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])`

const readyText = `update webhook_health h set ready_at = least(h.ready_at, r.at), changes = h.changes + 1
  from unnest($1::text[], $2::bigint[]) r (webhook_id, at) where h.webhook_id = r.webhook_id`

/** How far a resume skips, and the times that it concerns. */
const skipOf = ({ first, places }: Loaded, { at, skip, webhook: { id } }: WebhookStep.Resumption) => {
  if (skip === undefined) return []
  const { replayedFrom, settled, skippedUntil } = places.get(id)!
  const { from } = skip
  const until = from === null ? settled : Math.min(settled, (first(id, from) ?? Infinity) - 1)
  if (until <= skippedUntil) return []
  const begins = from === null ? at : Math.min(from, at)
  return [{
    id,
    until,
    at,
    createdBefore: begins + Clocks.spread,
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
    const since = commands.flatMap(({ replay, workspaceId }) =>
      typeof replay === "string" ? [] : [{ workspaceId, from: replay.since }]
    )
    return [
      lockHealth(workspaces, "no key update"),
      { text: placesText, params: [texts(workspaces)] },
      loadPresent(workspaces),
      {
        text: firstText,
        params: [texts(since.map(({ workspaceId }) => workspaceId)), instants(since.map(({ from }) => from))]
      }
    ]
  },
  read: ([, places, present, first], now) => {
    const firsts = new Map(
      first!.map((row) => [`${plain<string>(row, "id")} ${instant(row, "since")}`, instantOrNull(row, "place")])
    )
    return {
      ...readPresent(present!, now),
      places: new Map(places!.map((row) => [plain<Id.WebhookId>(row, "id"), {
        settled: Number(row["settled"]),
        skippedUntil: Number(row["skipped_until"]),
        replayedFrom: instantOrNull(row, "replayed_from")
      }])),
      first: (webhookId, from) => firsts.get(`${webhookId} ${from}`) ?? null
    }
  },
  decide: WebhookStep.resume,
  write: ({ resumed }, loaded) => {
    if (resumed.length === 0) return []
    const ids = texts(resumed.map(({ webhook }) => webhook.id))
    const skips = resumed.flatMap((one) => skipOf(loaded, one))
    const skipped = texts(skips.map(({ id }) => id))
    const until = instants(skips.map(({ until }) => until))
    return [
      { text: resumeText, params: [ids, instants(resumed.map(({ webhook }) => webhook.resumedAt))] },
      ...skips.length === 0 ? [] : [
        { text: skipText, params: [skipped, until, instants(skips.map(({ replayedFrom }) => replayedFrom))] },
        {
          text: skipsText,
          params: [
            skipped,
            until,
            instants(skips.map(({ at }) => at)),
            instants(skips.map(({ createdBefore }) => createdBefore))
          ]
        }
      ],
      { text: readyText, params: [ids, instants(resumed.map(({ at }) => at))] },
      { text: "select pg_notify('wac_deliveries', 'resumed')" }
    ]
  }
}
