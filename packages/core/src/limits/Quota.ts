/**
 * The monthly quota of a workspace (contract §7): messages per calendar month, UTC.
 */
import { type Instant, iso } from "../Time.ts"

/** The month that an instant falls into, `2026-01`: the name of the counter. */
export const monthOf = (at: Instant): string => iso(at).slice(0, 7)

/** Whether one more message fits. `quota: null` is no limit. */
export const allows = (quota: number | null, used: number): boolean => quota === null || used < quota
