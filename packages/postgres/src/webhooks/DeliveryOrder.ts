/**
 * Keeps the deliveries of an order (a webhook and an order key) in sequence: groups loaded deliveries by order, and
 * makes the next delivery of an order due after another one has ended.
 */
import type { Delivery, DeliveryStep, Id, Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { columns, list, unlessEmpty } from "../Columns.ts"
import type { Statement } from "../Statement.ts"

/** Groups open deliveries by order. Returns a lookup, whose deliveries are sorted by sequence. */
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

const followed = columns<
  Pick<Delivery.Delivery, "webhookId" | "orderKey"> & { readonly at: Time.Instant | null }
>({ webhookId: "text", orderKey: "text", at: "bigint" })

/**
 * Makes the first deliveries of orders due (`Delivery.follow`), at the given time or now. The caller must hold the
 * webhooks' health. A transaction that records a follower of a pending delivery locks the webhook's health
 * (`Recording`), so that either it sees that the delivery has ended, or this statement sees the follower.
 */
export const follow = unlessEmpty(followed, (rows) =>
  `with next as (
    select distinct on (n.workspace_id, n.id) n.workspace_id, n.id, coalesce(k.at, ${Clocks.now}) as at
    from ${rows("k")}
    cross join lateral (select w.skipped_until from wac.webhooks w where w.id = k.webhook_id offset 0) w
    cross join lateral (
      select d.workspace_id, d.id, d.next_attempt_at from wac.deliveries d
      where d.order_key = k.order_key and d.webhook_id = k.webhook_id and d.status = 'pending'
        and d.position > w.skipped_until
      order by d.sequence limit 1
    ) n
    where n.next_attempt_at is null
  ), freed as (
    update wac.deliveries d set next_attempt_at = n.at from next n where d.workspace_id = n.workspace_id and d.id = n.id
    returning d.webhook_id, n.at
  )
  update wac.webhook_health h set ready_at = least(h.ready_at, f.at)
  from (select f.webhook_id, min(f.at) as at from freed f group by f.webhook_id) f
  where h.webhook_id = f.webhook_id
  returning h.webhook_id`)

const notice = unlessEmpty(
  list<Id.WebhookId>("text"),
  (ids) => `update wac.webhook_health h set changes = h.changes + 1 where h.webhook_id = any (${ids})`
)

/** {@link follow}, and what notifies claimers of it. */
export const free = (
  orders: ReadonlyArray<Pick<Delivery.Delivery, "webhookId" | "orderKey"> & { readonly at: Time.Instant }>
): ReadonlyArray<Statement> =>
  orders.length === 0 ? [] : [
    ...follow(orders),
    ...notice([...new Set(orders.map(({ webhookId }) => webhookId))]),
    { text: "select pg_notify('wac:wac_deliveries', 'freed')" }
  ]
