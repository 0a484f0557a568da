/**
 * Port: the audit.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { AuditEntry } from "./AuditEntry.ts"

/** Which entries a list holds. */
export interface AuditFilter {
  /** Only what this person changed. */
  readonly userId?: string
  /** Only changes of this thing. */
  readonly target?: string
}

export class AuditStore extends Context.Service<AuditStore, {
  /** Keeps entries. One that is kept already is passed over. */
  readonly record: (entries: ReadonlyArray<AuditEntry>) => Effect.Effect<void, StoreError>
  /** Newest first, by id. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: AuditFilter,
    page: PageRequest
  ) => Effect.Effect<Page<AuditEntry>, StoreError>
  /** Forgets entries whose ids were made before a time: a bounded number at once. Returns whether more may be left. */
  readonly forget: (before: Instant) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/audit/AuditStore") {}
