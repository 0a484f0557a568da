/**
 * Events as they are stored.
 */
import type { Event } from "@wac/core"
import { columns } from "../Columns.ts"

/** An event. */
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
