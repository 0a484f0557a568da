/**
 * Port: what providers have posted, kept until it is processed and for a while after.
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { PostName } from "./InboundPost.ts"
import type { Complete, Release } from "./InboundPostStep.ts"

/** A post that its claimer now owns. */
export interface ClaimedPost extends PostName {
  readonly body: Uint8Array
  readonly receivedAt: Instant
  /** How often it was tried before, and failed. */
  readonly tries: number
}

/** What waits, over all providers, for whoever runs the service. */
export interface PostBacklog {
  /** Posts that are to be processed, failing ones included: exact up to {@link countedExactly}, and no more beyond. */
  readonly waiting: number
  /** When the one of them came that has waited for longest; `null` when none waits. */
  readonly oldestReceivedAt: Instant | null
  /** Of those that wait, the ones that have failed; counted like `waiting`. */
  readonly failing: number
  /** Posts that are kept although nothing could be read in them; counted like `waiting`. */
  readonly unreadable: number
}

/** Up to so many posts are counted one by one. */
export const countedExactly = 10_000

export class InboundPostStore extends Context.Service<InboundPostStore, {
  /**
   * Keeps a post, which is then due at once. `known`, and nothing changed, when there is one of that name, whatever has
   * become of it. Safe to repeat. Once it has answered, the post outlives the process.
   */
  readonly keep: (
    command: PostName & { readonly now: Instant; readonly body: Uint8Array }
  ) => Effect.Effect<"kept" | "known", StoreError>
  /**
   * Claims posts of a provider that are due, until `leaseUntil`, when they are due again: those that have been due for
   * longest first, in the order in which they came; at most `limit.posts`, and no more once they hold `limit.bytes`,
   * but at least one, however large. A post is claimed by one claimer at a time.
   */
  readonly claim: (command: {
    readonly now: Instant
    readonly provider: string
    readonly token: string
    readonly leaseUntil: Instant
    readonly limit: { readonly posts: number; readonly bytes: number }
  }) => Effect.Effect<ReadonlyArray<ClaimedPost>, StoreError>
  /**
   * Records that a post was processed, under its claim's token only. False, and nothing changed, when that was lost.
   */
  readonly complete: (command: Complete) => Effect.Effect<boolean, StoreError>
  /**
   * Ends a claim without the post being processed. With a `problem` that counts as a try, and the post is due again at
   * `retryAt`, or never (`null`); without one the claim is as if it had not been. Under the claim's token only: false,
   * and nothing changed, when that was lost.
   */
  readonly release: (command: Release) => Effect.Effect<boolean, StoreError>
  /**
   * Forgets up to `limit` posts whose time is over (`InboundPost.keptFor`, `keptWithProblemFor`). One that never failed
   * stays until it is processed. How many there were; 0 when none is left.
   */
  readonly sweep: (now: Instant, limit: number) => Effect.Effect<number, StoreError>
  /**
   * Suspends until something may have become due for another reason than time passing: a hint, which may come late
   * or not at all, so claimers look by themselves too.
   */
  readonly awaitHint: Effect.Effect<void>
  /** What waits over all providers, at a bounded cost. */
  readonly backlog: Effect.Effect<PostBacklog, StoreError>
}>()("@wac/core/inbound/InboundPostStore") {}
