/**
 * A page of events, in the order of their positions and only as far as that order is settled, so that following the
 * pages skips nothing. It begins after an event's position or, without one, after the last event that is certainly
 * older than a time: by more than processes' clocks may differ.
 */
import { type Event, Id, type Time } from "@wac/core"
import { Option } from "effect"
import * as Clocks from "../Clocks.ts"
import { columns } from "../Columns.ts"
import { texts } from "../Parameter.ts"
import type { Rows, Statement } from "../Statement.ts"
import { last, settled } from "./EventPositions.ts"
import { event } from "./StoredEvent.ts"

/** The requested page. */
export interface ListEvents {
  readonly workspaceId: Id.WorkspaceId
  readonly after: string | null
  readonly since: Time.Instant | null
  readonly types: ReadonlyArray<Event.EventType>
  readonly limit: number
  /** The position up to which unsettled events are waited for; `null` for the present last one. */
  readonly until: string | null
}

/** The page found. */
export interface Listed {
  readonly items: ReadonlyArray<Event.Event>
  /** Whether committed events were left out because earlier ones may still be committed. */
  readonly heldBack: boolean
  readonly until: string
}

/** A separate statement, so that the statements after it see everything that is settled. */
const lookText = `select set_config('wac_step.until', coalesce($1::bigint, ${last})::text, true) as until,
  set_config('wac_step.settled', ${settled}::text, true)`

const until = "current_setting('wac_step.until')::bigint"
const isSettled = "<= current_setting('wac_step.settled')::bigint"

/** Each type is a range of the index of its own, so that a rare type is found among many others. */
const listText = `select ${event.names("page")}
  from (
    select e.* from unnest($4::text[]) as t (type) cross join lateral (
      select * from wac.events e
      where e.workspace_id = $1 and e.type = t.type and e.position ${isSettled}
        and e.position > (
          select coalesce(
            (select e.position from wac.events e where e.id = $2 and e.workspace_id = $1),
            (
              select e.position from wac.events e
              where e.workspace_id = $1 and e.created_at < $6::bigint - ${Clocks.spread}
              order by e.created_at desc limit 1
            ),
            0
          )
        )
        -- coalesce keeps the planner from the index on times, which leads to other types and out of order
        and coalesce(e.created_at >= $3, true)
      order by e.position limit $5
    ) e
    order by e.position limit $5
  ) page
  order by page.position`

const heldBackText = `select not ${until} ${isSettled} and exists (
    select from unnest($2::text[]) as t (type) cross join lateral (
      select from wac.events e
      where e.workspace_id = $1 and e.type = t.type and not e.position ${isSettled} and e.position <= ${until}
      limit 1
    ) e
  ) as held_back`

/** Where the events after a deleted one begin: some of those before it come again, and none is missed. */
const startOf = (after: string | null): Time.Instant | null =>
  after !== null && Option.isSome(Id.parse(Id.EventId, after)) ? Id.timeOf(after as Id.EventId) : null

/** The statements that read a page. */
export const listEvents = (
  { after, limit, since, types, until, workspaceId }: ListEvents
): ReadonlyArray<Statement> => [
  { text: lookText, params: [until] },
  { text: listText, params: [workspaceId, after, since, texts(types), limit, startOf(after) ?? since] },
  { text: heldBackText, params: [workspaceId, texts(types)] }
]

const looked = columns<Pick<Listed, "until">>({ until: "text" })

const held = columns<Pick<Listed, "heldBack">>({ heldBack: "boolean" })

/** Reads the results of {@link listEvents}. */
export const listedOf = ([look, items, heldBack]: ReadonlyArray<Rows>): Listed => ({
  items: items!.map(event.read),
  ...held.read(heldBack![0]!),
  ...looked.read(look![0]!)
})
