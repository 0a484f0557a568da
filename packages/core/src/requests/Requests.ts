/**
 * The service that lists recorded API requests and sums refusals by reason (contract §12 *Requests*). Reads the
 * storage.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import type { NotFound } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Lookup from "../Lookup.ts"
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
    workspaceId: Id.WorkspaceId,
    filter: RequestFilter,
    page: PageRequest
  ) => Effect.Effect<Page<ApiRequest.ApiRequest>, StoreError>
  /** One request. `id` may be any text. */
  readonly get: (
    workspaceId: Id.WorkspaceId,
    id: string
  ) => Effect.Effect<ApiRequest.ApiRequest, StoreError | NotFound>
  /** Sums all stored requests, by whole hours. */
  readonly summary: (workspaceId: Id.WorkspaceId) => Effect.Effect<RequestSummary, StoreError>
}>()("@wac/core/requests/Requests") {
  static readonly layer = Layer.effect(
    Requests,
    Effect.gen(function*() {
      const store = yield* RequestStore
      const retention = yield* Retention.CurrentRetention
      return Requests.of({
        list: store.list,
        get: (workspaceId, id) =>
          Lookup.find("request", Id.parse(Id.RequestId, id), (id) =>
            Effect.map(
              store.list(workspaceId, { id }, { limit: 1, after: null }),
              ({ items }) => Option.fromUndefinedOr(items[0])
            )),
        summary: Effect.fnUntraced(function*(workspaceId) {
          const now = yield* Clock.currentTimeMillis
          const since = ApiRequest.hourOf(Retention.horizon(retention, "requests", now))
          return { since, ...ApiRequest.summarize(yield* store.tallies(workspaceId, since)) }
        })
      })
    })
  )
}
