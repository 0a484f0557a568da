/**
 * What a step of a subscription costs: its own rows, however many events are stored, wait or are set aside, and whatever
 * the planner assumes about the tables.
 */
import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { Event, type Id, type SubscriptionStep, SubscriptionStore as Subscriptions } from "@wac/core"
import { Effect, Layer } from "effect"
import { horizons } from "../src/events/ForgetEvents.ts"
import * as SubscriptionStore from "../src/subscriptions/SubscriptionStore.ts"
import { work } from "../src/subscriptions/WorkOnSubscription.ts"
import { carryOut } from "./carryOut.ts"
import { planningDatabases } from "./servers.ts"
import { readOnlyTheirRows, type Step } from "./touched.ts"

const now = 1_800_000_000_000
const stored = 20_000
/** Events of which the subscription has taken up all before this one. */
const reached = 15_000

const fill = [
  "insert into wac.workspaces (id, name, created_at) select 'ws ' || i, 'one', 0 from generate_series(0, 100) i",
  `insert into wac.events (id, workspace_id, type, created_at, order_key, sequence, data, position)
  select 'evt ' || lpad(i::text, 6, '0'), 'ws 0', case i % 2 when 0 then 'message.sent' else 'message.received' end, i,
    case i % 2 when 0 then 'msg ' || i end, case i % 2 when 0 then 1 end, '{}', i
  from generate_series(1, ${stored}) i`,
  `insert into wac.subscriptions (workspace_id, name, event_types, place, owner, lease_until, created_at)
  select 'ws ' || i, 'one', '{message.sent}', ${reached}, case i when 0 then 'me' end, case i when 0 then ${now} end, 0
  from generate_series(0, 100) i`,
  // one runs, most wait for later, many are held, many are set aside
  `insert into wac.subscription_entries (workspace_id, name, event_id, place, order_key, recorded_at, state, attempts,
    round_attempts, round_started_at, started_at, next_at, failed_at, failure)
  select 'ws 0', 'one', 'evt ' || lpad(i::text, 6, '0'), i, 'msg ' || i, i, s.state, 1, 1, 1, 1,
    case s.state when 'waiting' then ${now} + i end, case s.state when 'failed' then 1 end, 'no'
  from generate_series(1, ${reached}) i
  cross join lateral (
    select case when i = ${reached} then 'running' when i % 3 = 0 then 'held' when i % 3 = 1 then 'failed'
      else 'waiting' end as state
  ) s`
]

const key = { workspaceId: "ws 0" as Id.WorkspaceId, name: "one" }
const running = `evt ${String(reached).padStart(6, "0")}` as Id.EventId

const command: SubscriptionStep.Work = {
  ...key,
  now,
  owner: "me",
  types: Event.EventType.literals,
  ended: [{ eventId: running, failure: null }],
  running: [],
  room: 4,
  jitter: 0
}

const steps = Effect.gen(function*() {
  const store = yield* Subscriptions.SubscriptionStore
  const { params, text } = horizons({ before: now, unhandledBefore: 0, from: "", limit: 101 })
  const all: { readonly [step: string]: Step } = {
    // of each type as many as there is room for, found and read again for the place
    "ends and fresh events": [carryOut(work, [command]), { events: 8 * 4, subscription_entries: 16, subscriptions: 4 }],
    "nothing to do": [
      carryOut(work, [{ ...command, ended: [], running: [running], room: 0 }]),
      { events: 8, subscription_entries: 8, subscriptions: 4 }
    ],
    "a retry of one event": [
      store.retry({ ...key, eventId: "evt 000004" as Id.EventId, now }),
      { subscription_entries: 4, subscriptions: 2 }
    ],
    "a page of events that were set aside": [
      store.failed(key, { limit: 10, after: "evt 000004" }),
      { subscription_entries: 12, events: 12 }
    ],
    "how far the subscriptions have come": [
      store.standings(key.workspaceId),
      { subscriptions: 1, events: 2, subscription_entries: Subscriptions.maxCounted + 2 }
    ],
    "the horizons of the retention": [
      PgClient.PgClient.use((client) => client.unsafe(text, params)),
      { events: 101, subscription_entries: 101, subscriptions: 102 }
    ]
  }
  return all
})

for (const { layer: database, name } of planningDatabases) {
  layer(SubscriptionStore.layer.pipe(Layer.provideMerge(database)), { excludeTestServices: true })(name, (it) => {
    it.effect("each step reads only its own rows", () =>
      Effect.flatMap(steps, (steps) => readOnlyTheirRows(steps, fill)))
  })
}
