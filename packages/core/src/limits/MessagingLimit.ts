/**
 * The messaging limit of a phone number (contract §7): unique customers written to outside a service window per
 * rolling 24 hours, as the upstream counts them.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** How long a customer counts after being written to outside a window. */
export const period = Duration.hours(24)

/** Entries made then, or before, do not count any more. */
export const lapsed = (now: Instant): Instant => now - Duration.toMillis(period)

/** Whether an entry made at `at` still counts. */
export const counts = (at: Instant, now: Instant): boolean => at > lapsed(now)

/** Whether writing to this customer is allowed: one who counts already costs nothing. `limit: null` is no limit. */
export const allows = (limit: number | null, counted: number, alreadyCounted: boolean): boolean =>
  limit === null || alreadyCounted || counted < limit
