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
    .annotate(Access, anybody).annotateMerge(OpenApi.annotations({ summary: "Whether the process is up" })),
  HttpApiEndpoint.get("ready", "/readyz", { success: Healthy, error: always })
    .annotate(Access, anybody).annotateMerge(OpenApi.annotations({ summary: "Whether storage can be reached" }))
).annotateMerge(OpenApi.annotations({ title: "Health" })) {}
