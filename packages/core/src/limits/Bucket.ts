/**
 * Token buckets during a step: the state of each bucket after the commands decided so far. They are in memory only; the
 * storage then writes the buckets that changed.
 */
import type { Instant } from "../Time.ts"
import * as RateLimit from "./RateLimit.ts"

/** A bucket after the commands decided so far. */
export class Bucket {
  private readonly loaded: Instant
  private left: Instant

  /** `fullAt` is the stored state; `undefined` for a full bucket. */
  constructor(fullAt: Instant | undefined) {
    this.loaded = this.left = fullAt ?? 0
  }

  /** The instant at which the bucket will be full. */
  get fullAt(): Instant {
    return this.left
  }

  /** Whether the bucket must be written. */
  get hasChanged(): boolean {
    return this.left !== this.loaded
  }

  /** Sets the bucket's state. */
  leave(fullAt: Instant): void {
    this.left = fullAt
  }
}

/** A bucket and its policy. */
export interface LimitedBucket {
  readonly bucket: Bucket
  readonly policy: RateLimit.Policy
}

/** The result of checking several buckets for one token each. */
export interface TokenCheck {
  /** One reading for each bucket, in order. */
  readonly readings: ReadonlyArray<RateLimit.Reading>
  /** Takes the tokens. Call it only if every reading is allowed. */
  readonly spend: () => void
}

/**
 * Checks each bucket for one token without taking it. The state of a bucket is limited to that of an empty bucket
 * (`RateLimit.bounded`).
 */
export const check = (wanted: ReadonlyArray<LimitedBucket>, now: Instant): TokenCheck => {
  const next = new Map<Bucket, Instant>()
  const readings = wanted.map(({ bucket, policy }) => {
    bucket.leave(RateLimit.bounded(policy, bucket.fullAt, now))
    const { fullAt, reading } = RateLimit.take(policy, next.get(bucket) ?? bucket.fullAt, now)
    next.set(bucket, fullAt)
    return reading
  })
  return { readings, spend: () => next.forEach((fullAt, bucket) => bucket.leave(fullAt)) }
}
