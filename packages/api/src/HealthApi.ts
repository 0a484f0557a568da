/**
 * Health checks (contract §1): whether the process is up, and whether it can reach its storage.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anybody } from "./Access.ts"
import { always } from "./EndpointErrors.ts"
import * as Example from "./Example.ts"

const Healthy = Schema.Struct({ status: Schema.Literal("ok") }).pipe(Example.shown({ status: "ok" }))

export class HealthApi extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("alive", "/healthz", { success: Healthy, error: always })
    .annotate(Access, anybody).annotateMerge(
      OpenApi.annotations({
        summary: "Check that the process is up",
        description: "Does not use the storage. If this fails, restart the process."
      })
    ),
  HttpApiEndpoint.get("ready", "/readyz", { success: Healthy, error: always })
    .annotate(Access, anybody).annotateMerge(
      OpenApi.annotations({
        summary: "Check that the process is ready for requests",
        description:
          "Returns an error until everything that the configuration requires is available. In particular, the storage " +
          "must be reachable and accept writes."
      })
    )
).annotateMerge(OpenApi.annotations({ title: "Health", description: "For load balancers and supervisors." })) {}
