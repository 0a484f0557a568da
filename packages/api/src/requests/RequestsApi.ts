/**
 * `/internal/requests` (contract §12 *Requests*): the recorded requests of a workspace, and the values of their bodies.
 */
import { BodyShape, BodyValues, Id } from "@wac/core"
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, NeedsFreshSession, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { described } from "../Described.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, noQuery, pageQuery, shortPage } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"

const fields = {
  id: Schema.String,
  apiKeyId: Schema.NullOr(Schema.String).annotateKey({ description: "`null` if a person made it" }),
  userId: Schema.NullOr(Schema.String).annotateKey({
    description: "The person who made it in the dashboard; `null` if an API key did"
  }),
  method: Schema.String,
  route: Schema.String.annotate({ description: "The route's template, such as `/v1/messages/:id`" }),
  status: Schema.Int.annotate({
    description: "The status of the response; 499 if the caller closed the connection before the response"
  }),
  code: Schema.NullOr(Schema.String).annotate({
    description: "The error's code; `null` if the request was not refused"
  }),
  reason: Schema.NullOr(Schema.String),
  at: Timestamp,
  durationMs: Schema.Finite,
  subject: Schema.NullOr(Schema.String).annotateKey({
    description: "The id of what it made, changed or read; `null` if it was refused, or that is not known"
  }),
  fields: Schema.NullOr(Schema.Array(Schema.Struct({
    path: Schema.String.annotate({
      description: "Names from the outside in, such as `template.bodyParams[0]`; empty for the body itself"
    }),
    type: Schema.Literals(BodyShape.types).annotate({ description: "`unknown`: fields with names that are not known" }),
    length: Schema.NullOr(Schema.Int).annotateKey({
      description: "Characters of a text, items of a list, fields of an object; `null` for other values"
    })
  }))).annotateKey({
    description: "The fields of the body, without values and with known names alone: at most " +
      `${BodyShape.maxFields}, and of a list its first item. \`null\` of people, and if there was no JSON, or too much`
  }),
  valuesUntil: Schema.NullOr(Timestamp).annotateKey({
    description:
      "Until when the values of the body are kept, which `GET /internal/requests/:id/values` shows; `null` if " +
      "they are not"
  })
}

export const ApiRequest = Schema.Struct(Struct.omit(fields, ["fields", "valuesUntil"])).annotate({
  identifier: "ApiRequest",
  description: "A request, without its body and header values."
}).pipe(Example.shown({
  id: ExampleValues.request,
  apiKeyId: ExampleValues.apiKey,
  userId: null,
  method: "POST",
  route: "/v1/messages",
  status: 403,
  code: "forbidden",
  reason: "opted_out",
  at: ExampleValues.times.recorded,
  durationMs: 3.2,
  subject: null
}))

export const ApiRequestDetail = Schema.Struct(fields).annotate({
  identifier: "ApiRequestDetail",
  description: "A request, with the shape of its body."
}).pipe(Example.shown({
  ...Example.of(ApiRequest),
  fields: [
    { path: "to", type: "text", length: 12 },
    { path: "type", type: "text", length: 4 },
    { path: "text", type: "object", length: 1 },
    { path: "text.body", type: "text", length: 24 }
  ],
  valuesUntil: null
}))

export const RequestValues = Schema.Struct({
  data: Schema.Array(Schema.Struct({
    path: Schema.String.annotate({ description: "As in the shape of the body" }),
    value: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])),
    redacted: Schema.Boolean.annotate({
      description: `Whether the value, or a part of it, is \`${BodyValues.mark}\`, because it may be a secret or a code`
    }),
    cut: Schema.Boolean.annotate({
      description: `Whether the text is longer than the ${BodyValues.maxLength} characters that are kept`
    })
  })),
  omitted: Schema.Int.annotate({
    description:
      `How many further values were left out, because a request's are at most ${BodyValues.maxBytes} bytes; ` +
      "of the first thousand"
  })
}).annotate({
  identifier: "RequestValues",
  description: "The values of a request's body that are kept: of fields that the API has, without secrets and codes."
}).pipe(Example.shown({
  data: [
    { path: "to", value: ExampleValues.customer, redacted: false, cut: false },
    { path: "type", value: "text", redacted: false, cut: false },
    { path: "text.body", value: "Your code is [redacted]", redacted: true, cut: false }
  ],
  omitted: 0
}))

