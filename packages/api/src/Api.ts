/**
 * The whole HTTP API. Server, clients, the OpenAPI document and the tests that walk over all routes come from here.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { ErrorBoundary } from "./Caller.ts"
import { Endpoints } from "./Endpoints.ts"
import { complete } from "./OpenApiDocument.ts"

/** Unknown fields are refused: a misspelt `bodyparams` must not send a message with holes (contract §2). */
const strict = { onExcessProperty: "error" } as const

/** All groups of endpoints; a request's body with a field that nobody knows is refused. */
export class Api extends Endpoints
  .annotate(HttpApi.PayloadParseOptions, strict)
  .annotate(HttpApi.QueryParseOptions, strict)
  .middleware(ErrorBoundary)
  .annotateMerge(OpenApi.annotations({
    title: "wac",
    version: "1",
    description: "Sends template and free-form messages for a workspace, issues API keys, and tells your server what " +
      "happened through signed webhooks. Every error is explained at [docs/errors](docs/errors). A path that is here, " +
      "asked by a method that is not, answers 405 with `Allow`, and the code `not_found`.",
    transform: (document) => complete(document as OpenApi.OpenAPISpec)
  }))
{}
