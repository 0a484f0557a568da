/**
 * The customer-service window (specification §1, contract §7): free-form text may be sent for 24 hours after the
 * customer last wrote, counted from the message's own timestamp.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** Specification §8. */
export const length = Duration.hours(24)

/** Open while `timestamp ≤ now < timestamp + 24 h`. `lastInboundAt: null`: the customer never wrote. */
export const isOpen = (lastInboundAt: Instant | null, now: Instant): boolean => openUntil(lastInboundAt, now) !== null

/** When the window that is open now closes, unless the customer writes again; `null` when none is open. */
export const openUntil = (lastInboundAt: Instant | null, now: Instant): Instant | null => {
  if (lastInboundAt === null || lastInboundAt > now) return null
  const end = lastInboundAt + Duration.toMillis(length)
  return now < end ? end : null
}

/** The timestamp that an inbound message counts with: its own, but one from the future counts as now. */
export const openedAt = (timestamp: Instant, now: Instant): Instant => Math.min(timestamp, now)
