/**
 * What has changed in a workspace, for pages that show it (contract §12 `GET /internal/stream`): a topic, and not what it
 * is now. A page that is told asks again.
 */
import type { Action } from "../audit/AuditEntry.ts"
import type { WorkspaceId } from "../Id.ts"

/** What a page can show. */
export const topics = [
  "alerts",
  "apiKeys",
  "audit",
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

/** Something of a topic is not what it was. */
export interface Change {
  readonly workspaceId: WorkspaceId
  readonly topic: Topic
}

/** What an event may be news of. */
export const ofEvent: ReadonlyArray<Topic> = ["events", "messages", "contacts", "deliveries"]

const ofThing: { readonly [thing: string]: ReadonlyArray<Topic> } = {
  alert_settings: ["alerts"],
  api_key: ["apiKeys"],
  delivery: ["deliveries"],
  member: ["members"],
  message: ["messages"],
  number: ["phoneNumbers"],
  replay: ["replays", "deliveries"],
  template: ["templates"],
  webhook: ["webhook", "deliveries"]
}

/** What a change by a person is news of. */
export const ofAction = (action: Action): ReadonlyArray<Topic> => [
  "audit",
  ...ofThing[action.slice(0, action.indexOf("."))] ?? []
]

/** Each change once. */
export const distinct = (changes: ReadonlyArray<Change>): ReadonlyArray<Change> => [
  ...new Map(changes.map((change) => [`${change.workspaceId} ${change.topic}`, change])).values()
]
