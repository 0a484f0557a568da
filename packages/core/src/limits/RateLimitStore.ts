/**
 * Port: the buckets whose tokens are spent outside a send (by other public requests and sign-ins). *Accept*
 * (`MessageStore`) spends the tokens of a send itself, from the same buckets.
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Policy, Reading } from "./RateLimit.ts"

export class RateLimitStore extends Context.Service<RateLimitStore, {
  /**
   * Takes one token from each bucket if all have one, else none. Returns a reading of each, in order. Atomic across
   * callers and processes: if callers race, exactly as many are allowed as there are tokens. Judged at the storage's
   * time (`StorageTime`) when the call gets its turn, so waiting does not cause a refusal. Repeating a call after a
   * {@link StoreError} may take a second token.
   */
  readonly spend: (
    buckets: ReadonlyArray<{ readonly key: string; readonly policy: Policy }>,
    now: Instant
  ) => Effect.Effect<ReadonlyArray<Reading>, StoreError>
  /** Returns one token to each bucket. */
  readonly giveBack: (
    buckets: ReadonlyArray<{ readonly key: string; readonly policy: Policy }>,
    now: Instant
  ) => Effect.Effect<void, StoreError>
}>()("@wac/core/limits/RateLimitStore") {}
