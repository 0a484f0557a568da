/**
 * Port: API requests.
 */
import { Context, type Effect } from "effect"
import type { RequestId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { ApiRequest, Tally } from "./ApiRequest.ts"

/** Which requests to list. */
export interface RequestFilter {
  /** Only refused requests. */
  readonly refused?: boolean
  /** Only requests refused for this reason (`ApiRequest.wordOf`). */
  readonly word?: string
  /** Only the request with this id. */
  readonly id?: RequestId
}

export class RequestStore extends Context.Service<RequestStore, {
  /**
   * Stores requests and counts them (`ApiRequest.hourOf`), in one step. A request that is already stored is skipped.
   */
  readonly record: (requests: ReadonlyArray<ApiRequest>) => Effect.Effect<void, StoreError>
  /** Newest first, by id. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: RequestFilter,
    page: PageRequest
  ) => Effect.Effect<Page<ApiRequest>, StoreError>
  /** Requests since the start of the hour of `since`, summed by key and outcome. */
  readonly tallies: (workspaceId: WorkspaceId, since: Instant) => Effect.Effect<ReadonlyArray<Tally>, StoreError>
  /**
   * Deletes a bounded number of requests whose ids were created before a time, and of counts of earlier hours.
   */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/requests/RequestStore") {}
