/**
 * Beginning tests of webhooks (`DeliveryStep.beginTest` of the core): events and deliveries that are claimed, and never due.
 */
import { DeliveryStep } from "@wac/core"
import type { StepOptions } from "../Database.ts"
import { instants, jsons, texts } from "../Parameter.ts"
import { lockHealth } from "./Health.ts"
import { loadPresent, readPresent } from "./WebhookStep.ts"

const eventsText = `insert into events (id, workspace_id, type, created_at, data)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::json[])`

const deliveriesText = `insert into deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, trigger,
    created_at, status)
  select t.*, 'testing'
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[]) t`

const claimsText = `insert into delivery_claims (delivery_id, workspace_id, webhook_id, token, lease_until)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])`

/** What is carried out of `DeliveryStore.beginTest`. */
export const beginTest: StepOptions<
  DeliveryStep.BeginTest,
  DeliveryStep.LoadedPresent,
  DeliveryStep.BegunTest | undefined,
  DeliveryStep.TestWrites
> = {
  load: (commands) => {
    const workspaces = commands.map(({ event }) => event.workspaceId)
    // whoever removes the webhook waits for us, or we for them; nobody else does
    return [lockHealth(workspaces, "key share"), loadPresent(workspaces)]
  },
  read: (rows, now) => readPresent(rows.at(-1)!, now),
  decide: DeliveryStep.beginTest,
  write: ({ tests }) => {
    if (tests.length === 0) return []
    const events = tests.map(({ event }) => event)
    const deliveries = tests.map(({ delivery }) => delivery)
    const ids = texts(deliveries.map(({ id }) => id))
    const workspaces = texts(events.map(({ workspaceId }) => workspaceId))
    const webhooks = texts(deliveries.map(({ webhookId }) => webhookId))
    const eventIds = texts(events.map(({ id }) => id))
    const types = texts(events.map(({ type }) => type))
    return [
      {
        text: eventsText,
        params: [
          eventIds,
          workspaces,
          types,
          instants(events.map(({ createdAt }) => createdAt)),
          jsons(events.map(({ data }) => data))
        ]
      },
      {
        text: deliveriesText,
        params: [
          ids,
          workspaces,
          webhooks,
          eventIds,
          types,
          texts(deliveries.map(({ envelope }) => envelope)),
          texts(deliveries.map(({ trigger }) => trigger)),
          instants(deliveries.map(({ createdAt }) => createdAt))
        ]
      },
      {
        text: claimsText,
        params: [
          ids,
          workspaces,
          webhooks,
          texts(tests.map(({ token }) => token)),
          instants(tests.map(({ leaseUntil }) => leaseUntil))
        ]
      }
    ]
  }
}
