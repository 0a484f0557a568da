/**
 * `/healthz` and `/readyz`.
 */
import { Api } from "@wac/api"
import { Storage, StoreError } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

const healthy = { status: "ok" as const }

export const layer = HttpApiBuilder.group(
  Api,
  "health",
  Effect.fnUntraced(function*(handlers) {
    const storage = yield* Storage.Storage
    return handlers.handleAll({
      alive: () => Effect.succeed(healthy),
      ready: () => StoreError.orUnavailable(Effect.as(storage.ping, healthy))
    })
  })
)
