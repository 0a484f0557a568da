/**
 * Port: recorded API requests (`ApiRequest`), and their counts by hour, key and outcome.
 */
import { Context, Duration, type Effect } from "effect"
import type { ApiKeyId, RequestId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { type ApiRequest, type Tally, wordOf } from "./ApiRequest.ts"

/** Which requests to list. */
export interface RequestFilter {
  /** Only refused requests. */
  readonly refused?: boolean
  /** Only requests refused for this reason (`ApiRequest.wordOf`). */
  readonly word?: string
  /** Only the request with this id. */
  readonly id?: RequestId
  readonly apiKeyId?: ApiKeyId
  /** Only requests to this route (`ApiRequest.route`). */
  readonly route?: string
  readonly status?: number
  /** Only requests that arrived at or after this time. */
  readonly since?: Instant
  /** Only requests that arrived before this time. */
  readonly until?: Instant
}

/** Whether a request matches the filter. Pure. */
export const isOf = (
  { apiKeyId, id, refused, route, since, status, until, word }: RequestFilter,
  request: ApiRequest
): boolean =>
  (id === undefined || request.id === id) && (refused !== true || request.code !== null) &&
  (word === undefined || wordOf(request) === word) &&
  (apiKeyId === undefined || request.caller.apiKeyId === apiKeyId) &&
  (route === undefined || request.route === route) && (status === undefined || request.status === status) &&
  (since === undefined || request.at >= since) && (until === undefined || request.at < until)

/** How far the time in a request's id may differ from the time of its arrival. */
export const idAhead = Duration.seconds(10)

export class RequestStore extends Context.Service<RequestStore, {
  /**
   * Stores requests and counts those of API keys (`ApiRequest.hourOf`), in one step. A request that is already stored is
   * skipped.
   */
  readonly record: (requests: ReadonlyArray<ApiRequest>) => Effect.Effect<void, StoreError>
  /**
   * Newest first, by id. Refusals, reasons, ids and times have an index; with another filter a page reads at most
   * `Page.maxScanned` requests.
   */
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
