/**
 * Reads a page of events, in the order of their positions and only as far as that order is settled, so that a caller
 * that follows the pages misses nothing. A page begins after an event's position, which the caller may know if the event
 * was deleted. Without one, it begins after the last
 * event that is certainly older than a time: by more than processes' clocks may differ.
 */
import { type Event, Id, type Time } from "@wac/core"
import { Option } from "effect"
import * as Clocks from "../Clocks.ts"
import { columns, list as listOf, type Reader, result } from "../Columns.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"
import { last, settled } from "./EventPositions.ts"
import { event } from "./StoredEvent.ts"

/** The requested page. */
export interface ListEvents {
  readonly workspaceId: Id.WorkspaceId
  readonly after: string | null
  /** The position of the event `after`, which counts if it was deleted since; `null` if it is not known. */
  readonly place: string | null
  readonly since: Time.Instant | null
  readonly types: ReadonlyArray<Event.EventType>
  readonly limit: number
  /** The position up to which the caller waits for unsettled events; `null` for the last position now. */
  readonly until: string | null
}

/** An event with its position. */
export interface Placed {
  readonly event: Event.Event
  readonly place: string
}

/** The page found. */
export interface Listed {
  readonly items: ReadonlyArray<Placed>
  /** Whether committed events were left out because earlier ones may still be committed. */
  readonly heldBack: boolean
  readonly until: string
}

const workspaceId = value<Id.WorkspaceId>()

const types = listOf<Event.EventType>("text")

/**
 * Reads the settled position. A separate statement, so that the statements after it see everything up to that position.
 */
const look = statement(
  { until: value<string | null>() },
  ({ until }) =>
    `select set_config('wac_step.until', coalesce(${until}::bigint, ${last})::text, true) as until,
  set_config('wac_step.settled', ${settled}::text, true)`
)

const until = "current_setting('wac_step.until')::bigint"
const isSettled = "<= current_setting('wac_step.settled')::bigint"

/**
 * Reads the events. Each type is read as its own range of the index, so that a rare type is found quickly among many
 * others.
 */
const list = statement(
  {
    workspaceId,
    after: value<string | null>(),
    place: value<string | null>(),
    since: value<Time.Instant | null>(),
    types,
    limit: value<number>(),
    start: value<Time.Instant | null>()
  },
  ({ after, limit, place, since, start, types, workspaceId }) =>
    `select ${event.names("page")}, page.position::text as place
  from (
    select e.* from unnest(${types}) as t (type) cross join lateral (
      select * from wac.events e
      where e.workspace_id = ${workspaceId} and e.type = t.type and e.position ${isSettled}
        and e.position > (
          select coalesce(
            (select e.position from wac.events e where e.id = ${after} and e.workspace_id = ${workspaceId}),
            ${place}::bigint,
            (
              select e.position from wac.events e
              where e.workspace_id = ${workspaceId} and e.created_at < ${start}::bigint - ${Clocks.spread}
              order by e.created_at desc limit 1
            ),
            0
          )
        )
        -- coalesce keeps the planner from the index on times, which leads to other types and out of order
        and coalesce(e.created_at >= ${since}, true)
      order by e.position limit ${limit}
    ) e
    order by e.position limit ${limit}
  ) page
  order by page.position`
)

const lookHeldBack = statement(
  { workspaceId, types },
  ({ types, workspaceId }) =>
    `select not ${until} ${isSettled} and exists (
    select from unnest(${types}) as t (type) cross join lateral (
      select from wac.events e
      where e.workspace_id = ${workspaceId} and e.type = t.type and not e.position ${isSettled}
        and e.position <= ${until}
      limit 1
    ) e
  ) as held_back`
)

/**
 * The time at which a page after a deleted event begins. Some events before the deleted one come again, but none is
 * missed.
 */
export const startOf = (after: string | null): Time.Instant | null =>
  after !== null && Option.isSome(Id.parse(Id.EventId, after)) ? Id.timeOf(after as Id.EventId) : null

/** The statements that read a page. */
export const listEvents = (
  { after, limit, place, since, types, until, workspaceId }: ListEvents
): ReadonlyArray<Statement> => [
  look({ until }),
  list({ workspaceId, after, place, since, types, limit, start: startOf(after) ?? since }),
  lookHeldBack({ workspaceId, types })
]

const placeOf = result<Pick<Placed, "place">>({ place: "text" })

/** Reads an event with its position. */
export const placed: Reader<Placed> = {
  read: (row) => ({ event: event.read(row), ...placeOf.read(row) })
}

const looked = columns<Pick<Listed, "until">>({ until: "text" })

const held = columns<Pick<Listed, "heldBack">>({ heldBack: "boolean" })

/** Reads the results of {@link listEvents}. */
export const listedOf = ([look, items, heldBack]: ReadonlyArray<Rows>): Listed => ({
  items: items!.map(placed.read),
  ...held.read(heldBack![0]!),
  ...looked.read(look![0]!)
})
