/**
 * How many recipients of a campaign have which outcome (contract §11). Each recipient is in exactly one count. Pure.
 */
import type { Message, MessageStatus } from "../messages/Message.ts"

/** All counts at zero. The event `campaign.completed` has the same names. */
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

/** The number of recipients with each outcome. */
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
  skipped: "skipped",
  // callers can cancel single messages only, never a campaign's
  cancelled: "skipped"
}

/** The outcome of a recipient with this message. */
export const outcomeOf = ({ isHeld, status }: Pick<Message, "status" | "isHeld">): Outcome =>
  isHeld ? "held" : outcomes[status]

/** Whether the recipient of this message still waits in the campaign's queue. */
export const waits = (message: Pick<Message, "status" | "isHeld">): boolean => outcomeOf(message) === "queued"

/** The number of recipients. */
export const total = (counts: CampaignCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)
