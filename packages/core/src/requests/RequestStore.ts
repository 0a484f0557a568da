/**
 * Port: requests of API keys.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { ApiRequest, Tally } from "./ApiRequest.ts"

/** Which requests a list holds. */
export interface RequestFilter {
  /** Only those that were refused. */
  readonly refused?: boolean
  /** Only those that were refused for this (`ApiRequest.wordOf`). */
  readonly word?: string
}

export class RequestStore extends Context.Service<RequestStore, {
  /** Keeps requests, and counts them (`ApiRequest.hourOf`), in one step. One that is kept already is passed over. */
  readonly record: (requests: ReadonlyArray<ApiRequest>) => Effect.Effect<void, StoreError>
  /** Newest first, by id. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: RequestFilter,
    page: PageRequest
  ) => Effect.Effect<Page<ApiRequest>, StoreError>
  /** Requests since the hour that `since` falls into, added up by key and outcome. */
  readonly tallies: (workspaceId: WorkspaceId, since: Instant) => Effect.Effect<ReadonlyArray<Tally>, StoreError>
  /**
   * Forgets requests whose ids were made before a time, and the counts of hours before its own: a bounded number at once.
   * Returns whether more may be left.
   */
  readonly forget: (before: Instant) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/requests/RequestStore") {}
