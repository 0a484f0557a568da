/**
 * How much of a workspace waited, by the hour: messages in its queue, and events that its paused webhook held. Pure.
 */
import { Duration } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** What waits at a time. */
export interface Waiting {
  /** Messages that callers queued. */
  readonly queued: number
  /** Events that the paused webhook holds. */
  readonly held: number
}

/** The most of each that waited in an hour, of the times when somebody looked. */
export interface Peak extends Waiting {
  readonly workspaceId: WorkspaceId
  /** The start of the hour. */
  readonly hour: Instant
}

/** How often it is looked at. What waits for less may be missed. */
export const every = Duration.minutes(5)

const hourLength = Duration.toMillis(Duration.hours(1))

/** What waits now, as the peak of its hour so far. */
export const peakAt = (workspaceId: WorkspaceId, now: Instant, { held, queued }: Waiting): Peak => ({
  workspaceId,
  hour: now - now % hourLength,
  queued,
  held
})

/** The most of each; `null` of no times, about which nothing is known. */
export const highest = (all: ReadonlyArray<Waiting>): Waiting | null =>
  all.length === 0 ? null : {
    queued: Math.max(...all.map(({ queued }) => queued)),
    held: Math.max(...all.map(({ held }) => held))
  }
