/**
 * The whole HTTP API. Server, clients, the OpenAPI document and the tests that walk over all routes come from here.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { ApiKeysApi } from "./ApiKeysApi.ts"
import { ErrorBoundary } from "./Caller.ts"
import { ContactsApi } from "./ContactsApi.ts"
import { DeliveriesApi } from "./DeliveriesApi.ts"
import { EventsApi, EventsDashboardApi } from "./EventsApi.ts"
import { HealthApi } from "./HealthApi.ts"
import { MessagesApi, MessagesDashboardApi } from "./MessagesApi.ts"
import { complete } from "./OpenApiDocument.ts"
import { PhoneNumbersApi } from "./PhoneNumbersApi.ts"
import { ReplaysApi } from "./ReplaysApi.ts"
import { SessionApi, SignInApi } from "./SessionApi.ts"
import { TemplatesApi, TemplatesDashboardApi } from "./TemplatesApi.ts"
import { WebhookApi } from "./WebhookApi.ts"

/** Unknown fields are refused: a misspelt `bodyparams` must not send a message with holes (contract §2). */
const strict = { onExcessProperty: "error" } as const

/** All groups of endpoints; a request's body with a field that nobody knows is refused. */
export class Api extends HttpApi.make("wac")
  .add(
    MessagesApi,
    MessagesDashboardApi,
    TemplatesApi,
    TemplatesDashboardApi,
    ApiKeysApi,
    SignInApi,
    SessionApi,
    PhoneNumbersApi,
    ContactsApi,
    WebhookApi,
    DeliveriesApi,
    ReplaysApi,
    EventsApi,
    EventsDashboardApi,
    HealthApi
  )
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
