/**
 * The whole HTTP API. The server, clients, the OpenAPI document and the tests over all routes are derived from it.
 */
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { ErrorBoundary } from "./Caller.ts"
import { Endpoints } from "./Endpoints.ts"
import { complete } from "./OpenApiDocument.ts"

/** Refuses unknown fields: a misspelt `bodyparams` must not send an incomplete message (contract §2). */
const strict = { onExcessProperty: "error" } as const

type Of = (typeof Endpoints)["groups"]

/** Named, because written out the type is longer than the compiler puts into a declaration. */
type Groups = HttpApiGroup.AddMiddleware<Of[keyof Of], ErrorBoundary>

const api: HttpApi.HttpApi<"wac", Groups> = Endpoints
  .annotate(HttpApi.PayloadParseOptions, strict)
  .annotate(HttpApi.QueryParseOptions, strict)
  .middleware(ErrorBoundary)
  .annotateMerge(OpenApi.annotations({
    title: "wac",
    version: "1",
    description:
      "Sends template and free-form messages for a workspace, issues API keys, and reports to your server what " +
      "happened through signed webhooks. Every error is explained at [docs/errors](docs/errors). If a path exists but " +
      "does not support the request's method, the response is 405 with `Allow` and the code `not_found`.",
    transform: (document) => complete(document as OpenApi.OpenAPISpec)
  }))

/** All groups of endpoints. Request bodies with unknown fields are refused. */
export class Api extends api {}
