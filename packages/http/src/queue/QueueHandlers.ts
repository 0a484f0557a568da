/**
 * `/internal/queue`.
 */
import { Api } from "@wac/api"
import { QueueStore, StoreError, Time } from "@wac/core"
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const store = yield* QueueStore.QueueStore
    const state = Effect.flatMap(Clock.currentTimeMillis, (now) => store.backlog(null, now)).pipe(
      Effect.map(({ heldSince }) => ({ heldSince: Time.isoOrNull(heldSince) }))
    )
    return HttpApiBuilder.group(Api, "queue", (handlers) =>
      handlers.handleAll({
        get: () => StoreError.orUnavailable(state),
        release: () => StoreError.orUnavailable(Effect.andThen(store.release, state))
      }))
  })
)
