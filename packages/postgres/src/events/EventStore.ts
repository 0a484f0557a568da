/**
 * `EventStore` in PostgreSQL: combines the operations of this folder (`ListEvents`) and adds the short statements.
 */
import { Event, EventStore, Page, type StoreError } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import * as Clocks from "../Clocks.ts"
import { select } from "../Columns.ts"
import { Database } from "../Database.ts"
import { first } from "../Statement.ts"
import * as ForgetEvents from "./ForgetEvents.ts"
import { listedOf, type ListEvents, listEvents } from "./ListEvents.ts"
import { event } from "./StoredEvent.ts"

/** How long a reader waits for transactions that were open when it came. Longer ones are left to the next page. */
const patience = Duration.millis(100)
const pause = Duration.millis(5)

const typesOf = (type: Event.EventType | undefined): ReadonlyArray<Event.EventType> =>
  type === undefined ? Event.EventType.literals : [type]

/**
 * Newest first. Each type is a range of the index of its own, so that a rare type is found among many others. Where a
 * range ends follows from the times; see `ListEvents`. The range is of rows, since the planner takes one of positions
 * for a few rows, which it would read all and sort.
 */
export const latestText = `
  with bounds as (
    select
      coalesce(
        (
          select e.position from wac.events e where e.workspace_id = $1 and e.created_at < $3::bigint - ${Clocks.spread}
          order by e.created_at desc limit 1
        ),
        0
      ) as first,
      least(
        case
          when $2::text is null then 9223372036854775807
          else (select e.position from wac.events e where e.id = $2 and e.workspace_id = $1)
        end,
        (
          select e.position from wac.events e where e.workspace_id = $1 and e.created_at >= $6::bigint + ${Clocks.spread}
          order by e.created_at limit 1
        )
      ) as last
  )
  select ${event.names("page")}
  from (
    select e.* from unnest($4::text[]) as t (type) cross join lateral (
      select * from wac.events e
      where (e.workspace_id, e.type, e.position) > ($1, t.type, (select first from bounds))
        and (e.workspace_id, e.type, e.position) < ($1, t.type, (select last from bounds))
        and coalesce(e.created_at >= $3, true) and coalesce(e.created_at < $6, true)
      order by e.workspace_id desc, e.type desc, e.position desc limit $5
    ) e
    order by e.position desc limit $5
  ) page
  order by page.position desc`

/** Events of one message, newest first: a few, by their own index. */
const ofMessageText = `
  select ${event.names("e")} from wac.events e
  where e.order_key = $7 and e.workspace_id = $1 and e.type::text = any($4)
    and coalesce(e.created_at >= $3::bigint, true) and coalesce(e.created_at < $6::bigint, true)
    and coalesce(e.position < (select b.position from wac.events b where b.id = $2::text and b.workspace_id = $1), $2 is null)
  order by e.position desc limit $5`

const get = select(event, "wac.events", event.pick("workspaceId", "id"))

export const layer = Layer.effect(
  EventStore.EventStore,
  Effect.map(Database, ({ planned, query }) => {
    const read = (
      command: ListEvents,
      waited = Duration.zero
    ): Effect.Effect<ReadonlyArray<Event.Event>, StoreError.StoreError> =>
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

    return EventStore.EventStore.of({
      get: (workspaceId, id) => Effect.map(query("EventStore.get", get({ workspaceId, id })), first(event.read)),
      list: (workspaceId, { since, type }, page) =>
        Effect.map(
          read({
            workspaceId,
            after: page.after,
            since: since ?? null,
            types: typesOf(type),
            limit: page.limit + 1,
            until: null
          }),
          (items) => Page.fromOverread(items, page, ({ id }) => id)
        ),
      latest: (workspaceId, { messageId, since, type, until }, page) =>
        Effect.map(
          query("EventStore.latest", {
            text: messageId === undefined ? latestText : ofMessageText,
            params: [
              workspaceId,
              page.after,
              since ?? null,
              typesOf(type),
              page.limit + 1,
              until ?? null,
              ...messageId === undefined ? [] : [messageId]
            ]
          }),
          (rows) => Page.fromOverread(rows.map(event.read), page, ({ id }) => id)
        ),
      forget: Effect.fnUntraced(function*(before, unhandledBefore) {
        const horizons = yield* query("EventStore.forget", {
          text: ForgetEvents.horizonsText,
          params: [before, unhandledBefore]
        })
        return ForgetEvents.forgotten(
          yield* planned("EventStore.forget", ForgetEvents.forgetEvents(horizons)),
          horizons
        )
      })
    })
  })
)
