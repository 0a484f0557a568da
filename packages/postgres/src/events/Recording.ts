/**
 * Records events in the transaction that makes the changes they report, each with a delivery if the workspace's webhook
 * subscribes to its type.
 */
import type { Event } from "@wac/core"
import { columns } from "../Columns.ts"
import { type Statement, statement } from "../Statement.ts"
import { announce } from "./EventPositions.ts"
import { event } from "./StoredEvent.ts"

/**
 * Locks the health of webhooks where an earlier delivery with the same order key is still pending, because that
 * delivery may be ending now. A transaction that ends one holds the webhook's health. So either this waits for that
 * transaction and sees that the predecessor has ended, or that transaction waits for this one and sees the follower.
 */
const wait = statement(
  { followers: event.pick("workspaceId", "orderKey") },
  ({ followers }) =>
    `select h.webhook_id from wac.webhook_health h
  where h.webhook_id = any (array(
    select d.webhook_id from ${followers("e")}
    cross join lateral (
      select w.id, w.skipped_until from wac.webhooks w where w.workspace_id = e.workspace_id offset 0
    ) w
    cross join lateral (
      select d.webhook_id from wac.deliveries d
      where d.order_key = e.order_key and d.webhook_id = w.id and d.status = 'pending'
        -- skipped deliveries are not waited for
        and d.position > w.skipped_until
      order by d.sequence limit 1
    ) d
  ))
  order by h.webhook_id for share`
)

/**
 * Parts of a `with` that write the events of `source`, named `e`, and a delivery for each whose type the workspace's
 * webhook subscribes to. `waiting` is the condition under which a delivery waits for an earlier one; by default none
 * does.
 */
export const recording = (source: string, waiting = "false"): string =>
  `announced as materialized (
    ${announce}
  ), told as materialized (
    select e.*, nextval('wac.positions') as position from announced, ${source}
  ), events as (
    insert into wac.events (${event.names()}, position) select ${event.names("e")}, e.position from told e
  ), wanted as materialized (
    select e.*, w.id as webhook_id, w.envelope, w.paused_at, ${waiting} as waits
    from told e
    cross join lateral (
      select w.id, w.envelope, w.paused_at, w.event_types, w.skipped_until from wac.webhooks w
      where w.workspace_id = e.workspace_id and e.type = any (w.event_types) offset 0
    ) w
  ), recorded as (
    insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, order_key, sequence, status,
      next_attempt_at, created_at, position)
    select e.delivery_id, e.workspace_id, e.webhook_id, e.id, e.type, e.envelope, e.order_key, e.sequence, 'pending',
      case when not e.waits then e.created_at end, e.created_at, e.position
    from wanted e
  )`

/**
 * Notifies claimers of deliveries that {@link recording} wrote, except held ones, which the resume announces.
 * Deliveries recorded during a resume are found by the next poll. The payload is not empty, since an empty one means
 * that something may have been missed.
 */
export const wake =
  `(select pg_notify('wac:wac_deliveries', 'recorded') from wanted e where e.paused_at is null limit 1)`

/** An event, and the id of its delivery. */
const recorded = event.and(columns<Pick<Event.Recorded, "deliveryId">>({ deliveryId: "text" }))

const recordingAll = (waiting?: string) =>
  statement({ events: recorded }, ({ events }) =>
    `with ${recording(events("e", "place"), waiting)}
  select ${wake}`)

/**
 * A condition: whether an event's delivery must wait for a delivery of an earlier event of its message, in this batch
 * or pending.
 */
const waits = `e.sequence > 1 and (
      exists (
        select from told o
        where o.order_key = e.order_key and o.sequence < e.sequence and o.type = any (w.event_types)
      )
      -- not exists, which drops the order and with it the index of order keys
      or (
        select d.id from wac.deliveries d
        where d.order_key = e.order_key and d.webhook_id = w.id and d.status = 'pending' and d.position > w.skipped_until
        order by d.sequence limit 1
      ) is not null
    )`

const recordAlone = recordingAll()
const recordFollowing = recordingAll(waits)

/** Writes events in their order. The caller must hold the rows of the events' messages. */
export const record = (recorded: ReadonlyArray<Event.Recorded>): ReadonlyArray<Statement> => {
  if (recorded.length === 0) return []
  const events = recorded.map(({ deliveryId, event }) => ({ ...event, deliveryId }))
  const followers = events.filter(({ sequence }) => sequence !== null && sequence > 1)
  return followers.length === 0 ? [recordAlone({ events })] : [wait({ followers }), recordFollowing({ events })]
}
