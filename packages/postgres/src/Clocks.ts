import { Duration } from "effect"

/**
 * Processes' clocks agree to within this (milliseconds), as do the order of writing and the times of what was written: what is
 * further apart by its times was written in their order.
 */
export const spread = Duration.toMillis(Duration.hours(1))
