/**
 * The whole HTTP API. Server, clients, the OpenAPI document and the tests that walk over all routes come from here.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { ErrorBoundary } from "./Caller.ts"
import { ContactsApi } from "./contacts/ContactsApi.ts"
import { EventsApi, EventsDashboardApi } from "./events/EventsApi.ts"
import { HealthApi } from "./HealthApi.ts"
import { ApiKeysApi } from "./keys/ApiKeysApi.ts"
import { MessagesApi, MessagesDashboardApi } from "./messages/MessagesApi.ts"
import { PhoneNumbersApi } from "./numbers/PhoneNumbersApi.ts"
import { complete } from "./OpenApiDocument.ts"
import { SessionApi, SignInApi } from "./people/SessionApi.ts"
import { TemplatesApi, TemplatesDashboardApi } from "./templates/TemplatesApi.ts"
import { DeliveriesApi } from "./webhooks/DeliveriesApi.ts"
import { ReplaysApi } from "./webhooks/ReplaysApi.ts"
import { WebhookApi } from "./webhooks/WebhookApi.ts"

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
