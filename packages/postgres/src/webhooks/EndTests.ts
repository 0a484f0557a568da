/**
 * Ends tests that no process is carrying out any more (`Delivery.lostTestStatus`): their claim was released, or its
 * lease has ended. A test whose result is being recorded late, at this moment, is left to its process.
 */
import { Delivery, type Time } from "@wac/core"
import { type Statement, statement, value } from "../Statement.ts"
import { delivery } from "./StoredDelivery.ts"

const ended = delivery.pick("status", "nextAttemptAt", "completedAt")

const endAll = statement(
  { at: value<Time.Instant>(), ended: ended.one },
  ({ at, ended: { completedAt, nextAttemptAt, status } }) =>
    `with left_over as (
    select d.workspace_id, d.webhook_id, d.id, k.delivery_id is not null as is_claimed
    from wac.deliveries d left join wac.delivery_claims k on k.webhook_id = d.webhook_id and k.delivery_id = d.id
    where d.status = 'testing' and (k.delivery_id is null or k.lease_until <= ${at}::bigint)
  ), held as (
    select k.webhook_id, k.delivery_id from wac.delivery_claims k
    where (k.webhook_id, k.delivery_id) in (select l.webhook_id, l.id from left_over l where l.is_claimed)
      and k.lease_until <= ${at}
    for update skip locked
  ), freed as (
    delete from wac.delivery_claims k using held h where k.webhook_id = h.webhook_id and k.delivery_id = h.delivery_id
    returning k.delivery_id
  )
  update wac.deliveries d set status = ${status}, next_attempt_at = ${nextAttemptAt}, completed_at = ${completedAt}
  from left_over l
  where d.workspace_id = l.workspace_id and d.id = l.id and d.status = 'testing'
    and (not l.is_claimed or l.id in (select f.delivery_id from freed f))`
)

/** The statements that end abandoned tests. */
export const endTests = (at: Time.Instant): ReadonlyArray<Statement> => [
  endAll({ at, ended: Delivery.ending(Delivery.lostTestStatus, at) })
]
