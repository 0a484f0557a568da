/**
 * Starts tests of webhooks (core's `DeliveryStep.beginTest`): records events with deliveries that are claimed and never
 * due.
 */
import { DeliveryStep } from "@wac/core"
import { columns } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { announce } from "../events/Places.ts"
import { lockHealth } from "./Health.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

const events = columns({
  id: "text",
  workspaceId: "text",
  type: "text",
  createdAt: "bigint",
  data: "json",
  trace: "text"
})

const deliveries = columns({
  id: "text",
  workspaceId: "text",
  webhookId: "text",
  eventId: "text",
  eventType: "text",
  envelope: "text",
  trigger: "text",
  createdAt: "bigint",
  status: "text"
})

const claims = columns({
  deliveryId: "text",
  workspaceId: "text",
  webhookId: "text",
  token: "text",
  leaseUntil: "bigint"
})

/** Writes rows that have positions. */
const placing = (
  table: string,
  rows: { readonly names: (of?: string) => string; readonly rows: (as: string) => string }
) =>
  `with announced as materialized (
    ${announce}
  )
  insert into ${table} (${rows.names()}, position)
  select ${rows.names("t")}, nextval('positions') from announced, ${rows.rows("t")}`

/** `DeliveryStore.beginTest`. */
export const beginTest: StepOptions<
  DeliveryStep.BeginTest,
  DeliveryStep.LoadedPresent,
  DeliveryStep.BegunTest | undefined,
  DeliveryStep.TestWrites
> = {
  load: (commands) => {
    const workspaces = commands.map(({ event }) => event.workspaceId)
    // serialized with a removal of the webhook, and with nothing else
    return [lockHealth(workspaces, "key share"), loadPresent(workspaces)]
  },
  read: (rows, now) => readPresent(rows.at(-1)!, now),
  decide: DeliveryStep.beginTest,
  write: ({ tests }) => {
    if (tests.length === 0) return []
    return [
      { text: placing("events", events), params: events.params(tests.map(({ event }) => event)) },
      {
        text: placing("deliveries", deliveries),
        params: deliveries.params(tests.map(({ delivery }) => ({ ...delivery, status: "testing" })))
      },
      {
        text: claims.insert("delivery_claims"),
        params: claims.params(tests.map(({ delivery: { id, webhookId, workspaceId }, leaseUntil, token }) => ({
          deliveryId: id,
          workspaceId,
          webhookId,
          token,
          leaseUntil
        })))
      }
    ]
  }
}
