/**
 * The messaging limit (contract §7): unique customers messaged outside a service window per rolling 24 hours, counted as
 * the provider does, for all numbers of a portfolio together. Pure.
 */
import { Duration } from "effect"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { Instant } from "../Time.ts"

/**
 * The name of the pool of numbers that share a messaging limit: all numbers of one portfolio, in any workspace; or the
 * numbers of one workspace whose portfolio is not known.
 */
export const poolOf = (
  { portfolioId, provider, workspaceId }: Pick<PhoneNumber, "portfolioId" | "provider" | "workspaceId">
): string => portfolioId === null ? `${provider}:workspace:${workspaceId}` : `${provider}:portfolio:${portfolioId}`

/** How long a customer counts after a message outside a window. */
export const period = Duration.hours(24)

/** The time at or before which entries no longer count. */
export const lapsed = (now: Instant): Instant => now - Duration.toMillis(period)

/** Whether an entry made at `at` still counts. */
export const counts = (at: Instant, now: Instant): boolean => at > lapsed(now)

/**
 * Whether a message to this customer is allowed. A customer who already counts costs nothing. A `limit` of `null` means
 * no limit.
 */
export const allows = (limit: number | null, counted: number, alreadyCounted: boolean): boolean =>
  limit === null || alreadyCounted || counted < limit
