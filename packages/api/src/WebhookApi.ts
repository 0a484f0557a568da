/**
 * `/internal/webhook` (specification §2 *Webhook configuration*, contract §6).
 */
import { Event } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, session } from "./Access.ts"
import { SessionAuthentication } from "./Caller.ts"
import { reading, writing } from "./ErrorBody.ts"
import { noQuery } from "./Lists.ts"
import { Timestamp } from "./Timestamp.ts"

export const PutWebhook = Schema.Struct({
  url: Schema.String.annotate({ description: "An https URL with a public address" }),
  envelope: Schema.optionalKey(Event.Envelope),
  eventTypes: Schema.optionalKey(
    Schema.Array(Event.EventType).check(Schema.isUnique()).annotate({ description: "All types when left out" })
  )
}).annotate({ identifier: "PutWebhook" })

const configuration = {
  id: Schema.String,
  url: Schema.String,
  status: Schema.Literals(["active", "paused"]),
  envelope: Event.Envelope,
  eventTypes: Schema.Array(Event.EventType),
  createdAt: Timestamp,
  updatedAt: Timestamp
}

/** A webhook as it was set. `signingSecret` is in the answer that created it only. */
export const SetWebhook = Schema.Struct({ ...configuration, signingSecret: Schema.optionalKey(Schema.String) })
  .annotate({ identifier: "SetWebhook" })

/** A webhook and its health; never a secret. */
export const Webhook = Schema.Struct({
  ...configuration,
  failingSince: Schema.NullOr(Timestamp),
  pausesAt: Schema.NullOr(Timestamp),
  pausedAt: Schema.NullOr(Timestamp),
  lastFailure: Schema.NullOr(Schema.Struct({ at: Timestamp, message: Schema.String })),
  heldCount: Schema.Int,
  oldestHeldAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Webhook" })

export class WebhookApi extends HttpApiGroup.make("webhook").add(
  HttpApiEndpoint.get("get", "/internal/webhook", { query: noQuery, success: Webhook, error: reading })
    .annotate(Access, session("member")).annotateMerge(OpenApi.annotations({ summary: "Get the webhook" })),
  HttpApiEndpoint.put("put", "/internal/webhook", {
    payload: PutWebhook,
    success: SetWebhook,
    error: writing
  }).annotate(Access, session("developer")).annotateMerge(OpenApi.annotations({
    summary: "Set the webhook",
    description: "One per workspace. Its signing secret is shown when it is created, and never again."
  })),
  HttpApiEndpoint.delete("remove", "/internal/webhook", {
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("developer")).annotateMerge(OpenApi.annotations({ summary: "Remove the webhook" }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({ title: "Webhook (dashboard)" })) {}
