/**
 * Token buckets within a step: what a batch has taken from each so far.
 */
import type { Instant } from "../Time.ts"
import * as RateLimit from "./RateLimit.ts"

/** A bucket as the commands so far have left it. */
export class Bucket {
  private readonly loaded: Instant
  private left: Instant

  /** `fullAt` is the stored state; a bucket never seen is full. */
  constructor(fullAt: Instant | undefined) {
    this.loaded = this.left = fullAt ?? 0
  }

  /** The instant at which it is full. */
  get fullAt(): Instant {
    return this.left
  }

  /** Whether it is to be written. */
  get hasChanged(): boolean {
    return this.left !== this.loaded
  }

  /** Leaves it in this state. */
  leave(fullAt: Instant): void {
    this.left = fullAt
  }
}

/** A bucket, and how it fills. */
export interface Limited {
  readonly bucket: Bucket
  readonly policy: RateLimit.Policy
}

/** What taking one token from each of some buckets would mean. */
export interface Asked {
  /** In the order of the buckets. */
  readonly readings: ReadonlyArray<RateLimit.Reading>
  /** Takes the tokens, which only makes sense when no reading is a refusal. */
  readonly spend: () => void
}

/** Decides over one token from each. Takes none yet; but no bucket stays further ahead than an empty one. */
export const ask = (wanted: ReadonlyArray<Limited>, now: Instant): Asked => {
  const next = new Map<Bucket, Instant>()
  const readings = wanted.map(({ bucket, policy }) => {
    bucket.leave(RateLimit.bounded(policy, bucket.fullAt, now))
    const { fullAt, reading } = RateLimit.take(policy, next.get(bucket) ?? bucket.fullAt, now)
    next.set(bucket, fullAt)
    return reading
  })
  return { readings, spend: () => next.forEach((fullAt, bucket) => bucket.leave(fullAt)) }
}
