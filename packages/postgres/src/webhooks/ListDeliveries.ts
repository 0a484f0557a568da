/**
 * Pages of deliveries, as people see them. Status and message have indexes; any other filter scans a bounded number of
 * the remaining deliveries.
 */
import { type Delivery, DeliveryStore, Event, Id, MessageStore, Page } from "@wac/core"
import { Duration } from "effect"
import { columns, double, row, text } from "../Columns.ts"
import { event as stored } from "../events/StoredEvent.ts"
import { texts } from "../Parameter.ts"
import type { Row, Rows } from "../Statement.ts"
import { delivery, shownOf } from "./StoredDelivery.ts"

/** A delivery's own columns of those that {@link listedOf} reads. */
const shown = `select ${delivery.names("d")}, w.paused_at::double precision, s.skipped_at::double precision
  from wac.deliveries d
  left join wac.webhooks w on w.id = d.webhook_id
  left join lateral (
    select s.skipped_at from wac.webhook_skips s where s.webhook_id = d.webhook_id and s.until >= d.position
    order by s.until limit 1
  ) s on d.status = 'pending'`

const webhook = row({ pausedAt: double<number | null>() })

/** The other columns that {@link listedOf} reads, and the tables that they are in, of the deliveries of a page. */
const others = "e.event_data, l.last_outcome, l.last_status_code"
const tables = (page: string): string =>
  `left join lateral (
    select e.data as event_data from wac.events e where e.id = ${page}.event_id offset 0
  ) e on true
  left join lateral (
    select l.outcome as last_outcome, l.status_code as last_status_code
    from wac.attempts l where l.delivery_id = ${page}.id and l.number = ${page}.attempt_count offset 0
  ) l on true`

const other = columns<{
  readonly eventData: Event.EventData | null
  readonly lastOutcome: Delivery.AttemptOutcome | null
  readonly lastStatusCode: number | null
}>({ eventData: "json", lastOutcome: "text", lastStatusCode: "integer" })

/** The delivery of a row, as a list shows it. */
export const listedOf = (row: Row): DeliveryStore.ListedDelivery => {
  const delivery = shownOf(row)
  const { eventData, lastOutcome, lastStatusCode } = other.read(row)
  return {
    ...DeliveryStore.viewOf(delivery, { id: delivery.webhookId, ...webhook.read(row) }),
    customer: Event.customerOf({ type: delivery.eventType, data: eventData ?? {} }),
    lastAttempt: lastOutcome === null ? null : { outcome: lastOutcome, statusCode: lastStatusCode }
  }
}

const present = (pausedAt: string): string => {
  const webhook = (column: string) =>
    `(
    select p.${column} from wac.webhooks p where p.workspace_id = $1 and p.paused_at is ${pausedAt}
  )`
  return `d.status = 'pending' and d.webhook_id = ${webhook("id")} and d.position > ${webhook("skipped_until")}`
}

const isOpen = (status: Delivery.DeliveryStatus | undefined): boolean => status === "pending" || status === "held"

const orderOf = (status: Delivery.DeliveryStatus | undefined, table: string): string =>
  isOpen(status) ? `${table}.created_at desc, ${table}.id desc` : `${table}.id desc`

/**
 * Pending and held deliveries belong to the present webhook and have an index of their own, since they may be far from
 * the newest.
 */
const whereOf = (status: Delivery.DeliveryStatus | undefined, isAfter: boolean): string => {
  const where = {
    all: "d.workspace_id = $1",
    delivered: "d.workspace_id = $1 and d.status = 'delivered'",
    exhausted: "d.workspace_id = $1 and d.status = 'exhausted'",
    skipped: "d.workspace_id = $1 and (d.status = 'skipped' or s.skipped_at is not null)",
    pending: present("null"),
    held: present("not null")
  }[status ?? "all"]
  const after = isOpen(status)
    ? "(d.created_at, d.id) < ((select c.created_at from wac.deliveries c where c.workspace_id = $1 and c.id = $3), $3)"
    : "d.id < $3"
  return `${where}${isAfter ? ` and ${after}` : ""}`
}

/** Deliveries of a status, newest first. $1 workspace, $2 limit, $3 the delivery that the page follows. */
export const listText = (status: Delivery.DeliveryStatus | undefined, isAfter: boolean): string =>
  `with page as (${shown} where ${whereOf(status, isAfter)} order by ${orderOf(status, "d")} limit $2)
  select p.*, ${others} from page p ${tables("p")} order by ${orderOf(status, "p")}`

/** A delivery, if the workspace has it, with more columns. */
export const oneText = (workspaceId: string, id: string, more: string): string =>
  `with page as (${shown} where d.workspace_id = ${workspaceId} and d.id = ${id})
  select p.*, ${others}, ${more} from page p ${tables("p")}`

