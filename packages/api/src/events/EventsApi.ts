/**
 * `/v1/events` and `/internal/events` (contract §6): the events that webhooks deliver, as lists.
 */
import { Event, Id } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, apiKey, session } from "../Access.ts"
import { ApiKeyAuthentication, SessionAuthentication } from "../Caller.ts"
import { described } from "../Described.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import { listOf, noQuery, pageQuery } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { TimeGiven } from "../Timestamp.ts"
import { RecordedEvent } from "./RecordedEvent.ts"

/** The filters of the list under `/v1`. */
export const filter = {
  since: Schema.optionalKey(TimeGiven.pipe(described("Only events recorded at or after this time"))),
  type: Schema.optionalKey(Event.EventType)
}

const internalQuery = Schema.Struct({
  ...filter,
  until: Schema.optionalKey(TimeGiven.pipe(described("Only events recorded before this time"))),
  messageId: Schema.optionalKey(Id.MessageId.annotate({ description: "Only events about this message" })),
  ...pageQuery
}).annotate({ identifier: "InternalEventQuery", description: "The filters of the dashboard's list of events." })

/** The order of the list (contract §3). */
export const order = Schema.optionalKey(
  Schema.Literals(["oldest", "newest"]).annotate({ description: "Which events come first; `oldest` if omitted" })
)

const query = Schema.Struct({ ...filter, ...pageQuery, order }).annotate({
  identifier: "EventQuery",
  description: "The filters of the list under `/v1`."
})

export class EventsApi extends HttpApiGroup.make("events").add(
  HttpApiEndpoint.get("list", "/v1/events", {
    query,
    success: listOf(RecordedEvent),
    error: reading
  })
    .annotate(Example.Shown, {
      response: {
        ...Example.page([Example.of(RecordedEvent)]),
        next_cursor: "MTpldnRfMDFLREFOU0MwUTNWMEs1Rlk0V0RKNlo0NVQ"
      }
    })
    .annotate(Access, apiKey("messages:read")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
      summary: "List events",
      description:
        "Oldest first, with the ids and bodies that webhooks deliver, so that a receiver can reconcile after " +
        "an outage. Following the cursor never skips an event that is committed meanwhile. The last page also has a " +
        "`next_cursor`, with `has_more: false`: a request with it returns the events recorded since. With " +
        "`order=newest` the list ends with the oldest event, and there `next_cursor` is null."
    }))
).middleware(ApiKeyAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Events",
    description: "Everything that happened, for clients that poll instead of receiving webhooks."
  })
) {}

/** The same events for the dashboard, newest first. */
export class EventsDashboardApi extends HttpApiGroup.make("eventsDashboard").add(
  HttpApiEndpoint.get("list", "/internal/events", {
    query: internalQuery,
    success: listOf(RecordedEvent),
    error: reading
  })
    .annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
      summary: "List events",
      description: "Newest first."
    })),
  HttpApiEndpoint.get("get", "/internal/events/:id", {
    params: byId,
    query: noQuery,
    success: RecordedEvent,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(
    OpenApi.annotations({
      summary: "Get an event",
      description: "In combined form, regardless of the webhook's envelope."
    })
  )
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Events (dashboard)", description: "Everything that happened, for people." })
) {}
