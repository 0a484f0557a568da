/**
 * Health (contract §1).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anybody } from "./Access.ts"
import { always } from "./ErrorBody.ts"

const Healthy = Schema.Struct({ status: Schema.Literal("ok") })

export class HealthApi extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("alive", "/healthz", { success: Healthy, error: always })
    .annotate(Access, anybody).annotateMerge(
      OpenApi.annotations({
        summary: "Whether the process is up",
        description: "Asks nothing of the storage: restart the process when this fails."
      })
    ),
  HttpApiEndpoint.get("ready", "/readyz", { success: Healthy, error: always })
    .annotate(Access, anybody).annotateMerge(
      OpenApi.annotations({
        summary: "Whether requests should be sent here",
        description:
          "An error until everything is there that the configuration asks for, the storage first of all: it can be " +
          "reached and written to."
      })
    )
).annotateMerge(OpenApi.annotations({ title: "Health", description: "For load balancers and supervisors." })) {}
