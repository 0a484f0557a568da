/**
 * The stored form of events.
 */
import type { Event } from "@wac/core"
import { columns } from "../Columns.ts"

/** The columns of an event. */
export const event = columns<Event.Event>({
  id: "text",
  workspaceId: "text",
  type: "text",
  createdAt: "bigint",
  orderKey: "text",
  sequence: "integer",
  data: "json",
  trace: "text"
})
