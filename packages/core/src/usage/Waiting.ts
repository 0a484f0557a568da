/**
 * How many messages waited in a workspace's queue, and how many events its paused webhook held: samples, and the peak
 * of each hour. Pure.
 */
import { Duration } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** A sample: what waits at a moment. */
export interface Waiting {
  /** Messages that callers queued. */
  readonly queued: number
  /** Events that the paused webhook holds. */
  readonly held: number
}

/** The highest number of each in the samples of an hour. */
export interface Peak extends Waiting {
  readonly workspaceId: WorkspaceId
  /** The start of the hour. */
  readonly hour: Instant
}

/** How often a sample is taken. What waits for a shorter time may be missed. */
export const every = Duration.minutes(5)

const hourLength = Duration.toMillis(Duration.hours(1))

/** A sample at `now`, as a peak of its hour. */
export const peakAt = (workspaceId: WorkspaceId, now: Instant, { held, queued }: Waiting): Peak => ({
  workspaceId,
  hour: now - now % hourLength,
  queued,
  held
})

/** The highest number of each in some samples or peaks; `null` if there are none. */
export const highest = (all: ReadonlyArray<Waiting>): Waiting | null =>
  all.length === 0 ? null : {
    queued: Math.max(...all.map(({ queued }) => queued)),
    held: Math.max(...all.map(({ held }) => held))
  }
