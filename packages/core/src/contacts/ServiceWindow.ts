/**
 * The customer service window (specification §1, contract §7): free-form text may be sent for 24 hours after the
 * customer last wrote, counted from the message's own timestamp. Pure.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** The length of the window (specification §8). */
export const length = Duration.hours(24)

/** Open while `timestamp ≤ now < timestamp + 24 h`. `lastInboundAt` is `null` if the customer never wrote. */
export const isOpen = (lastInboundAt: Instant | null, now: Instant): boolean => openUntil(lastInboundAt, now) !== null

/** When the currently open window closes unless the customer writes again; `null` if none is open. */
export const openUntil = (lastInboundAt: Instant | null, now: Instant): Instant | null => {
  if (lastInboundAt === null || lastInboundAt > now) return null
  const end = lastInboundAt + Duration.toMillis(length)
  return now < end ? end : null
}

/**
 * The time at which an inbound message opens the window: the message's own timestamp, or now if that is in the future.
 */
export const openedAt = (timestamp: Instant, now: Instant): Instant => Math.min(timestamp, now)
