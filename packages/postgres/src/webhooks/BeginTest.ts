/**
 * Starts tests of webhooks (core's `DeliveryStep.beginTest`): records events with deliveries that are claimed and never
 * due.
 */
import { DeliveryStep, type Id } from "@wac/core"
import { type Columns, columns, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { announce } from "../events/EventPositions.ts"
import { event } from "../events/StoredEvent.ts"
import type { Relation } from "../Schema.ts"
import { insert } from "../TableStatements.ts"
import { lockHealth } from "./Health.ts"
import { delivery } from "./StoredDelivery.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

const claim = insert(
  delivery.pick("workspaceId", "webhookId").and(columns<
    Pick<DeliveryStep.BegunTest, "token" | "leaseUntil"> & { readonly deliveryId: Id.DeliveryId }
  >({ token: "text", leaseUntil: "bigint", deliveryId: "text" })),
  "wac.delivery_claims"
)

/** Writes rows that have positions. */
const placing = <A>(table: Relation, columns: Columns<A>) =>
  unlessEmpty(columns, (rows) =>
    `with announced as materialized (
    ${announce}
  )
  insert into ${table} (${columns.names()}, position)
  select ${columns.names("t")}, nextval('wac.positions') from announced, ${rows("t")}`)

const recordEvents = placing("wac.events", event.omit("orderKey", "sequence"))

const recordDeliveries = placing(
  "wac.deliveries",
  delivery.pick(
    "id",
    "workspaceId",
    "webhookId",
    "eventId",
    "eventType",
    "envelope",
    "trigger",
    "createdAt",
    "status"
  )
)

// a lock that only a removal of the webhook waits for
const lock = lockHealth("key share")

/** `DeliveryStore.beginTest`. */
export const beginTest: StepOptions<
  DeliveryStep.BeginTest,
  DeliveryStep.LoadedPresent,
  DeliveryStep.BegunTest | undefined,
  DeliveryStep.TestWrites
> = {
  load: (commands) => {
    const workspaces = commands.map(({ event }) => event.workspaceId)
    return [lock({ workspaces }), loadPresent({ workspaces })]
  },
  read: (rows, now) => readPresent(rows.at(-1)!, now),
  decide: DeliveryStep.beginTest,
  write: ({ tests }) => [
    ...recordEvents(tests.map(({ event }) => event)),
    ...recordDeliveries(tests.map(({ delivery }) => ({ ...delivery, status: "testing" }))),
    ...claim(tests.map(({ delivery: { id, webhookId, workspaceId }, leaseUntil, token }) => ({
      deliveryId: id,
      workspaceId,
      webhookId,
      token,
      leaseUntil
    })))
  ]
}
