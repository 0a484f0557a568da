/**
 * How many recipients of a campaign have which outcome (contract §11). Each recipient is in exactly one count. Pure.
 */
import { Record } from "effect"
import type { MessageStatus } from "../messages/Message.ts"

/** The counts, all zero: their names are those of `campaign.completed`. */
export const none = {
  queued: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  held: 0,
  unknown: 0,
  skipped: 0
}

/** The outcome under which a recipient is counted. */
export type Outcome = keyof typeof none

/** Numbers of recipients by outcome. As a difference, numbers may be negative. */
export type CampaignCounts = { readonly [outcome in Outcome]: number }

const outcomes: { readonly [status in MessageStatus]: Outcome } = {
  queued: "queued",
  // a try that sent nothing is repeated, so its recipient still waits
  sending: "queued",
  unknown: "unknown",
  sent: "sent",
  delivered: "delivered",
  read: "read",
  failed: "failed",
  skipped: "skipped"
}

/** The outcome of a message with this status. */
export const outcomeOf = (status: MessageStatus): Outcome => outcomes[status]

/** Counts of messages with these statuses. */
export const of = (statuses: ReadonlyArray<MessageStatus>): CampaignCounts => {
  const counts = { ...none }
  for (const status of statuses) counts[outcomes[status]]++
  return counts
}

/** Adds a difference to counts. */
export const add = (counts: CampaignCounts, change: CampaignCounts): CampaignCounts =>
  Record.map(counts, (count, outcome) => count + change[outcome])

/** The change when a message moves from one status to another; `undefined` if its recipient's outcome stays. */
export const change = (before: MessageStatus, after: MessageStatus): CampaignCounts | undefined => {
  const [from, to] = [outcomes[before], outcomes[after]]
  return from === to ? undefined : { ...none, [from]: -1, [to]: 1 }
}

/** The number of recipients. */
export const total = (counts: CampaignCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)
