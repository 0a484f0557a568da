/**
 * A page of events, in the order of their places and no further than what is settled, so that following the pages skips
 * nothing. It begins after the place of an event or, while there is none, of the last event that is certainly older than
 * a time: further apart by its time than processes' clocks may be.
 */
import type { Event, Id, Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { plain } from "../Column.ts"
import { texts } from "../Parameter.ts"
import type { Rows, Statement } from "../Statement.ts"
import { last, settled } from "./Places.ts"
import { event, eventOf } from "./StoredEvent.ts"

/** Which page. */
export interface ListEvents {
  readonly workspaceId: Id.WorkspaceId
  readonly after: string | null
  readonly since: Time.Instant | null
  readonly types: ReadonlyArray<Event.EventType>
  readonly limit: number
  /** Up to which place events are waited for; `null`: up to the last one now. */
  readonly until: string | null
}

/** What is found of it. */
export interface Listed {
  readonly items: ReadonlyArray<Event.Event>
  /** Whether events were left out that were committed already, since others before them may yet be. */
  readonly heldBack: boolean
  readonly until: string
}

/** The statements after this one see whatever is settled. */
const lookText = `select set_config('wac.until', coalesce($1::bigint, ${last})::text, true) as until,
  set_config('wac.settled', ${settled}::text, true)`

const until = "current_setting('wac.until')::bigint"
const isSettled = "<= current_setting('wac.settled')::bigint"

/** Each type has its own range of the index, so that a rare one is found among many others. */
const listText = `select ${event.names("page")}
  from (
    select e.* from unnest($4::text[]) as t (type) cross join lateral (
      select * from events e
      where e.workspace_id = $1 and e.type = t.type and e.position ${isSettled}
        and e.position > (
          select coalesce(
            (select e.position from events e where e.id = $2 and e.workspace_id = $1),
            (
              select e.position from events e
              where e.workspace_id = $1 and e.created_at < $3::bigint - ${Clocks.spread}
              order by e.created_at desc limit 1
            ),
            0
          )
        )
        -- not in the index's terms: a time's own index leads to other types, and out of order
        and coalesce(e.created_at >= $3, true)
      order by e.position limit $5
    ) e
    order by e.position limit $5
  ) page
  order by page.position`

const heldBackText = `select not ${until} ${isSettled} and exists (
    select from unnest($2::text[]) as t (type) cross join lateral (
      select from events e
      where e.workspace_id = $1 and e.type = t.type and not e.position ${isSettled} and e.position <= ${until}
      limit 1
    ) e
  ) as held_back`

/** Statements that list. */
export const listEvents = (
  { after, limit, since, types, until, workspaceId }: ListEvents
): ReadonlyArray<Statement> => [
  { text: lookText, params: [until] },
  { text: listText, params: [workspaceId, after, since, texts(types), limit] },
  { text: heldBackText, params: [workspaceId, texts(types)] }
]

/** What the statements of {@link listEvents} answer. */
export const listedOf = ([look, items, heldBack]: ReadonlyArray<Rows>): Listed => ({
  items: items!.map(eventOf),
  heldBack: plain(heldBack![0]!, "held_back"),
  until: plain(look![0]!, "until")
})
