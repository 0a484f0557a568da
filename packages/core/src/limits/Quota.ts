/**
 * The monthly quota of a workspace (contract §7): messages per calendar month, UTC. Pure.
 */
import { type Instant, iso } from "../Time.ts"

/** The calendar month of an instant, such as `2026-01`. It names the counter. */
export const monthOf = (at: Instant): string => iso(at).slice(0, 7)

/** Whether one more message fits. A `quota` of `null` means no limit. */
export const allows = (quota: number | null, used: number): boolean => quota === null || used < quota
