/**
 * `SubscriptionStore` in PostgreSQL: combines the operations of this folder and adds the short statements.
 */
import { Page, type Subscription, SubscriptionStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { columns, integer, row } from "../Columns.ts"
import { Database } from "../Database.ts"
import { settled } from "../events/EventPositions.ts"
import { event } from "../events/StoredEvent.ts"
import { isAny, type Statement, statement, value } from "../Statement.ts"
import { remove } from "../TableStatements.ts"
import { lookedSettled, lookSettled } from "./SettledEvents.ts"
import { entry, key, oldestUnhandled, subscription } from "./StoredSubscription.ts"
import { work } from "./WorkOnSubscription.ts"

const opened = subscription.pick("workspaceId", "name", "types")

/**
 * Creates a subscription at the settled position, so it gets the events that are being recorded at this moment. If it
 * exists, only locks it: the condition applies after the row was locked.
 */
const createOrLock = statement(
  { opened: opened.one, asked: Clocks.asked },
  ({ asked, opened: { name, types, workspaceId } }) =>
    `insert into wac.subscriptions as s (${opened.names()}, place, created_at)
  values (${workspaceId}, ${name}, ${types}, ${settled}, ${asked})
  on conflict (workspace_id, name) do update set event_types = s.event_types where false`
)

/** Changes the types of a locked subscription (core's `Subscription.retyped`). */
const retype = statement(
  { opened: opened.one },
  ({ opened: { name, types, workspaceId } }) =>
    `update wac.subscriptions s set event_types = ${types}, place = greatest(s.place, least(${lookedSettled}, (
    select min(e.position) - 1 from unnest(s.event_types) as t (type) cross join lateral (
      select e.position from wac.events e
      where e.workspace_id = s.workspace_id and e.type = t.type and e.position > s.place
      order by e.position limit 1
    ) e
  )))
  where s.workspace_id = ${workspaceId} and s.name = ${name} and s.event_types::text[] <> ${types}`
)

const owned = subscription.pick("workspaceId", "name").and(columns<{ readonly owner: string }>({ owner: "text" }))

const release = statement(
  { owned: owned.one },
  ({ owned: { name, owner, workspaceId } }) =>
    `update wac.subscriptions s set owner = null, lease_until = null
  where s.workspace_id = ${workspaceId} and s.name = ${name} and s.owner = ${owner}`
)

const listFailed = statement(
  { workspaceId: value<string>(), name: value<string>(), after: value<string | null>(), limit: value<number>() },
  ({ after, limit, name, workspaceId }) =>
    `select n.attempts, n.failed_at, n.failure, ${event.names("e")}
  from wac.subscription_entries n join wac.events e on e.id = n.event_id
  where n.workspace_id = ${workspaceId} and n.name = ${name} and n.state = 'failed'
    and n.event_id > coalesce(${after}, '')
  order by n.event_id limit ${limit}`
)

const failed = columns<Omit<SubscriptionStore.Failed, "event">>({
  attempts: "integer",
  failedAt: "bigint",
  failure: "text"
})

/**
 * The columns that choose one event, or all of a subscription. The two are separate statements, so that each uses its
 * index.
 */
const chosen = {
  one: entry.pick("workspaceId", "name", "eventId"),
  all: entry.pick("workspaceId", "name")
} as const

/** The maximum number of entries that one statement retries or discards. */
const atOnce = 1000

/** Chooses some of a subscription's failed entries. */
const someOf = (isOfSubscription: string): string =>
  `n.ctid = any (array(
    select n.ctid from wac.subscription_entries n where n.state = 'failed' and ${isOfSubscription}
    order by n.event_id limit ${atOnce} for update
  ))`

/** The text of a statement that retries failed entries under this condition, like `Subscription.retried`. */
const retried = (isChosen: string, asked: string): string =>
  `with retried as (
    update wac.subscription_entries n
    set state = 'waiting', round_attempts = 0, round_started_at = null, next_at = ${asked}, failed_at = null
    where n.state = 'failed' and ${isChosen} returning 1
  )
  select count(*)::integer as changed from retried`

const retryOne = statement(
  { choice: chosen.one.one, asked: Clocks.asked },
  ({ asked, choice }) => retried(chosen.one.are("n", choice), asked)
)
const retryAll = statement(
  { choice: chosen.all.one, asked: Clocks.asked },
  ({ asked, choice }) => retried(someOf(chosen.all.are("n", choice)), asked)
)

const discarded = (isChosen: string): string =>
  `with discarded as (
    delete from wac.subscription_entries n where n.state = 'failed' and ${isChosen} returning 1
  )
  select count(*)::integer as changed from discarded`

const discardOne = statement({ choice: chosen.one.one }, ({ choice }) => discarded(chosen.one.are("n", choice)))
const discardAll = statement({ choice: chosen.all.one }, ({ choice }) => discarded(someOf(chosen.all.are("n", choice))))

const changed = row({ changed: integer() })

const removeSubscription = remove("wac.subscriptions", key)

const standings = statement(
  { workspaceId: value<string>() },
  ({ workspaceId }) =>
    `select s.name, ${oldestUnhandled("s")} as oldest_unhandled_at, (
    select count(*) from (
      select from wac.subscription_entries n
      where n.workspace_id = s.workspace_id and n.name = s.name and n.state = 'failed'
      limit ${SubscriptionStore.maxCounted}
    ) n
  )::integer as failed
  from wac.subscriptions s where s.workspace_id = ${workspaceId} order by s.name collate "C"`
)

const oldestUnhandledAt = statement(
  {},
  () => `select min(${oldestUnhandled("s")}) as oldest_unhandled_at from wac.subscriptions s`
)

const standing = columns<SubscriptionStore.Standing>({ name: "text", oldestUnhandledAt: "bigint", failed: "integer" })

export const layer = Layer.effect(
  SubscriptionStore.SubscriptionStore,
  Effect.gen(function*() {
    const { planned, query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const working = yield* stepped("SubscriptionStore.work", work)

    /** Changes failed entries, a part of them in each statement if it is for all. Returns how many. */
    const change = Effect.fnUntraced(function*(operation: string, statement: Statement) {
      let sum = 0
      while (true) {
        const [row] = yield* query(operation, statement)
        const count = changed.read(row!).changed
        sum += count
        if (count < atOnce) return sum
      }
    })

    return SubscriptionStore.SubscriptionStore.of({
      open: ({ now, ...opened }) =>
        Effect.asVoid(planned("SubscriptionStore.open", [
          createOrLock({ opened, asked: callerNow(now) }),
          lookSettled,
          retype({ opened })
        ])),
      work: working,
      release: (key: Subscription.Key, owner) =>
        Effect.asVoid(query("SubscriptionStore.release", release({ owned: { ...key, owner } }))),
      failed: ({ name, workspaceId }, page) =>
        Effect.map(
          query(
            "SubscriptionStore.failed",
            listFailed({ workspaceId, name, after: page.after, limit: page.limit + 1 })
          ),
          (rows) =>
            Page.fromOverread(
              rows.map((row) => ({ ...failed.read(row), event: event.read(row) })),
              page,
              ({ event: { id } }) => id
            )
        ),
      retry: ({ eventId, now, ...key }) => {
        const asked = callerNow(now)
        return change(
          "SubscriptionStore.retry",
          eventId === null ? retryAll({ choice: key, asked }) : retryOne({ choice: { ...key, eventId }, asked })
        )
      },
      discard: ({ eventId, ...key }) =>
        change(
          "SubscriptionStore.discard",
          eventId === null ? discardAll({ choice: key }) : discardOne({ choice: { ...key, eventId } })
        ),
      remove: (key) =>
        // those that were set aside may be many, and the others are few
        Effect.andThen(
          change("SubscriptionStore.remove", discardAll({ choice: key })),
          Effect.map(query("SubscriptionStore.remove", removeSubscription(key)), isAny)
        ),
      standings: (workspaceId) =>
        Effect.map(
          query("SubscriptionStore.standings", standings({ workspaceId })),
          (rows) => rows.map(standing.read)
        ),
      oldestUnhandledAt: Effect.map(
        query("SubscriptionStore.oldestUnhandledAt", oldestUnhandledAt({})),
        ([row]) => standing.pick("oldestUnhandledAt").read(row!).oldestUnhandledAt
      )
    })
  })
)
