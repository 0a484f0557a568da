/**
 * Starts new rounds of deliveries (core's `DeliveryStep.retry`, and steps of replays). The caller must hold the
 * webhook's health, so that an attempt is recorded either before the new round or after it.
 */
import { type Delivery, DeliveryStep, type Id } from "@wac/core"
import { unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { announce } from "../events/EventPositions.ts"
import { type Statement, statement } from "../Statement.ts"
import { ordersOf } from "./DeliveryOrder.ts"
import { lockHealth } from "./Health.ts"
import { delivery, deliveryOf, shownOf, skippedAt } from "./StoredDelivery.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

/** The columns that `Delivery.newRound` changes. */
const begin = delivery.pick(
  "workspaceId",
  "id",
  "orderKey",
  "sequence",
  "status",
  "trigger",
  "roundAttempts",
  "firstAttemptAt",
  "nextAttemptAt",
  "completedAt"
)
const free = delivery.pick("workspaceId", "id", "nextAttemptAt")

/** Writes the started rounds. The new position lets claimers notice that a delivery is due. */
const writeBegun = unlessEmpty(begin, (rows) =>
  `with announced as materialized (
    ${announce}
  )
  update wac.deliveries d set ${begin.set("g", "workspaceId", "id")}, position = nextval('wac.positions')
  from announced, ${rows("g")} where d.workspace_id = g.workspace_id and d.id = g.id`)

const writeFreed = unlessEmpty(free, (rows) =>
  `with announced as materialized (
    ${announce}
  )
  update wac.deliveries d set next_attempt_at = g.next_attempt_at, position = nextval('wac.positions')
  from announced, ${rows("g")} where d.workspace_id = g.workspace_id and d.id = g.id`)

/** Writes started rounds, and notifies claimers. */
export const writeRounds = ({ begun, freed }: DeliveryStep.RoundWrites): ReadonlyArray<Statement> =>
  begun.length === 0 ? [] : [
    ...writeBegun(begun),
    ...writeFreed(freed),
    { text: "select pg_notify('wac:wac_deliveries', 'asked for again')" }
  ]

const names = delivery.pick("workspaceId", "id")

const loadDeliveries = statement({ names }, ({ names }) =>
  `select ${delivery.names("d")}, ${skippedAt("d")}
  from ${names("g")}
  cross join lateral (
    select d.* from wac.deliveries d where d.workspace_id = g.workspace_id and d.id = g.id offset 0
  ) d`)

const loadOrders = statement({ names }, ({ names }) =>
  `select distinct on (n.workspace_id, n.id) ${delivery.names("n")}
  from ${names("g")}
  cross join lateral (
    select d.order_key, d.webhook_id from wac.deliveries d
    where d.workspace_id = g.workspace_id and d.id = g.id and d.order_key is not null offset 0
  ) d
  cross join lateral (select w.skipped_until from wac.webhooks w where w.id = d.webhook_id offset 0) w
  cross join lateral (
    select n.* from wac.deliveries n
    where n.order_key = d.order_key and n.webhook_id = d.webhook_id and n.status = 'pending'
      and n.position > w.skipped_until
    order by n.sequence offset 0
  ) n`)

const lock = lockHealth("no key update")

/** `DeliveryStore.retry`. */
export const retry: StepOptions<
  DeliveryStep.Retry,
  DeliveryStep.LoadedRetry,
  DeliveryStep.Retried | undefined,
  DeliveryStep.RoundWrites
> = {
  load: (commands) => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    return [
      lock({ workspaces }),
      loadPresent({ workspaces }),
      loadDeliveries({ names: commands }),
      loadOrders({ names: commands })
    ]
  },
  read: ([, present, found, orders], now) => {
    const deliveries = new Map(found!.map((row): [Id.DeliveryId, Delivery.Delivery] => {
      const delivery = shownOf(row)
      return [delivery.id, delivery]
    }))
    return {
      ...readPresent(present!, now),
      delivery: (workspaceId, id) => {
        const delivery = deliveries.get(id)
        return delivery?.workspaceId === workspaceId ? delivery : undefined
      },
      order: ordersOf(orders!.map(deliveryOf))
    }
  },
  decide: DeliveryStep.retry,
  write: writeRounds
}
