/**
 * The handlers of `/internal/webhook/replays`: jobs that deliver a range of events again.
 */
import { Api, Caller } from "@wac/api"
import { type Replay, Replays, StoreError, Time } from "@wac/core"
import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

/** A replay job as the dashboard shows it. */
export const shown = (replay: Replay.Replay) => ({
  id: replay.id,
  state: replay.state,
  since: Time.iso(replay.since),
  until: Time.iso(replay.until),
  status: replay.status,
  total: replay.total,
  replayed: replay.replayed,
  createdAt: Time.iso(replay.createdAt),
  completedAt: Time.isoOrNull(replay.completedAt)
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const replays = yield* Replays.Replays
    return HttpApiBuilder.group(Api, "replays", (handlers) =>
      handlers.handleAll({
        create: Effect.fnUntraced(function*({ payload: { since, status, until } }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const replay = yield* replays.create({
            workspaceId,
            since: DateTime.toEpochMillis(since),
            until: until === undefined ? undefined : DateTime.toEpochMillis(until),
            status
          })
          const exchange = yield* Exchange
          exchange.changed = { target: replay.id }
          return shown(replay)
        }, StoreError.orUnavailable),
        list: Effect.fnUntraced(function*({ query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return Paging.internalList(yield* replays.list(workspaceId, yield* Paging.request(query, "job")), shown)
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* replays.get(workspaceId, params.id))
        }, StoreError.orUnavailable),
        cancel: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          yield* replays.cancel(workspaceId, params.id)
        }, StoreError.orUnavailable)
      }))
  })
)
