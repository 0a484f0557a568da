/**
 * Erases the deliveries of a customer, and then the customer's events with the deliveries that were recorded meanwhile,
 * a page at a time. So no delivery is left without its event, which nothing could attempt.
 */
import { CustomerRecords, CustomerStore, type Delivery, type Event, type Id, type Step, type Time } from "@wac/core"
import { columns, json, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import type { Rows, Statement } from "../Statement.ts"
import { forgetEntries, lockSubscriptions } from "../subscriptions/ForgetEntries.ts"
import { free } from "../webhooks/DeliveryOrder.ts"
import { lockHealth } from "../webhooks/Health.ts"
import { delivery, endedStatuses } from "../webhooks/StoredDelivery.ts"

/** A statement that finds a page's records to erase. */
type Look = (step: CustomerStore.Step) => Statement

/** Parts of a `with` that delete the deliveries that a part names by id, webhook and workspace. */
const deleteDeliveries = (source: string): string =>
  `attempts_gone as (delete from wac.attempts a using ${source} h where a.delivery_id = h.id),
  claims_gone as (
    delete from wac.delivery_claims c using ${source} h where c.webhook_id = h.webhook_id and c.delivery_id = h.id
  ),
  deliveries_gone as (
    delete from wac.deliveries d using ${source} h where d.workspace_id = h.workspace_id and d.id = h.id
  )`

const removeDeliveries = unlessEmpty(
  delivery.pick("workspaceId", "id", "webhookId"),
  (rows) =>
    `with hit as materialized (select h.* from ${rows("h")}), ${deleteDeliveries("hit")}
  select from hit`
)

const hitEvents = columns<Pick<Event.Event, "workspaceId" | "id" | "createdAt">>({
  workspaceId: "text",
  id: "text",
  createdAt: "bigint"
})

/** The deliveries of a found event `h` that have one of these statuses, by the index of times. */
const deliveriesIn = (statuses: string): string =>
  `select d.id, d.webhook_id, d.workspace_id from wac.deliveries d
    where d.webhook_id = w.id and d.created_at = h.created_at and d.status ${statuses} and d.event_id = h.id`

const removeEvents = unlessEmpty(
  hitEvents,
  (rows) =>
    `with hit as materialized (select h.* from ${rows("h")}), gone as (
    delete from wac.events e using hit h where e.id = h.id returning e.workspace_id, e.id
  ), ${forgetEntries("gone")}, sent as materialized (
    select d.* from hit h
    cross join lateral (select w.id from wac.webhooks w where w.workspace_id = h.workspace_id offset 0) w
    cross join lateral (
      ${deliveriesIn("= 'pending'")}
      union all
      ${deliveriesIn(`in ${endedStatuses}`)}
    ) d
  ), ${deleteDeliveries("sent")}
  select from hit`
)

const walkedTo = row({ next: text<string | null>() })

/** What a step found, and where the next one begins. */
interface Loaded<Found> extends Step.Known {
  readonly found: ReadonlyArray<Found>
  readonly next: string | null
  /** The workspace's present webhook, if it has one. */
  readonly webhooks: ReadonlyArray<Id.WebhookId>
}

interface Writes<Found> extends Loaded<Found> {
  readonly workspaceId: Id.WorkspaceId
  readonly at: Time.Instant
}

interface Place<Found> {
  readonly locks: ReadonlyArray<typeof lockSubscriptions>
  readonly read: (rows: Rows) => ReadonlyArray<Found>
  readonly remove: (found: ReadonlyArray<Found>, workspaceId: Id.WorkspaceId) => ReadonlyArray<Statement>
  readonly filesOf: (found: Found) => CustomerStore.Erased["files"]
}

const health = row({ webhookId: text<Id.WebhookId>() })
const found = row({ found: json<Rows>() })

/**
 * The steps of a place. An event of the customer's message that no longer names the customer stays, and may wait for a
 * delivery that is deleted.
 */
const erase =
  <Found extends Pick<Event.Event, "orderKey">>({ filesOf, locks, read, remove }: Place<Found>) =>
  (look: Look): StepOptions<CustomerStore.EraseStep, Loaded<Found>, CustomerStore.Erased, Writes<Found>> => ({
    size: 1,
    load: ([step]) => [
      ...[lockHealth("no key update"), ...locks].map((lock) => lock({ workspaces: [step!.workspaceId] })),
      look(step!)
    ],
    read: (rows, now) => {
      const [page] = rows.at(-1)!
      return {
        now,
        found: read(found.read(page!).found),
        ...walkedTo.read(page!),
        webhooks: rows[0]!.map((row) => health.read(row).webhookId)
      }
    },
    decide: (loaded, [step]) => {
      const { found, next, now } = loaded
      return {
        answers: [{ ...CustomerStore.nothing, erased: found.length, files: found.flatMap(filesOf), next }],
        writes: { ...loaded, workspaceId: step!.workspaceId, at: now(step!.now) }
      }
    },
    write: ({ at, found, webhooks, workspaceId }) => {
      const keys = [...new Set(found.map(({ orderKey }) => orderKey))].filter((key) => key !== null)
      return [
        ...remove(found, workspaceId),
        ...free(webhooks.flatMap((webhookId) => keys.map((orderKey) => ({ webhookId, orderKey, at }))))
      ]
    }
  })

const foundDelivery = columns<Pick<Delivery.Delivery, "id" | "webhookId" | "orderKey">>({
  id: "text",
  webhookId: "text",
  orderKey: "text"
})

/** `CustomerStore.erase` in `deliveries`. */
export const eraseDeliveries = erase({
  locks: [],
  read: (rows) => rows.map(foundDelivery.read),
  remove: (found, workspaceId) => removeDeliveries(found.map((one) => ({ ...one, workspaceId }))),
  filesOf: () => []
})

const foundEvent = columns<Pick<Event.Event, "id" | "createdAt" | "data" | "orderKey">>({
  id: "text",
  createdAt: "bigint",
  data: "json",
  orderKey: "text"
})

/** `CustomerStore.erase` in `events`. */
export const eraseEvents = erase({
  locks: [lockSubscriptions],
  read: (rows) => rows.map(foundEvent.read),
  remove: (found, workspaceId) => removeEvents(found.map((one) => ({ ...one, workspaceId }))),
  filesOf: ({ data }) => CustomerRecords.filesOf(data)
})
