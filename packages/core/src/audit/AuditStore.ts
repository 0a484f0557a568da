/**
 * Port: the audit's entries.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { AuditEntry } from "./AuditEntry.ts"

/** Which entries to list. */
export interface AuditFilter {
  /** Only changes by the person or the API key with this id. */
  readonly userId?: string
  /** Only changes of the object with this id. */
  readonly target?: string
}

export class AuditStore extends Context.Service<AuditStore, {
  /** Stores entries. An entry that is already stored is skipped, so repeating a call is safe. */
  readonly record: (entries: ReadonlyArray<AuditEntry>) => Effect.Effect<void, StoreError>
  /** Newest first, by id. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: AuditFilter,
    page: PageRequest
  ) => Effect.Effect<Page<AuditEntry>, StoreError>
  /** Deletes a bounded number of entries whose ids were created before a time. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/audit/AuditStore") {}
