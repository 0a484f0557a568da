/**
 * `/internal/webhook/replays` (contract §6): delivering a range of events again, as a job.
 */
import { Replay as Job } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading, writing } from "../ErrorBody.ts"
import { internalListOf, noQuery, pageQuery } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"
import { IsPaged, NeedsWebhook } from "../Traits.ts"

const Ended = Schema.Literals(Job.statuses)

/** Which events are to be delivered again. */
export const CreateReplay = Schema.Struct({
  since: TimeGiven.annotate({ description: "Events recorded at or after this time" }),
  until: Schema.optionalKey(
    TimeGiven.annotate({ description: "and before this one; now when left out" })
  ),
  status: Schema.optionalKey(
    Ended.annotate({ description: "Only deliveries that ended so; all that have ended when left out" })
  )
}).annotate({ identifier: "CreateReplay" })

/** A job. `status` is the one of deliveries that it was asked for. */
export const Replay = Schema.Struct({
  id: Schema.String,
  state: Job.ReplayState,
  since: Timestamp,
  until: Timestamp,
  status: Schema.NullOr(Ended),
  /** How many deliveries it covers; `null` while that is not known, for a very long range until its end. */
  total: Schema.NullOr(Schema.Int),
  /** How many of them it has begun anew. */
  replayed: Schema.Int,
  createdAt: Timestamp,
  completedAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Replay" })

const one = { params: byId, query: noQuery }

export class ReplaysApi extends HttpApiGroup.make("replays").add(
  HttpApiEndpoint.post("create", "/internal/webhook/replays", {
    payload: CreateReplay,
    success: Replay.pipe(HttpApiSchema.status(201)),
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, "replay.create").annotate(NeedsWebhook, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Replay events",
      description:
        "Delivers what was recorded for the webhook in a range of time again, oldest first, at a bounded rate."
    })),
  HttpApiEndpoint.get("list", "/internal/webhook/replays", {
    query: pageQuery,
    success: internalListOf(Replay),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(
    OpenApi.annotations({ summary: "List replays", description: "Newest first." })
  ),
  HttpApiEndpoint.get("get", "/internal/webhook/replays/:id", { ...one, success: Replay, error: reading })
    .annotate(Access, session("member")).annotateMerge(
      OpenApi.annotations({
        summary: "Get a replay's progress",
        description: "How many deliveries it covers, and how many it has begun anew."
      })
    ),
  HttpApiEndpoint.delete("cancel", "/internal/webhook/replays/:id", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("developer")).annotate(Audited, "replay.cancel").annotateMerge(OpenApi.annotations({
    summary: "Cancel a replay",
    description: "What it has begun already goes on; also answers 204 for one that is over."
  }))
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Replays (dashboard)", description: "Delivering a range of events again." })
) {}
