/**
 * The handlers of `/internal/queue`: messages that are held after a restore of the database, and their release.
 */
import { Api, Caller } from "@wac/api"
import { OutboxStore, QueueStore, StoreError, Time } from "@wac/core"
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const store = yield* QueueStore.QueueStore
    const outbox = yield* OutboxStore.OutboxStore
    const state = Effect.gen(function*() {
      const { workspaceId } = yield* Caller.CurrentSession
      const { heldSince, oldestDueAt, queued } = yield* store.backlog(workspaceId, yield* Clock.currentTimeMillis)
      const enqueued = heldSince === null ? 0 : yield* outbox.enqueuedUntil(workspaceId, heldSince)
      return { queued, oldestDueAt: Time.isoOrNull(oldestDueAt), heldSince: Time.isoOrNull(heldSince), enqueued }
    })
    return HttpApiBuilder.group(Api, "queue", (handlers) =>
      handlers.handleAll({
        get: () => StoreError.orUnavailable(state),
        release: () =>
          Effect.gen(function*() {
            const { workspaceId } = yield* Caller.CurrentSession
            yield* store.release(workspaceId)
            return yield* state
          }).pipe(StoreError.orUnavailable)
      }))
  })
)
