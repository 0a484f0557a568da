/**
 * The handlers of `/healthz` (the process is up) and `/readyz` (the storage is reachable).
 */
import { Api } from "@wac/api"
import { Readiness } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "./HandlerGroup.ts"

const healthy = { status: "ok" as const }

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const readiness = yield* Readiness.Readiness
    return HttpApiBuilder.group(Api, "health", (handlers) =>
      handlers.handleAll({
        alive: () => Effect.succeed(healthy),
        ready: () => Effect.as(readiness.check, healthy)
      }))
  })
)
