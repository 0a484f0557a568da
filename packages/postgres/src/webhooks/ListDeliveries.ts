/**
 * Pages of deliveries, as people see them. The message and every status but `delivered` have indexes; any other filter
 * scans a bounded number of the remaining deliveries.
 */
import { Delivery, DeliveryStore, Event, Id, MessageStore, Page, type Time } from "@wac/core"
import { Duration, Record } from "effect"
import { columns, double, list as listOf, row, text } from "../Columns.ts"
import { event as stored } from "../events/StoredEvent.ts"
import {
  ifGiven,
  type OptionalGiven,
  type Row,
  type Rows,
  type Statement,
  statement,
  value,
  variants
} from "../Statement.ts"
import { delivery, shownOf } from "./StoredDelivery.ts"

/** Selects the columns that {@link listedOf} reads, from the delivery, its webhook and the webhook's skips. */
const shownFrom = (deliveries: string): string =>
  `select ${delivery.names("d")}, w.paused_at::double precision, s.skipped_at::double precision
  from ${deliveries} d
  left join wac.webhooks w on w.id = d.webhook_id
  left join lateral (
    select s.skipped_at from wac.webhook_skips s where s.webhook_id = d.webhook_id and s.until >= d.position
    order by s.until limit 1
  ) s on d.status = 'pending'`

const shown = shownFrom("wac.deliveries")

const webhook = row({ pausedAt: double<number | null>() })

/**
 * The further columns that {@link listedOf} reads, and the joins that they need. They are loaded only for the
 * deliveries of a page.
 */
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

/** Reads a delivery as a list shows it. */
export const listedOf = (row: Row): DeliveryStore.ListedDelivery => {
  const delivery = shownOf(row)
  const { eventData, lastOutcome, lastStatusCode } = other.read(row)
  return {
    ...DeliveryStore.viewOf(delivery, { id: delivery.webhookId, ...webhook.read(row) }),
    customer: Event.customerOf({ type: delivery.eventType, data: eventData ?? {} }),
    lastAttempt: lastOutcome === null ? null : { outcome: lastOutcome, statusCode: lastStatusCode }
  }
}

const present = (workspaceId: string, pausedAt: string): string => {
  const webhook = (column: string) =>
    `(
    select p.${column} from wac.webhooks p where p.workspace_id = ${workspaceId} and p.paused_at is ${pausedAt}
  )`
  return `d.status = 'pending' and d.webhook_id = ${webhook("id")} and d.position > ${webhook("skipped_until")}`
}

/** Whether a list is in the order of recording: its deliveries may be open, and those have no index by id. */
const isByTime = (status: Delivery.DeliveryStatus | undefined): boolean =>
  status === "pending" || status === "held" || status === "skipped"

const orderOf = (status: Delivery.DeliveryStatus | undefined, table: string): string =>
  isByTime(status) ? `${table}.created_at desc, ${table}.id desc` : `${table}.id desc`

/**
 * The delivery that a page comes after. `created` is given where the list is in the order of times: the latest time at
 * which the delivery can have been recorded, which counts if it was erased since. Some deliveries then come again, but
 * none is missed.
 */
const place = { after: value<string>(), created: value<Time.Instant>() }

/**
 * The condition of the deliveries of a status, after a delivery. Pending and held deliveries belong to the present
 * webhook and have a separate index, since they may be far from the newest.
 */
const whereOf = (
  status: Delivery.DeliveryStatus | undefined,
  workspaceId: string,
  { after, created }: OptionalGiven<typeof place>
): string => {
  const ofWorkspace = `d.workspace_id = ${workspaceId}`
  const where = {
    all: ofWorkspace,
    // without an index, the status is judged after the scan
    delivered: ofWorkspace,
    exhausted: `${ofWorkspace} and d.status = 'exhausted'`,
    // firstOf adds the rest
    skipped: "true",
    pending: present(workspaceId, "null"),
    held: present(workspaceId, "not null")
  }[status ?? "all"]
  const isAfter = (after: string): string =>
    isByTime(status)
      ? `(d.created_at, d.id) < (coalesce((
          select c.created_at from wac.deliveries c where c.workspace_id = ${workspaceId} and c.id = ${after}
        ), ${created}::bigint), ${after})`
      : `d.id < ${after}`
  return `${where}${ifGiven(after, (after) => ` and ${isAfter(after)}`)}`
}

