/**
 * Port: buckets that are spent outside a send (other public requests, sign-ins). A send's own buckets are spent
 * inside *accept* (`MessageStore`), on the same state.
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Policy, Reading } from "./RateLimit.ts"

export class RateLimitStore extends Context.Service<RateLimitStore, {
  /**
   * Takes one token from each bucket if all have one, else from none; answers with a reading of each, in order.
   * Atomic over all callers and processes: of racing callers exactly as many are allowed as there are tokens.
   * Judged at the storage's time (`StorageTime`), once it is their turn: who waited is not refused for that.
   * A repetition after a {@link StoreError} may take a second token.
   */
  readonly spend: (
    buckets: ReadonlyArray<{ readonly key: string; readonly policy: Policy }>,
    now: Instant
  ) => Effect.Effect<ReadonlyArray<Reading>, StoreError>
  /** Gives one token back to each bucket. */
  readonly giveBack: (
    buckets: ReadonlyArray<{ readonly key: string; readonly policy: Policy }>,
    now: Instant
  ) => Effect.Effect<void, StoreError>
}>()("@wac/core/limits/RateLimitStore") {}
