/**
 * `/internal/stream` (contract §12): the changes in a workspace, streamed to open pages.
 */
import { Change } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { Streams } from "../EndpointAnnotations.ts"
import { reading } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"

/** The data of each event of the stream, by the event's name. */
export const events = {
  change: Schema.Struct({
    topics: Schema.Array(
      Schema.Literals(Change.topics).annotate({ identifier: "Topic", description: "The topics of a page." })
    )
  }).annotate({
    identifier: "Changed",
    description:
      "The data of an event `change` of `GET /internal/stream`, as `EventSource` reads it: the topics that " +
      "have changed."
  }),
  receiver: Schema.Struct({ signingSecret: Schema.String }).annotate({
    identifier: "StreamReceiver",
    description:
      "The data of an event `receiver` of `GET /internal/stream?receive=events`: the secret that signs the " +
      "events of this stream."
  }),
  delivery: Schema.Struct({ headers: Schema.Record(Schema.String, Schema.String), body: Schema.String }).annotate({
    identifier: "StreamDelivery",
    description:
      "The data of an event `delivery` of that stream: a recorded event. Verify it by its headers and raw body."
  })
}

export class StreamApi extends HttpApiGroup.make("stream").add(
  HttpApiEndpoint.get("open", "/internal/stream", {
    query: {
      receive: Schema.optionalKey(
        Schema.Literal("events").annotate({ description: "Also stream the events that are recorded from now on" })
      )
    },
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
    error: reading
  }).annotate(Example.Shown, { response: "event: change\ndata: {\"topics\":[\"messages\"]}\n\n" }).annotate(
    Access,
    session("member")
  ).annotate(Streams, true).annotateMerge(OpenApi.annotations({
    summary: "Stream changes",
    description:
      "Server-sent events named `change`, whose data is `{\"topics\":[…]}`: the topics that have changed. The stream " +
      "ends with the session, and when the service stops; a browser reopens it automatically. If the stream is not " +
      "available, poll instead. With `receive=events` a page is a receiver: the first event, named `receiver`, has the " +
      "data `{\"signingSecret\":\"whsec_…\"}`, a secret for this stream only. Each recorded event then comes as an event " +
      "named `delivery` with the data `{\"headers\":{…},\"body\":\"…\"}`, signed like a webhook's delivery. It is sent once " +
      "and not stored."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Stream (dashboard)", description: "Changes, for open pages." })
) {}