export const RequestValuesSettings = Schema.Struct({
  on: Schema.Boolean,
  until: Schema.NullOr(Timestamp).annotateKey({ description: "When it ends by itself; `null` if it is off" })
}).annotate({
  identifier: "RequestValuesSettings",
  description: "Whether the values of the workspace's API requests are kept."
}).pipe(Example.shown({ on: true, until: "2026-01-03T03:04:05.678Z" }))

export const RequestValuesChange = Schema.Struct({ on: Schema.Boolean }).annotate({
  identifier: "RequestValuesChange",
  description: "Whether the values of the workspace's API requests are kept from now on."
}).pipe(Example.shown({ on: true }))

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
    lastAt: ExampleValues.times.recorded,
    keys: [{ apiKeyId: ExampleValues.apiKey, count: 3 }]
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
  apiKeyId: Schema.optionalKey(Id.ApiKeyId.annotate({ description: "Only requests with this API key" })),
  route: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[!-~]{1,200}$/u)).annotate({
      description: "Only requests to this route, by its template: `/v1/messages/:id`"
    })
  ),
  status: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 })).annotate({
      description: "Only requests with this status in the response"
    })
  ),
  since: Schema.optionalKey(TimeGiven.pipe(described("Only requests that arrived at or after this time"))),
  until: Schema.optionalKey(TimeGiven.pipe(described("Only requests that arrived before this time"))),
  ...pageQuery
}).annotate({ identifier: "RequestQuery", description: "The filters of the list of requests." })

export class RequestsApi extends HttpApiGroup.make("requests").add(
  HttpApiEndpoint.get("list", "/internal/requests", {
    query,
    success: RequestPage,
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List requests",
    description: "Requests of API keys, newest first, and those of people that were to change something or were " +
      "refused; and the number of refused requests of API keys by reason, both from the answer's `since` on: the " +
      "operator sets how long requests are kept. A request appears about a second after its response. " +
      shortPage("With a filter", "requests")
  })),
  HttpApiEndpoint.get("get", "/internal/requests/:id", {
    params: byId,
    query: noQuery,
    success: ApiRequestDetail,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get a request",
    description: "With the shape of its body: known names of fields, and the types and lengths of their values."
  })),
  HttpApiEndpoint.get("values", "/internal/requests/:id/values", {
    params: byId,
    query: noQuery,
    success: RequestValues,
    error: reading
  }).annotate(Access, session("admin")).annotate(Audited, "request.see_values").annotateMerge(OpenApi.annotations({
    summary: "See the values of a request",
    description:
      "Of an API key's request that came while an owner had them switched on, for 24 hours from then on: else " +
      "404. Each look is in the audit. One-time codes, passwords and what has the form of a key or a token are never kept."
  })),
  HttpApiEndpoint.get("valuesSettings", "/internal/settings/request-values", {
    query: noQuery,
    success: RequestValuesSettings,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get whether the values of requests are kept",
    description: "They are kept only where an owner has switched them on."
  })),
  HttpApiEndpoint.put("configureValues", "/internal/settings/request-values", {
    payload: RequestValuesChange,
    success: RequestValuesSettings,
    error: writing
  }).annotate(Access, session("owner")).annotate(Audited, "request_values.change").annotate(NeedsFreshSession, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Keep the values of requests, or no longer",
      description:
        "Switched on, the values of the workspace's API requests are kept for the next 24 hours, each request's " +
        "for 24 hours. Switched on again, the 24 hours begin anew. Switched off, all that is kept is deleted."
    }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Requests (dashboard)",
    description: "Requests, and the reasons for refusals."
  })
) {}
