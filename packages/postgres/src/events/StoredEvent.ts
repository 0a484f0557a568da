/**
 * Events as they are stored.
 */
import type { Event } from "@wac/core"
import { columns, type Fields } from "../Columns.ts"
import type { Row } from "../Statement.ts"

/** The columns of an event. */
export const event = columns(
  {
    id: "text",
    workspaceId: "text",
    type: "text",
    createdAt: "bigint",
    orderKey: "text",
    sequence: "integer",
    data: "json",
    trace: "text"
  } satisfies Fields<Event.Event>
)

/** The event of a row. */
export const eventOf = (row: Row): Event.Event => event.read(row) as Event.Event
