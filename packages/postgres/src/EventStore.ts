import { Event, EventStore, Page, type StoreError } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { plain } from "./Column.ts"
import { Database } from "./Database.ts"

type Filter = Parameters<EventStore.EventStore["Service"]["list"]>[1]

/**
 * Clocks of server processes agree to within this: of two events that are further apart, by their times, the later one
 * was written later too. So `since` finds its place without going through everything before it.
 */
const clockSkew = Duration.hours(1)

/** How long a reader waits for transactions that were open when they came; longer ones are left for the next page. */
const patience = Duration.millis(100)
const pause = Duration.millis(5)

/**
 * A page, in the order of writing: by transaction, and stopping before the oldest that is still open, since it may yet
 * commit events. Identifiers and times are made before the transaction, so they would skip the event of a slow one.
 *
 * The place after which a page begins is that of the event `$2`, or, while there is none, of the last event that is
 * certainly older than `$3`. Each type has its own range of the index, so that a rare one is found among many others.
 * `held_back` tells that events were left out that were committed already: those of transactions after an open one, up
 * to `$6`.
 */
const listText = `
  with begin as (
    select coalesce(a.written_by, b.written_by, '0') as written_by, coalesce(a.id, '') as id
    from (select 1) as one
    left join events a on a.id = $2::text and a.workspace_id = $1
    left join lateral (
      select e.written_by from events e
      where e.workspace_id = $1 and e.created_at < $3::bigint - ${Duration.toMillis(clockSkew)}
      order by e.created_at desc limit 1
    ) b on true
  ), page as (
    select e.* from unnest($4::text[]) as t (type) cross join lateral (
      select * from events e
      where e.workspace_id = $1 and e.type = t.type
        and (e.written_by, e.id) > ((select written_by from begin), (select id from begin))
        and e.written_by < pg_snapshot_xmin(pg_current_snapshot())
        and coalesce(e.created_at >= $3::bigint, true)
      order by e.written_by, e.id limit $5
    ) e
    order by e.written_by, e.id limit $5
  )
  select
    (select coalesce(json_agg(wac_event(p) order by p.written_by, p.id), '[]') from page p) as items,
    exists (
      select from unnest($4::text[]) as t (type), events e
      where e.workspace_id = $1 and e.type = t.type
        and e.written_by >= pg_snapshot_xmin(pg_current_snapshot())
        and e.written_by < coalesce($6::text::xid8, pg_snapshot_xmax(pg_current_snapshot()))
    ) as held_back,
    coalesce($6::text, pg_snapshot_xmax(pg_current_snapshot())::text) as until`

const getText = "select wac_event(e) as event from events e where e.id = $2 and e.workspace_id = $1"

export const layer = Layer.effect(
  EventStore.EventStore,
  Effect.map(Database, ({ query }) => {
    const read = (
      params: ReadonlyArray<unknown>,
      limit: number,
      until: string | null,
      waited: number
    ): Effect.Effect<ReadonlyArray<Event.Event>, StoreError.StoreError> =>
      Effect.flatMap(query("EventStore.list", listText, [...params, until]), ([row]) => {
        const items = plain<ReadonlyArray<Event.Event>>(row!, "items")
        return items.length >= limit || !plain<boolean>(row!, "held_back") || waited >= Duration.toMillis(patience)
          ? Effect.succeed(items)
          : Effect.delay(
            Effect.suspend(() => read(params, limit, plain(row!, "until"), waited + Duration.toMillis(pause))),
            pause
          )
      })

    return EventStore.EventStore.of({
      get: (workspaceId, id) =>
        Effect.map(
          query("EventStore.get", getText, [workspaceId, id]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => plain<Event.Event>(row, "event"))
        ),
      list: (workspaceId, { since, type }: Filter, page) =>
        Effect.map(
          read(
            [
              workspaceId,
              page.after,
              since ?? null,
              type === undefined ? Event.EventType.literals : [type],
              page.limit + 1
            ],
            page.limit + 1,
            null,
            0
          ),
          (items) => Page.fromOverread(items, page, ({ id }) => id)
        )
    })
  })
)
