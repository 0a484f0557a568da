/**
 * Does a piece of work on a subscription (core's `SubscriptionStep.work`). Everything that belongs to a subscription is
 * written under the lock on its row.
 */
import { type Event, type Id, type Subscription, SubscriptionStep, type Time } from "@wac/core"
import { bigint, columns, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { event } from "../events/StoredEvent.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"
import { lookedSettled, lookSettled } from "./SettledEvents.ts"
import { entry, key, subscription } from "./StoredSubscription.ts"

/**
 * Locks and loads the subscription, as JSON: the driver cannot read an array of wac's own domain type in every schema.
 */
const lock = statement(
  { key: key.one },
  ({ key: { name, workspaceId } }) =>
    `select ${subscription.array.text("s")} as subscription from wac.subscriptions s
  where s.workspace_id = ${workspaceId} and s.name = ${name} for no key update`
)

const ofSubscription = (table: string, { name, workspaceId }: { readonly [Field in keyof Subscription.Key]: string }) =>
  `${table}.workspace_id = ${workspaceId} and ${table}.name = ${name}`

const entryJson = entry.array.text("n")
const eventJson = `(select ${event.array.text("e")} from wac.events e where e.id = n.event_id)`

const running = statement({ key: key.one }, ({ key }) =>
  `select ${entryJson} as entry, (
    select json_build_array(${entryJson}, ${eventJson}) from wac.subscription_entries n
    where ${ofSubscription("n", key)} and n.order_key = r.order_key and n.state = 'held'
      and not exists (
        select from wac.subscription_entries w
        where ${ofSubscription("w", key)} and w.order_key = r.order_key and w.state = 'waiting' and w.place < n.place
      )
    order by n.place limit 1
  ) as follower
  from (
    select n.* from wac.subscription_entries n where ${ofSubscription("n", key)} and n.state = 'running'
  ) r cross join lateral (select r.*) n`)

const due = statement(
  {
    key: key.one,
    now: value<Time.Instant>(),
    limit: value<number>(),
    ended: list<Id.EventId>("text")
  },
  ({ ended, key, limit, now }) =>
    `select json_build_array(${entryJson}, ${eventJson}) as taken from wac.subscription_entries n
  where ${ofSubscription("n", key)} and n.state = 'waiting' and n.next_at <= ${now}::bigint
    and not exists (
      select from wac.subscription_entries r
      where ${ofSubscription("r", key)} and r.state = 'running' and r.order_key = n.order_key
        and r.event_id <> all (${ended})
    )
  order by n.next_at limit ${limit}::integer`
)

/**
 * Loads new events. Each type is read as its own range of the index, so that a rare type is found quickly among many
 * others.
 */
const fresh = statement({
  key: key.one,
  types: list<Event.EventType>("text"),
  place: value<number>(),
  limit: value<number>()
}, ({ key, limit, place, types }) =>
  `select ${event.names("f")}, f.position as place, (
    select n.event_id from wac.subscription_entries n
    where ${ofSubscription("n", key)} and n.order_key = f.order_key and n.state <> 'failed'
    order by n.state = 'running', n.place desc limit 1
  ) as behind
  from (
    select e.* from unnest(${types}) as t (type) cross join lateral (
      select * from wac.events e
      where e.workspace_id = ${key.workspaceId} and e.type = t.type and e.position > ${place}::bigint
        and e.position <= ${lookedSettled}
      order by e.position limit ${limit}::integer
    ) e
    order by e.position limit ${limit}::integer
  ) f
  order by f.position`)

const next = statement(
  { key: key.one, now: value<Time.Instant>() },
  ({ key, now }) =>
    `select n.next_at from wac.subscription_entries n
  where ${ofSubscription("n", key)} and n.state = 'waiting' and n.next_at > ${now}::bigint
  order by n.next_at limit 1`
)

type Cells = ReadonlyArray<unknown>

const takenOf = ([ofEntry, ofEvent]: readonly [Cells, Cells]): SubscriptionStep.Taken => ({
  entry: entry.array.read(ofEntry),
  event: event.array.read(ofEvent)
})

const freshPlace = columns<Pick<SubscriptionStep.Fresh, "place" | "behind">>({ place: "bigint", behind: "text" })

const settledAt = row({ settled: text() })

const nextAt = row({ nextAt: bigint() })

/** Reads the tasks of the subscription from the results. */
const tasksOf = ([looked, ofRunning, ofDue, ofFresh, ofNext]: ReadonlyArray<Rows>): SubscriptionStep.Tasks => ({
  running: ofRunning!.map((row) => entry.array.read(row["entry"] as Cells)),
  followers: ofRunning!.flatMap(({ follower }) =>
    follower === null ? [] : [takenOf(follower as readonly [Cells, Cells])]
  ),
  due: ofDue!.map(({ taken }) => takenOf(taken as readonly [Cells, Cells])),
  fresh: ofFresh!.map((row) => ({ ...freshPlace.read(row), event: event.read(row) })),
  settled: Number(settledAt.read(looked![0]!).settled),
  nextAt: ofNext!.map(nextAt.read)[0]?.nextAt ?? null
})

const changed = entry.omit("recordedAt", "place", "orderKey")

const keepEntries = unlessEmpty(
  entry,
  (rows) =>
    `insert into wac.subscription_entries (${entry.names()}) select * from ${rows("g")}
  on conflict (workspace_id, name, event_id) do update set
    ${changed.set("excluded", "workspaceId", "name", "eventId")}`
)

const removeEntries = unlessEmpty(
  entry.pick("workspaceId", "name", "eventId"),
  (rows) =>
    `delete from wac.subscription_entries n using ${rows("g")}
  where n.workspace_id = g.workspace_id and n.name = g.name and n.event_id = g.event_id`
)

const place = subscription.pick("workspaceId", "name", "place", "owner", "leaseUntil")

const keep = statement(
  { kept: place.one },
  ({ kept }) =>
    `update wac.subscriptions s set place = ${kept.place}, owner = ${kept.owner}, lease_until = ${kept.leaseUntil}
  where s.workspace_id = ${kept.workspaceId} and s.name = ${kept.name}`
)

/** What the decision still needs, and for which command. */
interface Need extends SubscriptionStep.Need {
  readonly command: SubscriptionStep.Work
}

/** `SubscriptionStore.work`. */
export const work: StepOptions<
  SubscriptionStep.Work,
  SubscriptionStep.LoadedWork,
  SubscriptionStep.WorkResult,
  SubscriptionStep.WorkWrites,
  Need
> = {
  size: 1,
  load: ([command]) => [lock({ key: command! })],
  read: ([rows], now) => ({
    now,
    subscription: rows!.map((row) => subscription.array.read(row["subscription"] as Cells))[0],
    tasks: null
  }),
  decide: (loaded, [command]) => {
    const decided = SubscriptionStep.work(loaded, [command!])
    return "needs" in decided ? { needs: decided.needs.map((need) => ({ ...need, command: command! })) } : decided
  },
  more: {
    load: ([need]): ReadonlyArray<Statement> => {
      const { command, now, room, subscription } = need!
      const { ended } = command
      return [
        lookSettled,
        running({ key: command }),
        due({ key: command, now, limit: room, ended: ended.map(({ eventId }) => eventId) }),
        fresh({ key: command, types: subscription.types, place: subscription.place, limit: room }),
        next({ key: command, now })
      ]
    },
    read: (loaded, _, rows) => ({ ...loaded, tasks: tasksOf(rows) })
  },
  write: ({ entries, removed, subscription }) =>
    subscription === undefined
      ? []
      : [...removeEntries(removed), ...keepEntries(entries), keep({ kept: subscription })]
}
