/**
 * `/internal/webhook/deliveries` (contract §6): the delivery of each event to the webhook.
 */
import { Delivery, DeliveryStore, Event, Id } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../ErrorBody.ts"
import { internalListOf, noQuery, pageQuery } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"
import { IsPaged } from "../Traits.ts"

const phase = Schema.NullOr(Schema.Finite)

/** One POST to the receiver. Times are in milliseconds. */
export const Attempt = Schema.Struct({
  id: Schema.String,
  number: Schema.Int,
  /** What started the round: the event itself, a person, a replay, a test, or the probe before a resume. */
  trigger: Delivery.AttemptTrigger,
  startedAt: Timestamp,
  durationMs: Schema.Finite,
  outcome: Delivery.AttemptOutcome,
  statusCode: Schema.NullOr(Schema.Int),
  /** The result in one plain sentence. */
  message: Schema.String,
  /** `null` for a phase that was not reached, or not needed (as on a kept connection). */
  timings: Schema.NullOr(
    Schema.Struct({ lookupMs: phase, connectMs: phase, tlsMs: phase, firstByteMs: phase, bodyMs: phase })
  ),
  /** The request without its signatures; `address` is the IP address of the connection. */
  request: Schema.Struct({
    url: Schema.String,
    address: Schema.NullOr(Schema.String),
    headers: Schema.Record(Schema.String, Schema.String),
    body: Schema.String
  }),
  response: Schema.NullOr(Schema.Struct({ headers: Schema.Record(Schema.String, Schema.String), body: Schema.String }))
}).annotate({ identifier: "Attempt" })

const delivery = {
  id: Schema.String,
  eventId: Schema.String,
  eventType: Event.EventType,
  /** `pending` is being attempted, `held` waits for the webhook's resume; the other statuses are final. */
  status: Delivery.DeliveryStatus,
  attemptCount: Schema.Int,
  nextAttemptAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  completedAt: Schema.NullOr(Timestamp)
}

/** A delivery in a list, without its attempts. */
export const ListedDelivery = Schema.Struct(delivery).annotate({ identifier: "Delivery" })

/** A delivery with its attempts, oldest first, and for developers a curl command that posts it again, newly signed. */
export const DeliveryDetail = Schema.Struct({
  ...delivery,
  attempts: Schema.Array(Attempt),
  curl: Schema.NullOr(Schema.String)
}).annotate({ identifier: "DeliveryDetail" })

/** The filters of the list. */
export const filter = {
  status: Schema.optionalKey(Delivery.DeliveryStatus),
  eventType: Schema.optionalKey(Event.EventType),
  messageId: Schema.optionalKey(
    Id.MessageId.annotate({ description: "Only deliveries of events about this message" })
  ),
  outcome: Schema.optionalKey(
    Delivery.AttemptOutcome.annotate({ description: "Only deliveries whose last attempt had this outcome" })
  ),
  statusCode: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))),
  since: Schema.optionalKey(TimeGiven.annotate({ description: "Only deliveries created at or after this time" })),
  until: Schema.optionalKey(TimeGiven.annotate({ description: "Only deliveries created before this time" }))
}

const pageMayBeShort = `With any filter but \`status\` and \`messageId\`, a page ends at the latest after looking at ${
  DeliveryStore.lookedAt.toLocaleString("en")
} deliveries: it may hold fewer than \`limit\`, or none, and go on all the same.`

const one = { params: byId, query: noQuery }

export class DeliveriesApi extends HttpApiGroup.make("deliveries").add(
  HttpApiEndpoint.get("list", "/internal/webhook/deliveries", {
    query: { ...filter, ...pageQuery },
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
  }).annotate(Access, session("developer")).annotate(Audited, "delivery.retry").annotateMerge(OpenApi.annotations({
    summary: "Deliver again",
    description: "Starts a new round of attempts, regardless of the result of the last round."
  }))
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Deliveries (dashboard)",
    description: "The delivery of each event to the webhook."
  })
) {}
