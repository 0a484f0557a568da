/**
 * The switch with which an owner makes a workspace keep the values of its API requests for a time (contract §17). Pure.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** How long the switch stays on. */
export const lasts = Duration.hours(24)

/** A switch that was turned on and not off again. It may be past its end. */
export interface ValuesSwitch {
  /** When it turns off automatically. */
  readonly until: Instant
  /** Rises when all kept values must be deleted: values of an earlier epoch are neither stored nor found any more. */
  readonly epoch: number
}

/** Whether the switch is on at a time, so that values of requests are kept. */
export const isOn = (given: ValuesSwitch | null, at: Instant): given is ValuesSwitch =>
  given !== null && at < given.until
