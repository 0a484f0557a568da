/**
 * Notices of changes in a workspace, for open pages (contract §12 `GET /internal/stream`). A notice holds a topic only,
 * no data: a page that gets it reloads.
 */
import type { Action } from "../audit/AuditEntry.ts"
import type { WorkspaceId } from "../Id.ts"

/** The kinds of things that a page can show. */
export const topics = [
  "alerts",
  "apiKeys",
  "audit",
  "campaigns",
  "contacts",
  "deliveries",
  "events",
  "members",
  "messages",
  "phoneNumbers",
  "replays",
  "requests",
  "templates",
  "usage",
  "webhook"
] as const
/** A part of a workspace whose pages reload when it changes. */
export type Topic = (typeof topics)[number]

/** Something of this topic has changed. */
export interface Change {
  readonly workspaceId: WorkspaceId
  readonly topic: Topic
}

/** The topics that an event may affect. */
export const ofEvent: ReadonlyArray<Topic> = ["events", "messages", "contacts", "deliveries"]

const ofThing: { readonly [thing: string]: ReadonlyArray<Topic> } = {
  alert_settings: ["alerts"],
  api_key: ["apiKeys"],
  campaign: ["campaigns"],
  contact: ["contacts"],
  delivery: ["deliveries"],
  member: ["members"],
  message: ["messages"],
  number: ["phoneNumbers"],
  queue: ["messages"],
  replay: ["replays", "deliveries"],
  request_values: ["requests"],
  template: ["templates"],
  webhook: ["webhook", "deliveries"]
}

/** The topics that a person's action affects. */
export const ofAction = (action: Action): ReadonlyArray<Topic> => [
  "audit",
  ...ofThing[action.slice(0, action.indexOf("."))] ?? []
]