/**
 * Selects the first deliveries of a status under a condition, in their order. Those that a skip holds while they are
 * still to be written as skipped (`TidySkipped`) are read by the index of pending ones of the skip's webhook. All
 * deliveries of a webhook are of one workspace, and the webhook may be gone, so its newest one proves the workspace.
 */
const firstOf = (
  status: Delivery.DeliveryStatus | undefined,
  workspaceId: string,
  where: string,
  limit: number | string
): string => {
  const first = (condition: string) =>
    `${shown} where ${where}${condition} order by ${orderOf(status, "d")} limit ${limit}`
  return status !== "skipped" ? first("") : `select d.* from (
    (${first(` and d.workspace_id = ${workspaceId} and d.status = 'skipped'`)})
    union all
    select d.* from (
      select s.webhook_id, max(s.until) as until, max(s.created_before) as created_before
      from wac.webhook_skips s group by s.webhook_id
    ) k
    cross join lateral (
      select d.workspace_id from wac.deliveries d where d.webhook_id = k.webhook_id and d.status = 'pending'
      order by d.created_at desc, d.id desc limit 1
    ) n
    cross join lateral (${
    first(
      ` and n.workspace_id = ${workspaceId} and d.webhook_id = k.webhook_id and d.status = 'pending'` +
        " and d.position <= k.until and d.created_at < k.created_before"
    )
  }) d
  ) d order by ${orderOf(status, "d")} limit ${limit}`
}

const inputs = { workspaceId: value<Id.WorkspaceId>(), limit: value<number>() }

/** Prepares a statement for each status, and one for all statuses. */
const byStatus = <A>(
  write: (status: Delivery.DeliveryStatus | undefined) => A
): (status: Delivery.DeliveryStatus | undefined) => A => {
  const all = write(undefined)
  const each = Record.fromIterableWith(Delivery.DeliveryStatus.literals, (status) => [status, write(status)])
  return (status) => status === undefined ? all : each[status]!
}

/** Lists delivered deliveries. The scan ends with the page, or at its maximum: then `reached` is where it stopped. */
const scannedText = (where: string, limit: string): string => {
  const scanned = (column: string) => `select ${column} from wac.deliveries d where ${where} order by d.id desc`
  return `with page as materialized (
    ${shownFrom(`(${scanned("d.*")} limit ${Page.maxScanned})`)}
    where d.status = 'delivered' order by d.id desc limit ${limit}
  )
  select p.*, r.reached, ${others}
  from (
    select case when (select count(*) from page) < ${limit} then (
      ${scanned("d.id")} offset ${Page.maxScanned - 1} limit 1
    ) end as reached
  ) r left join page p on true
  ${tables("p")}
  order by p.id desc`
}

/** Lists the deliveries of a status, newest first. */
const list = byStatus((status) =>
  variants(inputs, place, ({ limit, workspaceId }, place) => {
    const where = whereOf(status, workspaceId, place)
    if (status === "delivered") return scannedText(where, limit)
    return `with page as (${firstOf(status, workspaceId, where, limit)})
  select p.*, ${others} from page p ${tables("p")} order by ${orderOf(status, "p")}`
  })
)

/** The text that selects a delivery, if the workspace has it, with the further columns `more`. */
export const oneText = (workspaceId: string, id: string, more: string): string =>
  `with page as (${shown} where d.workspace_id = ${workspaceId} and d.id = ${id})
  select p.*, ${others}, ${more} from page p ${tables("p")}`

/**
 * Lists deliveries that pass a filter, by their ids, event type, time of recording, and the last attempt's outcome and
 * status code. If the scan reached its maximum, `reached` in each row is the id where it stopped. If no delivery
 * passes, a row without a delivery holds it.
 */
