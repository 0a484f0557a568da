/**
 * The switch by which an owner has a workspace keep the values of its API requests for a time (contract §17). Pure.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** How long the switch stays on. */
export const lasts = Duration.hours(24)

/** A switch that was turned on and not off again; it may have ended by itself. */
export interface ValuesSwitch {
  /** When it ends by itself. */
  readonly until: Instant
  /** Rises when the values that are kept must go: those of an earlier epoch are neither kept nor found. */
  readonly epoch: number
}

/** Whether values are kept of a request at a time. */
export const isOn = (given: ValuesSwitch | null, at: Instant): given is ValuesSwitch =>
  given !== null && at < given.until
