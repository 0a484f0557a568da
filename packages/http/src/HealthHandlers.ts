/**
 * `/healthz` and `/readyz`.
 */
import { Api } from "@wac/api"
import { Storage, StoreError } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "./HandlerGroup.ts"

const healthy = { status: "ok" as const }

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const storage = yield* Storage.Storage
    return HttpApiBuilder.group(Api, "health", (handlers) =>
      handlers.handleAll({
        alive: () => Effect.succeed(healthy),
        ready: () => StoreError.orUnavailable(Effect.as(storage.ping, healthy))
      }))
  })
)
