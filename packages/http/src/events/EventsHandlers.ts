/**
 * `/v1/events` and `/internal/events`. Events are answered as they were recorded, which costs less than encoding them
 * and keeps what another version recorded.
 */
import { Api, Caller } from "@wac/api"
import { Event, Events, type EventStore, StoreError } from "@wac/core"
import { DateTime, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

const filterOf = (
  query: { readonly since?: DateTime.Utc; readonly type?: Event.EventType }
): EventStore.EventFilter => ({
  since: query.since === undefined ? undefined : DateTime.toEpochMillis(query.since),
  type: query.type
})

const shown = HttpServerResponse.jsonUnsafe

const publicApi = HandlerGroup.layer(
  Effect.gen(function*() {
    const events = yield* Events.Events
    return HttpApiBuilder.group(Api, "events", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { workspace } = yield* Caller.Caller
          const request = yield* Paging.request(query, "evt")
          if (query.order === "newest") {
            return shown(Paging.list(yield* events.latest(workspace.id, filterOf(query), request), Event.combined))
          }
          const page = yield* events.list(workspace.id, filterOf(query), request)
          return shown(Paging.list(page, Event.combined, page.resume))
        }, StoreError.orUnavailable)
      }))
  })
)

const dashboard = HandlerGroup.layer(
  Effect.gen(function*() {
    const events = yield* Events.Events
    return HttpApiBuilder.group(Api, "eventsDashboard", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const filter = {
            ...filterOf(query),
            until: query.until === undefined ? undefined : DateTime.toEpochMillis(query.until),
            messageId: query.messageId
          }
          const page = yield* events.latest(workspaceId, filter, yield* Paging.request(query, "evt"))
          return shown(Paging.list(page, Event.combined))
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(Event.combined(yield* events.get(workspaceId, params.id)))
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.mergeAll(publicApi, dashboard)
