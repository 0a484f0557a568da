/**
 * `/internal/stream` (contract §12).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../ErrorBody.ts"
import { Streams } from "../Traits.ts"

export class StreamApi extends HttpApiGroup.make("stream").add(
  HttpApiEndpoint.get("open", "/internal/stream", {
    query: {
      receive: Schema.optionalKey(
        Schema.Literal("events").annotate({ description: "Also be sent the events that are recorded from now on" })
      )
    },
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
    error: reading
  }).annotate(Access, session("member")).annotate(Streams, true).annotateMerge(OpenApi.annotations({
    summary: "Be told what changes",
    description:
      "Server-sent events named `change`, whose data is `{\"topics\":[…]}`: what is not as it was. The stream " +
      "ends with the session, and when the service stops; a browser opens it again by itself. Where it is not there, " +
      "ask again from time to time. With `receive=events` a page is a receiver: the first event, named `receiver`, has " +
      "the data `{\"signingSecret\":\"whsec_…\"}`, a secret of this stream alone, and each recorded event comes as an " +
      "event named `delivery` with the data `{\"headers\":{…},\"body\":\"…\"}`, signed with it as a webhook's. It is sent " +
      "once and stored nowhere."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Stream (dashboard)", description: "What changes, for open pages." })
) {}
