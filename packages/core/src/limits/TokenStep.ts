/**
 * The decisions for tokens that are spent outside a send (contract §7): one token from each of several buckets, or
 * none. Pure.
 */
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Bucket from "./Bucket.ts"
import * as RateLimit from "./RateLimit.ts"

/** A bucket's key in storage and its policy. */
export interface Named {
  readonly key: string
  readonly policy: RateLimit.Policy
}

/** Takes one token from each bucket, or returns one to each. */
export interface Tokens {
  readonly now: Instant
  readonly buckets: ReadonlyArray<Named>
}

/** The records that the steps load, under locks. */
export interface Loaded extends Known {
  /**
   * The instant at which the bucket with this key is full; `undefined` if it is new, or was deleted because it was
   * full.
   */
  readonly fullAt: (key: string) => Instant | undefined
}

/** The buckets to write, each at most once. */
export type Writes = ReadonlyArray<{ readonly key: string; readonly fullAt: Instant }>

/** The buckets of a batch. */
class Buckets {
  private readonly loaded: Loaded
  private readonly byKey = new Map<string, Bucket.Bucket>()

  constructor(loaded: Loaded) {
    this.loaded = loaded
  }

  of(key: string): Bucket.Bucket {
    const known = this.byKey.get(key)
    if (known !== undefined) return known
    const bucket = new Bucket.Bucket(this.loaded.fullAt(key))
    this.byKey.set(key, bucket)
    return bucket
  }

  writes(): Writes {
    return [...this.byKey].flatMap(([key, { fullAt, hasChanged }]) => hasChanged ? [{ key, fullAt }] : [])
  }
}

/**
 * Decides `RateLimitStore.spend`: takes one token from each bucket if all have one, else none. The answer is a reading
 * of each.
 */
export const spend: Decide<Tokens, Loaded, ReadonlyArray<RateLimit.Reading>, Writes> = (loaded, commands) => {
  const all = new Buckets(loaded)
  const answers = commands.map(({ buckets, now }) => {
    const { readings, spend } = Bucket.check(
      buckets.map(({ key, policy }) => ({ bucket: all.of(key), policy })),
      loaded.now(now)
    )
    if (readings.every(({ allowed }) => allowed)) spend()
    return readings
  })
  return { answers, writes: all.writes() }
}

/** Decides `RateLimitStore.giveBack`: returns one token to each bucket. A bucket that is not stored is already full. */
export const giveBack: Decide<Tokens, Loaded, void, Writes> = (loaded, commands) => {
  const all = new Buckets(loaded)
  for (const { key, policy } of commands.flatMap(({ buckets }) => buckets)) {
    if (loaded.fullAt(key) === undefined) continue
    const bucket = all.of(key)
    bucket.leave(RateLimit.giveBack(policy, bucket.fullAt))
  }
  return { answers: commands.map(() => undefined), writes: all.writes() }
}
