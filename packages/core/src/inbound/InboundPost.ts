/**
 * A post of the provider, from when it is stored until it is deleted. It holds the bytes as received, so that the
 * consequences of an error in our code can be repaired from them.
 */
import { Duration } from "effect"
import * as Retention from "../Retention.ts"

/** Identifies a post. Equal bytes from the same provider are the same post. */
export interface PostName {
  /** `ProviderWebhook.name`. */
  readonly provider: string
  /** SHA-256 of the body, in hex. */
  readonly digest: string
}

/** Why a post could not be processed. */
export type Problem =
  /** It is not a valid post of the provider as far as this version knows; only another version may read it. */
  | "unreadable"
  /** The storage was unavailable. */
  | "storage"
  /** An unexpected error in our code. */
  | "defect"

/**
 * How long a processed post is remembered, unless `RETENTION` says otherwise. The provider repeats unacknowledged posts
 * for up to a week.
 */
export const keptFor = Retention.keptFor(Retention.standard, "inbound")

/** How long a failed post is kept after its first failure, for people to investigate. */
export const keptWithProblemFor = Duration.days(30)

const firstRetry = Duration.seconds(1)

/**
 * The longest interval between tries. A post that fails for hours fails for a reason of its own, so this is often
 * enough, and short enough once that is repaired.
 */
const longestRetry = Duration.minutes(10)

/**
 * How long to wait before retrying a post that has failed `tries` times: one second, doubled after each failure, with a
 * maximum.
 */
export const retryAfter = (tries: number): Duration.Duration =>
  Duration.min(Duration.times(firstRetry, 2 ** Math.min(tries - 1, 20)), longestRetry)
