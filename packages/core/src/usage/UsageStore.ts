/**
 * Port: what workspaces do over time, counted by hours, and what they have used of their quotas.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Count } from "./Activity.ts"

/** How many months of quotas are told, at most. */
export const maxMonths = 12

export class UsageStore extends Context.Service<UsageStore, {
  /** Adds counts to those that there are. Not safe to repeat: after a `StoreError` they may have been added. */
  readonly add: (counts: ReadonlyArray<Count>) => Effect.Effect<void, StoreError>
  /** A workspace's counts of the hours from `since` on. */
  readonly counts: (workspaceId: WorkspaceId, since: Instant) => Effect.Effect<ReadonlyArray<Count>, StoreError>
  /** Messages that count against the quota by month, newest first, at most {@link maxMonths}. */
  readonly months: (
    workspaceId: WorkspaceId
  ) => Effect.Effect<ReadonlyArray<{ readonly month: string; readonly used: number }>, StoreError>
  /** Forgets the counts of hours before a time: a bounded number at once. Returns whether more may be left. */
  readonly forget: (before: Instant) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/usage/UsageStore") {}
