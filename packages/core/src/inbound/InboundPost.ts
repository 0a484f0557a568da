/**
 * A provider's post, from when it is kept until it is forgotten: the bytes as they came, so that whatever happens to us
 * can be made good from them.
 */
import { Duration } from "effect"

/** Which post: two with the same bytes of the same provider are one. */
export interface PostName {
  /** `ProviderWebhook.name`. */
  readonly provider: string
  /** SHA-256 of the body, in hex. */
  readonly digest: string
}

/** Why a post could not be processed. */
export type Problem =
  /** It is none of the provider's: to try again would not help. */
  | "unreadable"
  /** The storage was away. */
  | "storage"
  /** An error of ours. */
  | "defect"

/** A post that has been processed is known for so long: upstream posts again for up to a week what was not answered. */
export const keptFor = Duration.days(7)

/** One that could not be is kept for so long after its first problem, for people to look into. */
export const keptWithProblemFor = Duration.days(30)

const firstRetry = Duration.seconds(1)

/** A post that fails for hours fails for a reason of its own; then this is often enough, and soon enough after a repair. */
const longestRetry = Duration.minutes(10)

/** How long to wait before a post is tried again that has failed `tries` times: a second, and each time twice as long. */
export const retryAfter = (tries: number): Duration.Duration =>
  Duration.min(Duration.times(firstRetry, 2 ** Math.min(tries - 1, 20)), longestRetry)