/**
 * Deliveries that pass a filter: with ids from $4 and below $5, or among $6, of the type $7, recorded from $8 and
 * before $9, with the last attempt's outcome $10 and status code $11. Each row says where the filter stopped scanning
 * if it reached its maximum; if none passes, a row without a delivery does.
 */
const filteredText = (status: Delivery.DeliveryStatus | undefined, isAfter: boolean, isOfSome: boolean): string =>
  `with looked as materialized (
    ${shown}
    where ${whereOf(status, isAfter)} and ${isAfter ? "" : "$3::text is null and "}d.id >= $4 and d.id < $5
      and ${isOfSome ? "d.id = any($6::text[])" : "$6::text[] is null"}
    order by ${orderOf(status, "d")} limit ${Page.lookedAt}
  ), found as materialized (
    select l.* from looked l
    where coalesce(l.event_type = $7, true)
      and coalesce(l.created_at >= $8::bigint, true) and coalesce(l.created_at < $9::bigint, true)
      and ($10::text is null and $11::integer is null or exists (
        select from wac.attempts a where a.delivery_id = l.id and a.number = l.attempt_count
          and coalesce(a.outcome::text = $10, true) and coalesce(a.status_code = $11, true)
      ))
    order by ${orderOf(status, "l")} limit $2
  )
  select f.*, r.reached, ${others}
  from (
    select (
      select l.id from looked l order by ${orderOf(status, "l")} offset ${Page.lookedAt - 1} limit 1
    ) as reached
  ) r left join found f on true
  ${tables("f")}
  order by ${orderOf(status, "f")}`

/** How far a delivery's id may be ahead: it is created before the delivery, perhaps by another clock. */
const ahead = Duration.toMillis(MessageStore.idAhead)

/** A statement with its parameters. */
interface Asked {
  readonly text: string
  readonly params: ReadonlyArray<unknown>
}

/** The statement of a page. `ids` are the deliveries of the message in the filter. */
export const listDeliveries = (
  workspaceId: Id.WorkspaceId,
  { eventType, outcome, since, status, statusCode, until }: DeliveryStore.DeliveryFilter,
  { after, limit }: Page.PageRequest,
  ids: ReadonlyArray<string> | undefined
): Asked => {
  const isFiltered = [ids, eventType, outcome, since, statusCode, until].some((given) => given !== undefined)
  return isFiltered
    ? {
      text: filteredText(status, after !== null, ids !== undefined),
      params: [
        workspaceId,
        limit + 1,
        after,
        since === undefined ? "" : Id.lowestAt("dlv", since - ahead),
        until === undefined ? Id.highest("dlv") : Id.lowestAt("dlv", until + ahead),
        ids === undefined ? null : texts(ids),
        eventType ?? null,
        since ?? null,
        until ?? null,
        outcome ?? null,
        statusCode ?? null
      ]
    }
    : {
      text: listText(status, after !== null),
      params: [workspaceId, limit + 1, ...after === null ? [] : [after]]
    }
}

const stopped = row({ reached: text<Id.DeliveryId | null>() })

/** The page of {@link listDeliveries}. */
export const pageOf = (rows: Rows, request: Page.PageRequest): Page.Page<DeliveryStore.ListedDelivery> => {
  const found = rows.filter((row) => row["id"] !== null).map(listedOf)
  const { items, next } = Page.fromOverread(found, request, ({ delivery }) => delivery.id)
  return { items, next: next ?? rows.filter((row) => "reached" in row).map(stopped.read)[0]?.reached ?? null }
}

const event = stored.pick("id")

/** A message's events, by their index. */
export const eventsText = "select e.id from wac.events e where e.order_key = $2 and e.workspace_id = $1"

/** The deliveries of these events: searched among ids created at about the same time as the events'. */
export const deliveriesOf = (workspaceId: Id.WorkspaceId, events: Rows): Asked => {
  const ids = events.map((row) => event.read(row).id)
  const apart = Duration.toMillis(DeliveryStore.idsApart)
  return {
    text: `select d.id from unnest($2::text[], $3::text[], $4::text[]) as e (id, first, last)
      cross join lateral (
        select d.id from wac.deliveries d
        where d.workspace_id = $1 and d.id >= e.first and d.id < e.last and d.event_id = e.id
      ) d`,
    params: [
      workspaceId,
      texts(ids),
      texts(ids.map((id) => Id.lowestAt("dlv", Id.timeOf(id) - apart))),
      texts(ids.map((id) => Id.lowestAt("dlv", Id.timeOf(id) + apart)))
    ]
  }
}
