/**
 * `/internal/webhook/deliveries` (contract §6): the delivery of each event to the webhook.
 */
import { Delivery, Event, Id } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { described } from "../Described.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading } from "../EndpointErrors.ts"
import { RecordedEvent } from "../events/RecordedEvent.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, noQuery, pageQuery, shortPage } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"

const phase = Schema.NullOr(Schema.Finite)

export const Attempt = Schema.Struct({
  id: Schema.String,
  number: Schema.Int.annotate({ description: "Counted from 1" }),
  trigger: Delivery.AttemptTrigger.annotate({
    description: "The cause of the round: the event itself, a person, a replay, a test, or the probe before a resume"
  }),
  startedAt: Timestamp,
  durationMs: Schema.Finite,
  outcome: Delivery.AttemptOutcome,
  statusCode: Schema.NullOr(Schema.Int),
  message: Schema.String.annotate({ description: "The result in one plain sentence" }),
  timings: Schema.NullOr(
    Schema.Struct({ lookupMs: phase, connectMs: phase, tlsMs: phase, firstByteMs: phase, bodyMs: phase })
  ).annotate({ description: "`null` for a phase that was not reached, or not needed (as on a kept connection)" }),
  request: Schema.Struct({
    url: Schema.String,
    address: Schema.NullOr(Schema.String),
    headers: Schema.Record(Schema.String, Schema.String),
    body: Schema.String
  }).annotate({
    description: "The request, without its signatures; `address` is the IP address of the connection"
  }),
  response: Schema.NullOr(
    Schema.Struct({ headers: Schema.Record(Schema.String, Schema.String), body: Schema.String })
  ).annotate({
    description:
      "The receiver's response, with at most 16 KiB of its body. `null` if none came, or if it was not kept: " +
      "of first attempts that succeed, a sample keeps it; every other attempt does."
  })
}).annotate({ identifier: "Attempt", description: "One POST to the receiver. Times are in milliseconds." }).pipe(
  Example.shown({
    id: "att_01K8ZQ51T3V5W7X9Y0Z2A4B6CD",
    number: 1,
    trigger: "automatic",
    startedAt: "2026-01-02T03:04:05.700Z",
    durationMs: 84,
    outcome: "delivered",
    statusCode: 200,
    message: "answered 200",
    timings: { lookupMs: 4, connectMs: 18, tlsMs: 22, firstByteMs: 38, bodyMs: 2 },
    request: {
      url: ExampleValues.webhook.url,
      address: "203.0.113.10",
      headers: { "content-type": "application/json", "webhook-id": ExampleValues.event },
      body: JSON.stringify(Example.of(RecordedEvent))
    },
    response: { headers: { "content-type": "text/plain" }, body: "ok" }
  })
)

const delivery = {
  id: Schema.String,
  eventId: Schema.String,
  eventType: Event.EventType,
  customer: Schema.NullOr(Schema.String).annotate({
    description: "The customer that the event is about, by number or user id; `null` if it is about none"
  }),
  status: Delivery.DeliveryStatus,
  attemptCount: Schema.Int,
  lastAttempt: Schema.NullOr(
    Schema.Struct({ outcome: Delivery.AttemptOutcome, statusCode: Schema.NullOr(Schema.Int) })
  ).annotate({ description: "The last attempt that ended; `null` before the first, and once attempts are deleted" }),
  nextAttemptAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  completedAt: Schema.NullOr(Timestamp)
}

export const ListedDelivery = Schema.Struct(delivery).annotate({
  identifier: "Delivery",
  embedded: true,
  description: "The delivery of an event to the webhook."
}).pipe(Example.shown({
  id: "dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7DE",
  eventId: ExampleValues.event,
  eventType: "message.delivered",
  customer: ExampleValues.customer,
  status: "delivered",
  attemptCount: 1,
  lastAttempt: { outcome: "delivered", statusCode: 200 },
  nextAttemptAt: null,
  createdAt: ExampleValues.times.recorded,
  completedAt: ExampleValues.times.answered
}))

export const DeliveryDetail = Schema.Struct({
  ...delivery,
  attempts: Schema.Array(Attempt).annotate({ description: "Oldest first" }),
  curl: Schema.NullOr(Schema.String).annotate({
    description: "A command that posts the event again, newly signed; `null` for members",
    embedded: false
  })
}).annotate({ identifier: "DeliveryDetail", embedded: true, description: "A delivery with its attempts." }).pipe(
  Example.shown({ ...Example.of(ListedDelivery), attempts: [Example.of(Attempt)], curl: null })
)

/** The filters of the list. */
export const filter = {
  status: Schema.optionalKey(Delivery.DeliveryStatus),
  eventType: Schema.optionalKey(Event.EventType),
  messageId: Schema.optionalKey(
    Id.MessageId.annotate({ description: "Only deliveries of events about this message" })
  ),
  outcome: Schema.optionalKey(Delivery.AttemptOutcome).annotateKey({
    description: "Only deliveries whose last attempt had this outcome"
  }),
  statusCode: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 })).annotate({
      description: "Only deliveries whose last attempt got this status"
    })
  ),
  since: Schema.optionalKey(TimeGiven.pipe(described("Only deliveries created at or after this time"))),
  until: Schema.optionalKey(TimeGiven.pipe(described("Only deliveries created before this time")))
}

const query = Schema.Struct({ ...filter, ...pageQuery }).annotate({
  identifier: "DeliveryQuery",
  embedded: "DeliveryFilter",
  description: "The filters of the list of deliveries."
})

const pageMayBeShort = shortPage(
  "With the status `delivered`, and with any filter but `status` and `messageId`,",
  "deliveries"
)

const one = { params: byId, query: noQuery }

export class DeliveriesApi extends HttpApiGroup.make("deliveries").add(
  HttpApiEndpoint.get("list", "/internal/webhook/deliveries", {
    query,
    success: internalListOf(ListedDelivery),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List deliveries",
    description: `Newest first. ${pageMayBeShort}`
  })),
  HttpApiEndpoint.get("get", "/internal/webhook/deliveries/:id", { ...one, success: DeliveryDetail, error: reading })
    .annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
      summary: "Get a delivery with its attempts",
      description:
        "`curl` contains a valid signature, so it is null for members, and if the webhook was removed or its " +
        "secret cannot be opened."
    })),
  HttpApiEndpoint.post("retry", "/internal/webhook/deliveries/:id/retry", {
    ...one,
    success: ListedDelivery,
    error: reading
  }).annotate(
    Example.Shown,
    Example.changed(ListedDelivery, {
      status: "pending",
      nextAttemptAt: ExampleValues.times.answered,
      completedAt: null
    })
  ).annotate(Access, session("developer")).annotate(Audited, "delivery.retry").annotateMerge(OpenApi.annotations({
    summary: "Deliver again",
    description: "Starts a new round of attempts, regardless of the result of the last round."
  }))
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Deliveries (dashboard)",
    description: "The delivery of each event to the webhook."
  })
) {}
