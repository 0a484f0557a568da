/**
 * `/internal/requests` (contract §12 *Requests*).
 */
import { Id } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading } from "../ErrorBody.ts"
import * as Example from "../Example.ts"
import { internalListOf, pageQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"

export const ApiRequest = Schema.Struct({
  id: Schema.String,
  apiKeyId: Schema.String,
  method: Schema.String,
  route: Schema.String.annotate({ description: "The route's template, such as `/v1/messages/:id`" }),
  status: Schema.Int,
  code: Schema.NullOr(Schema.String).annotate({
    description: "The error's code; `null` if the request was not refused"
  }),
  reason: Schema.NullOr(Schema.String),
  at: Timestamp,
  durationMs: Schema.Finite
}).annotate({
  identifier: "ApiRequest",
  description: "A request with an API key, without its body and header values."
}).pipe(Example.shown({
  id: Example.request,
  apiKeyId: Example.apiKey,
  method: "POST",
  route: "/v1/messages",
  status: 403,
  code: "forbidden",
  reason: "opted_out",
  at: Example.times.recorded,
  durationMs: 3.2
}))

export const RequestGroup = Schema.Struct({
  code: Schema.String,
  reason: Schema.NullOr(Schema.String),
  count: Schema.Int,
  lastAt: Timestamp,
  keys: Schema.Array(Schema.Struct({ apiKeyId: Schema.String, count: Schema.Int })).annotate({
    description: "The keys of these requests, most requests first"
  })
}).annotate({ identifier: "RequestGroup", description: "The requests that were refused for one reason." }).pipe(
  Example.shown({
    code: "forbidden",
    reason: "opted_out",
    count: 3,
    lastAt: Example.times.recorded,
    keys: [{ apiKeyId: Example.apiKey, count: 3 }]
  })
)

export const RequestPage = Schema.Struct({
  ...internalListOf(ApiRequest).fields,
  since: Timestamp.annotateKey({ description: "The start of the period in which requests are counted" }),
  total: Schema.Int.annotate({ description: "The number of requests in this period, refused or not" }),
  groups: Schema.Array(RequestGroup).annotate({ description: "The refused requests by reason, most requests first" })
}).annotate({
  identifier: "RequestPage",
  description: "A page of requests, and the counts of the whole period by reason, regardless of the filter."
}).pipe(Example.shown({
  ...Example.internalPage([Example.of(ApiRequest)]),
  since: "2025-12-26T03:00:00.000Z",
  total: 1042,
  groups: [Example.of(RequestGroup)]
}))

const query = Schema.Struct({
  refused: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only requests that were refused" })),
  reason: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[a-z_]{1,64}$/u)).annotate({
      description: "Only requests that were refused for this reason, or with this code if it has none"
    })
  ),
  id: Schema.optionalKey(Id.RequestId.annotate({
    description: "Only the request with this id, which its response has as `Request-Id`"
  })),
  ...pageQuery
}).annotate({ identifier: "RequestQuery", description: "The filters of the list of requests." })

export class RequestsApi extends HttpApiGroup.make("requests").add(
  HttpApiEndpoint.get("list", "/internal/requests", {
    query,
    success: RequestPage,
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List requests of API keys",
    description: "Requests, newest first, and the number of refused requests by reason, both from `since` on: the " +
      "operator sets how long requests are kept. A request appears about a second after its response."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Requests (dashboard)",
    description: "Requests with API keys, and the reasons for refusals."
  })
) {}
