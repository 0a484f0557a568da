/**
 * API requests: a list, and a summary of refusals by reason (contract §12 *Requests*). Reads the storage.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import * as Retention from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as ApiRequest from "./ApiRequest.ts"
import { type RequestFilter, RequestStore } from "./RequestStore.ts"

/** A summary of requests since a time. */
export interface RequestSummary extends ApiRequest.Summary {
  readonly since: Instant
}

export class Requests extends Context.Service<Requests, {
  /** Newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: RequestFilter,
    page: PageRequest
  ) => Effect.Effect<Page<ApiRequest.ApiRequest>, StoreError>
  /** Sums all stored requests, by whole hours. */
  readonly summary: (workspaceId: WorkspaceId) => Effect.Effect<RequestSummary, StoreError>
}>()("@wac/core/requests/Requests") {
  static readonly layer = Layer.effect(
    Requests,
    Effect.gen(function*() {
      const store = yield* RequestStore
      const retention = yield* Retention.CurrentRetention
      return Requests.of({
        list: store.list,
        summary: Effect.fnUntraced(function*(workspaceId) {
          const now = yield* Clock.currentTimeMillis
          const since = ApiRequest.hourOf(Retention.horizon(retention, "requests", now))
          return { since, ...ApiRequest.summarize(yield* store.tallies(workspaceId, since)) }
        })
      })
    })
  )
}
