/**
 * Releases claims of deliveries, so that other claims can take them.
 */
import type { Delivery } from "@wac/core"
import { type Statement, statement, value } from "../Statement.ts"
import { lockHealthOf } from "./Health.ts"
import { delivery } from "./StoredDelivery.ts"

const releaseAll = statement({
  token: value<string>(),
  released: delivery.pick("webhookId", "id")
}, ({ released, token }) =>
  `with given as (
    delete from wac.delivery_claims k using ${released("r")}
    where k.webhook_id = r.webhook_id and k.delivery_id = r.id and k.token = ${token}
    returning k.workspace_id, k.delivery_id, k.webhook_id
  ), due as (
    select g.webhook_id, min(d.next_attempt_at) as at
    from given g join wac.deliveries d on d.workspace_id = g.workspace_id and d.id = g.delivery_id
    group by g.webhook_id
  ), ready as (
    update wac.webhook_health h
    set ready_at = least(h.ready_at, due.at, h.recovered_at, w.resumed_at), changes = h.changes + 1
    from due join wac.webhooks w on w.id = due.webhook_id
    where h.webhook_id = due.webhook_id
    returning h.webhook_id
  )
  select pg_notify('wac:wac_deliveries', 'released') from ready limit 1`)

/** The statements that release claims of this token. */
export const release = (
  token: string,
  deliveries: ReadonlyArray<Pick<Delivery.Delivery, "id" | "webhookId">>
): ReadonlyArray<Statement> => [
  lockHealthOf(deliveries.map(({ webhookId }) => webhookId)),
  releaseAll({ token, released: deliveries })
]
