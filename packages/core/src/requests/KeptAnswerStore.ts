/**
 * Port: answers to requests that change something, kept under their Idempotency-Keys, so that a repetition gets the
 * same answer (`KeptAnswer`).
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Answer, ClaimRequest, Place, Verdict } from "./KeptAnswer.ts"

/** A step through a workspace's answers. */
export interface UnnameStep {
  readonly workspaceId: WorkspaceId
  /** A regular expression of the names, for JavaScript and PostgreSQL. */
  readonly names: string
  /** Where the previous step ended; `null` for the first step. */
  readonly after: string | null
}

export class KeptAnswerStore extends Context.Service<KeptAnswerStore, {
  /**
   * Claims a place (workspace, caller, route and key) for `KeptAnswer.leaseOf` if it is free (`KeptAnswer.isFree`), and
   * judges the request (`KeptAnswer.judge`). Atomic: of racing requests, exactly one is `Claimed`. Safe to repeat with
   * the same token. A claim binds for `Idempotency.retention`, answered or not.
   */
  readonly claim: (
    place: Place,
    asked: ClaimRequest,
    now: Instant
  ) => Effect.Effect<Verdict, StoreError>
  /**
   * Records the answer for another `Idempotency.retention`, or gives the place back if there is none. Has no effect if
   * the place was claimed with another token. Safe to repeat.
   */
  readonly settle: (
    place: Place,
    token: string,
    answer: Answer | null,
    now: Instant
  ) => Effect.Effect<void, StoreError>
  /**
   * Removes the names from the bodies of a bounded number of the workspace's answers (`KeptAnswer.unnamed`). Returns
   * where the next step begins; `null` after the last one. Safe to repeat.
   */
  readonly unname: (step: UnnameStep) => Effect.Effect<{ readonly next: string | null }, StoreError>
  /** Deletes a bounded number of bindings that had expired at a time. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/requests/KeptAnswerStore") {}
