/**
 * Port: provider posts, stored until they are processed and for a while after.
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { PostName } from "./InboundPost.ts"
import type { Complete, Release } from "./InboundPostStep.ts"

/** A post that the caller has claimed. */
export interface ClaimedPost extends PostName {
  readonly body: Uint8Array
  readonly receivedAt: Instant
  /** How many earlier tries failed. */
  readonly tries: number
}

/** The waiting posts of all providers, for operators. */
export interface PostBacklog {
  /** Posts still to be processed, including failing ones. Exact up to {@link countedExactly}, capped beyond. */
  readonly waiting: number
  /** When the oldest waiting post arrived; `null` if none waits. */
  readonly oldestReceivedAt: Instant | null
  /** Waiting posts that have failed; capped like `waiting`. */
  readonly failing: number
  /** Posts that are kept although they could not be read; capped like `waiting`. */
  readonly unreadable: number
}

/** Counts are exact up to this number. */
export const countedExactly = 10_000

export class InboundPostStore extends Context.Service<InboundPostStore, {
  /**
   * Stores a post, which is due immediately. Returns `known`, and changes nothing, if a post of that name exists,
   * whatever its state. Safe to repeat. Once it returns, the post survives the process.
   */
  readonly keep: (
    command: PostName & { readonly now: Instant; readonly body: Uint8Array }
  ) => Effect.Effect<"kept" | "known", StoreError>
  /**
   * Claims due posts of a provider until `leaseUntil`, when they are due again. The posts that have been due longest
   * come first, in the order of arrival. Returns at most `limit.posts`, and stops once they hold `limit.bytes`, but
   * returns at least one, however large. A post has one claimer at a time.
   */
  readonly claim: (command: {
    readonly now: Instant
    readonly provider: string
    readonly token: string
    readonly leaseUntil: Instant
    readonly limit: { readonly posts: number; readonly bytes: number }
  }) => Effect.Effect<ReadonlyArray<ClaimedPost>, StoreError>
  /**
   * Marks a post as processed if the token still holds its claim. If not, returns false and changes nothing. Its bytes
   * stay as received until it is deleted.
   */
  readonly complete: (command: Complete) => Effect.Effect<boolean, StoreError>
  /**
   * Ends a claim of a post that was not processed. With a `problem` it counts as a try, and the post is due again at
   * `retryAt`, or never (`null`). Without a problem, the claim leaves no trace. If the token no longer holds the claim,
   * returns false and changes nothing.
   */
  readonly release: (command: Release) => Effect.Effect<boolean, StoreError>
  /**
   * Makes up to `limit` unreadable posts of a provider due again, as of their arrival, the oldest first. Returns how
   * many; fewer than `limit` if none is left.
   */
  readonly retryUnreadable: (provider: string, limit: number) => Effect.Effect<number, StoreError>
  /**
   * Deletes up to `limit` expired posts (`InboundPost.keptFor`, `keptWithProblemFor`). A post that never failed stays
   * until it is processed. Returns how many were deleted; 0 if none is left.
   */
  readonly sweep: (now: Instant, limit: number) => Effect.Effect<number, StoreError>
  /**
   * Suspends until a post may have become due for a reason other than time. The hint may come late or never, so
   * claimers poll as well.
   */
  readonly awaitHint: Effect.Effect<void>
  /** The waiting posts of all providers, at a bounded cost. */
  readonly backlog: Effect.Effect<PostBacklog, StoreError>
}>()("@wac/core/inbound/InboundPostStore") {}
