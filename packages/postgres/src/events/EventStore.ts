import { Event, EventStore, type Id, Page, type StoreError, type Time } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import * as Clocks from "../Clocks.ts"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"

/** How long a reader waits for transactions that were open when they came; longer ones are left for the next page. */
const patience = Duration.millis(100)
const pause = Duration.millis(5)

/** A command for `wac_list_events`. */
interface ListEvents {
  readonly workspaceId: Id.WorkspaceId
  readonly after: string | null
  readonly since: Time.Instant | null
  readonly types: ReadonlyArray<Event.EventType>
  readonly limit: number
  /** Up to which place events are waited for; `null`: up to the last one now. */
  readonly until: number | null
}

interface Listed {
  readonly items: ReadonlyArray<Event.Event>
  /** Whether events were left out that were committed already, since others before them may yet be. */
  readonly heldBack: boolean
  readonly until: number
}

const typesOf = (type: Event.EventType | undefined): ReadonlyArray<Event.EventType> =>
  type === undefined ? Event.EventType.literals : [type]

/**
 * Newest first. Each type has its own range of the index, so that a rare one is found among many others; where a range
 * ends is read from the times, as `wac_list_events` does.
 */
export const latestText = `
  with bounds as (
    select
      coalesce(
        (
          select e.position from events e where e.workspace_id = $1 and e.created_at < $3::bigint - ${Clocks.spread}
          order by e.created_at desc limit 1
        ),
        0
      ) as first,
      case
        when $2::text is null then 9223372036854775807
        else (select e.position from events e where e.id = $2 and e.workspace_id = $1)
      end as last
  )
  select wac_event(page) as event
  from (
    select e.* from unnest($4::text[]) as t (type) cross join lateral (
      select * from events e
      where e.workspace_id = $1 and e.type = t.type
        and e.position > (select first from bounds) and e.position < (select last from bounds)
        and coalesce(e.created_at >= $3, true)
      order by e.position desc limit $5
    ) e
    order by e.position desc limit $5
  ) page
  order by page.position desc`

export const layer = Layer.effect(
  EventStore.EventStore,
  Effect.map(Database, ({ query }) => {
    const read = (
      command: ListEvents,
      waited = Duration.zero
    ): Effect.Effect<ReadonlyArray<Event.Event>, StoreError.StoreError> =>
      Effect.flatMap(
        query("EventStore.list", "select wac_list_events($1::text::json) as listed", [
          JSON.stringify({ ...command, clockSpread: Clocks.spread })
        ]),
        ([row]) => {
          const { heldBack, items, until } = plain<Listed>(row!, "listed")
          const isDone = items.length === command.limit || !heldBack ||
            Duration.isGreaterThanOrEqualTo(waited, patience)
          return isDone
            ? Effect.succeed(items)
            : Effect.delay(Effect.suspend(() => read({ ...command, until }, Duration.sum(waited, pause))), pause)
        }
      )

    return EventStore.EventStore.of({
      get: (workspaceId, id) =>
        Effect.map(
          query(
            "EventStore.get",
            "select wac_event(e) as event from events e where e.id = $2 and e.workspace_id = $1",
            [workspaceId, id]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => plain<Event.Event>(row, "event"))
        ),
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
      latest: (workspaceId, { since, type }, page) =>
        Effect.map(
          query("EventStore.latest", latestText, [
            workspaceId,
            page.after,
            since ?? null,
            typesOf(type),
            page.limit + 1
          ]),
          (rows) => Page.fromOverread(rows.map((row) => plain<Event.Event>(row, "event")), page, ({ id }) => id)
        )
    })
  })
)
