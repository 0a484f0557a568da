/**
 * The stored form of subscriptions and their entries, and SQL for their oldest unhandled event.
 */
import type { Subscription } from "@wac/core"
import { columns } from "../Columns.ts"

/** The columns of a subscription. */
export const subscription = columns<Subscription.Subscription, { readonly types: "event_types" }>({
  workspaceId: "text",
  name: "text",
  types: "text[]",
  place: "bigint",
  owner: "text",
  leaseUntil: "bigint",
  createdAt: "bigint"
}, { types: "event_types" })

/** The primary key of a subscription. */
export const key = subscription.pick("workspaceId", "name")

/** The columns of an entry: an event that a subscription has taken up. */
export const entry = columns<Subscription.Entry>({
  workspaceId: "text",
  name: "text",
  eventId: "text",
  place: "bigint",
  orderKey: "text",
  recordedAt: "bigint",
  state: "text",
  attempts: "integer",
  roundAttempts: "integer",
  roundStartedAt: "bigint",
  startedAt: "bigint",
  nextAt: "bigint",
  failedAt: "bigint",
  failure: "text"
})

/**
 * An expression for when the oldest event that a subscription has not handled was recorded, except failed ones that
 * were set aside; null if there is none. Each type is read as its own range of the index.
 */
export const oldestUnhandled = (subscription: string): string =>
  `(select least(
      (
        select n.recorded_at from wac.subscription_entries n
        where n.workspace_id = ${subscription}.workspace_id and n.name = ${subscription}.name and n.state <> 'failed'
        order by n.recorded_at limit 1
      ),
      (
        select min(v.created_at) from unnest(${subscription}.event_types) as t (type) cross join lateral (
          select v.created_at from wac.events v
          where v.workspace_id = ${subscription}.workspace_id and v.type = t.type and v.position > ${subscription}.place
          order by v.position limit 1
        ) v
      )
    ))`