const filtered = byStatus((status) =>
  variants(
    {
      ...inputs,
      from: value<string>(),
      below: value<string>(),
      eventType: value<Event.EventType | null>(),
      since: value<Time.Instant | null>(),
      until: value<Time.Instant | null>(),
      outcome: value<Delivery.AttemptOutcome | null>(),
      statusCode: value<number | null>()
    },
    { ...place, ids: listOf<string>("text") },
    ({ below, eventType, from, limit, outcome, since, statusCode, until, workspaceId }, { ids, ...place }) => {
      const where = `${whereOf(status, workspaceId, place)} and d.id >= ${from} and d.id < ${below}${
        // bounds the scan of an index by the time of recording
        isByTime(status)
          ? ` and d.created_at >= coalesce(${since}::bigint, 0)
            and d.created_at < coalesce(${until}::bigint, ${Number.MAX_SAFE_INTEGER})`
          : ""}${ifGiven(ids, (ids) => ` and d.id = any(${ids})`)}`
      return `with looked as materialized (${
        firstOf(status, workspaceId, where, Page.maxScanned)
      }), found as materialized (
    select l.* from looked l
    where ${status === "delivered" ? "l.status = 'delivered' and " : ""}coalesce(l.event_type = ${eventType}, true)
      and coalesce(l.created_at >= ${since}::bigint, true) and coalesce(l.created_at < ${until}::bigint, true)
      and (${outcome}::text is null and ${statusCode}::integer is null or exists (
        select from wac.attempts a where a.delivery_id = l.id and a.number = l.attempt_count
          and coalesce(a.outcome::text = ${outcome}, true) and coalesce(a.status_code = ${statusCode}, true)
      ))
    order by ${orderOf(status, "l")} limit ${limit}
  )
  select f.*, r.reached, ${others}
  from (
    select (
      select l.id from looked l order by ${orderOf(status, "l")} offset ${Page.maxScanned - 1} limit 1
    ) as reached
  ) r left join found f on true
  ${tables("f")}
  order by ${orderOf(status, "f")}`
    }
  )
)

/**
 * How far a delivery's id may differ from its time of recording, in milliseconds: the id is created before the
 * recording, perhaps by a different clock.
 */
const ahead = Duration.toMillis(MessageStore.idAhead)

/** The statement of a page. `ids` are the deliveries of the message in the filter. */
export const listDeliveries = (
  workspaceId: Id.WorkspaceId,
  { eventType, outcome, since, status, statusCode, until }: DeliveryStore.DeliveryFilter,
  { after, limit }: Page.PageRequest,
  ids: ReadonlyArray<string> | undefined
): Required<Statement> => {
  const isFiltered = [ids, eventType, outcome, since, statusCode, until].some((given) => given !== undefined)
  const page = { workspaceId, limit: limit + 1 }
  const place = {
    after: after ?? undefined,
    created: after !== null && isByTime(status) ? Id.timeOf(after as Id.DeliveryId) + ahead : undefined
  }
  return isFiltered
    ? filtered(status)({
      ...page,
      from: since === undefined ? "" : Id.lowestAt("dlv", since - ahead),
      below: until === undefined ? Id.highest("dlv") : Id.lowestAt("dlv", until + ahead),
      eventType: eventType ?? null,
      since: since ?? null,
      until: until ?? null,
      outcome: outcome ?? null,
      statusCode: statusCode ?? null
    }, { ...place, ids })
    : list(status)(page, place)
}

const stopped = row({ reached: text<Id.DeliveryId | null>() })

/** The page of {@link listDeliveries}. */
export const pageOf = (rows: Rows, request: Page.PageRequest): Page.Page<DeliveryStore.ListedDelivery> => {
  const found = rows.filter((row) => row["id"] !== null).map(listedOf)
  const { items, next } = Page.fromOverread(found, request, ({ delivery }) => delivery.id)
  return { items, next: next ?? rows.filter((row) => "reached" in row).map(stopped.read)[0]?.reached ?? null }
}

const event = stored.pick("id")

/** Selects a message's events, by the index of order keys. */
export const eventsOf = statement(
  { workspaceId: value<Id.WorkspaceId>(), messageId: value<Id.MessageId>() },
  ({ messageId, workspaceId }) =>
    `select e.id from wac.events e where e.order_key = ${messageId} and e.workspace_id = ${workspaceId}`
)

/** An event, and the range in which its deliveries' identifiers lie. */
const around = row({ id: text<Id.EventId>(), first: text(), last: text() })

const ofEvents = statement(
  { workspaceId: value<Id.WorkspaceId>(), events: around },
  ({ events, workspaceId }) =>
    `select d.id from ${events("e")}
      cross join lateral (
        select d.id from wac.deliveries d
        where d.workspace_id = ${workspaceId} and d.id >= e.first and d.id < e.last and d.event_id = e.id
      ) d`
)

/**
 * Selects the ids of these events' deliveries. They are searched among ids that were created at about the same time as
 * the events'.
 */
export const deliveriesOf = (workspaceId: Id.WorkspaceId, events: Rows): Statement => {
  const apart = Duration.toMillis(DeliveryStore.idsApart)
  return ofEvents({
    workspaceId,
    events: events.map((row) => event.read(row)).map(({ id }) => ({
      id,
      first: Id.lowestAt("dlv", Id.timeOf(id) - apart),
      last: Id.lowestAt("dlv", Id.timeOf(id) + apart)
    }))
  })
}
