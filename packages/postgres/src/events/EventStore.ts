/**
 * `EventStore` in PostgreSQL: combines the operations of this folder (`ListEvents`) and adds the short statements.
 */
import { Event, EventStore, type Id, Page, type StoreError, type Time } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import * as Clocks from "../Clocks.ts"
import { list } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { first, statement, value } from "../Statement.ts"
import { select } from "../TableStatements.ts"
import * as ForgetEvents from "./ForgetEvents.ts"
import { listedOf, type ListEvents, listEvents, type Placed, placed, startOf } from "./ListEvents.ts"
import { event } from "./StoredEvent.ts"

/**
 * How long a reader waits for transactions that were open when it began. The events of longer transactions come on the
 * next page.
 */
const patience = Duration.millis(100)
const pause = Duration.millis(5)

const typesOf = (type: Event.EventType | undefined): ReadonlyArray<Event.EventType> =>
  type === undefined ? Event.EventType.literals : [type]

const inputs = {
  workspaceId: value<Id.WorkspaceId>(),
  after: value<string | null>(),
  /** The time at which the event `after` was recorded, which counts if it was deleted since. */
  start: value<Time.Instant | null>(),
  since: value<Time.Instant | null>(),
  types: list<Event.EventType>("text"),
  limit: value<number>(),
  until: value<Time.Instant | null>()
}

/**
 * Lists events, newest first. Each type is read as its own range of the index, so that a rare type is found quickly
 * among many others. The ends of the ranges follow from the times (see `ListEvents`): the end of a page after a deleted
 * event too, so some events after the deleted one come again, but none is missed. The ranges compare whole rows: for a
 * range of positions alone, the planner would expect few rows, read all and sort them.
 */
export const latest = statement(inputs, ({ after, limit, since, start, types, until, workspaceId }) => {
  const last = "9223372036854775807"
  const firstSince = (time: string) =>
    `(
          select e.position from wac.events e
          where e.workspace_id = ${workspaceId} and e.created_at >= ${time}::bigint + ${Clocks.spread}
          order by e.created_at limit 1
        )`
  return `
  with bounds as (
    select
      coalesce(
        (
          select e.position from wac.events e
          where e.workspace_id = ${workspaceId} and e.created_at < ${since}::bigint - ${Clocks.spread}
          order by e.created_at desc limit 1
        ),
        0
      ) as first,
      least(
        case
          when ${after}::text is null then ${last}
          else coalesce(
            (select e.position from wac.events e where e.id = ${after} and e.workspace_id = ${workspaceId}),
            ${firstSince(start)},
            ${last}
          )
        end,
        ${firstSince(until)}
      ) as last
  )
  select ${event.names("page")}, page.position::text as place
  from (
    select e.* from unnest(${types}) as t (type) cross join lateral (
      select * from wac.events e
      where (e.workspace_id, e.type, e.position) > (${workspaceId}, t.type, (select first from bounds))
        and (e.workspace_id, e.type, e.position) < (${workspaceId}, t.type, (select last from bounds))
        and coalesce(e.created_at >= ${since}, true) and coalesce(e.created_at < ${until}, true)
      order by e.workspace_id desc, e.type desc, e.position desc limit ${limit}
    ) e
    order by e.position desc limit ${limit}
  ) page
  order by page.position desc`
})

/** Lists the events of one message, newest first, by the index of order keys. They are few. */
const ofMessage = statement(
  { ...inputs, messageId: value<string>() },
  ({ after, limit, messageId, since, start, types, until, workspaceId }) => `
  select ${event.names("e")}, e.position::text as place from wac.events e
  where e.order_key = ${messageId} and e.workspace_id = ${workspaceId} and e.type::text = any(${types})
    and coalesce(e.created_at >= ${since}::bigint, true) and coalesce(e.created_at < ${until}::bigint, true)
    and coalesce(e.position < (
      select b.position from wac.events b where b.id = ${after}::text and b.workspace_id = ${workspaceId}
    ), e.created_at < ${start}::bigint + ${Clocks.spread}, true)
  order by e.position desc limit ${limit}`
)

const get = select(event, "wac.events", event.pick("workspaceId", "id"))

const pageOf = (found: ReadonlyArray<Placed>, request: Page.PageRequest): EventStore.EventPage => {
  const { items, next } = Page.fromOverread(found, request, ({ event }) => event.id)
  return { items: items.map(({ event }) => event), places: items.map(({ place }) => place), next }
}

export const layer = Layer.effect(
  EventStore.EventStore,
  Effect.map(Database, ({ planned, query }) => {
    const read = (
      command: ListEvents,
      waited = Duration.zero
    ): Effect.Effect<ReadonlyArray<Placed>, StoreError.StoreError> =>
      Effect.flatMap(
        planned("EventStore.list", listEvents(command)),
        (rows) => {
          const { heldBack, items, until } = listedOf(rows)
          const isDone = items.length === command.limit || !heldBack ||
            Duration.isGreaterThanOrEqualTo(waited, patience)
          return isDone
            ? Effect.succeed(items)
            : Effect.delay(Effect.suspend(() => read({ ...command, until }, Duration.sum(waited, pause))), pause)
        }
      )

    const forget = Forgotten.inTurn([
      Effect.fnUntraced(function*(given: Parameters<typeof ForgetEvents.pageFrom>[0], from: string) {
        const [page] = yield* planned("EventStore.forget", [ForgetEvents.pageFrom(given, from)])
        return ForgetEvents.forgotten(
          yield* planned("EventStore.forget", ForgetEvents.forgetEvents(page!)),
          page!,
          from
        )
      })
    ])

    return EventStore.EventStore.of({
      get: (workspaceId, id) => Effect.map(query("EventStore.get", get({ workspaceId, id })), first(event.read)),
      list: (workspaceId, { since, type }, page) =>
        Effect.map(
          read({
            workspaceId,
            after: page.after,
            place: page.place ?? null,
            since: since ?? null,
            types: typesOf(type),
            limit: page.limit + 1,
            until: null
          }),
          (items) => pageOf(items, page)
        ),
      latest: (workspaceId, { messageId, since, type, until }, page) => {
        const given = {
          workspaceId,
          after: page.after,
          // a cursor of another list is after everything
          start: page.after === null ? null : startOf(page.after) ?? 0,
          since: since ?? null,
          types: typesOf(type),
          limit: page.limit + 1,
          until: until ?? null
        }
        return Effect.map(
          query("EventStore.latest", messageId === undefined ? latest(given) : ofMessage({ ...given, messageId })),
          (rows) => pageOf(rows.map(placed.read), page)
        )
      },
      forget: (before, unhandledBefore) => forget({ before, unhandledBefore })
    })
  })
)
