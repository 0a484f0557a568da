/**
 * `/internal/stream` (contract §12).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../ErrorBody.ts"
import { noQuery } from "../Lists.ts"
import { Streams } from "../Traits.ts"

export class StreamApi extends HttpApiGroup.make("stream").add(
  HttpApiEndpoint.get("open", "/internal/stream", {
    query: noQuery,
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
    error: reading
  }).annotate(Access, session("member")).annotate(Streams, true).annotateMerge(OpenApi.annotations({
    summary: "Be told what changes",
    description:
      "Server-sent events named `change`, whose data is `{\"topics\":[…]}`: what is not as it was. The stream " +
      "ends with the session, and when the service stops; a browser opens it again by itself. Where it is not there, " +
      "ask again from time to time."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Stream (dashboard)", description: "What changes, for open pages." })
) {}
