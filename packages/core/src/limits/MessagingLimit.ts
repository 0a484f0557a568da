/**
 * The messaging limit of a phone number (contract §7): unique customers messaged outside a service window per rolling
 * 24 hours, counted as the provider does. Pure.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** How long a customer counts after a message outside a window. */
export const period = Duration.hours(24)

/** Entries made at or before this instant no longer count. */
export const lapsed = (now: Instant): Instant => now - Duration.toMillis(period)

/** Whether an entry made at `at` still counts. */
export const counts = (at: Instant, now: Instant): boolean => at > lapsed(now)

/**
 * Whether a message to this customer is allowed. A customer who already counts costs nothing. A `limit` of `null` means
 * no limit.
 */
export const allows = (limit: number | null, counted: number, alreadyCounted: boolean): boolean =>
  limit === null || alreadyCounted || counted < limit
