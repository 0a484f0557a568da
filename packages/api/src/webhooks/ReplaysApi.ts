/**
 * `/internal/webhook/replays` (contract §6): delivering a range of events again, as a job.
 */
import { Replay as Job } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { described } from "../Described.ts"
import { IsPaged, NeedsIdempotencyKey, NeedsWebhook } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, ListQuery, noQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"

const Ended = Schema.Literals(Job.statuses).annotate({
  identifier: "ReplayedStatus",
  description: "The filter of a replay."
})

export const CreateReplay = Schema.Struct({
  since: TimeGiven.pipe(described("Events recorded at or after this time")),
  until: Schema.optionalKey(TimeGiven.pipe(described("Events recorded before this time; defaults to now"))),
  status: Schema.optionalKey(Ended).annotateKey({
    description: "Only deliveries that ended with this status; if omitted, all that have ended"
  })
}).annotate({ identifier: "CreateReplay", embedded: "NewReplay", description: "The deliveries to repeat." }).pipe(
  Example.shown({
    since: "2026-01-01T00:00:00.000Z",
    until: "2026-01-02T00:00:00.000Z",
    status: "exhausted"
  })
)

export const Replay = Schema.Struct({
  id: Schema.String,
  state: Job.ReplayState,
  since: Timestamp,
  until: Timestamp,
  status: Schema.NullOr(Ended),
  total: Schema.NullOr(Schema.Int).annotate({
    description: "How many deliveries the job covers; `null` while unknown, which for a very long range lasts until " +
      "its end"
  }),
  replayed: Schema.Int.annotate({ description: "How many of these deliveries have started a new round" }),
  createdAt: Timestamp,
  completedAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Replay", embedded: true, description: "A job that delivers a range of events again." }).pipe(
  Example.shown({
    id: "job_01K8ZQ6D7E9F1G2H4J5K7M8N0P",
    state: "running",
    since: "2026-01-01T00:00:00.000Z",
    until: "2026-01-02T00:00:00.000Z",
    status: "exhausted",
    total: 1200,
    replayed: 300,
    createdAt: ExampleValues.times.recorded,
    completedAt: null
  })
)

const one = { params: byId, query: noQuery }

export class ReplaysApi extends HttpApiGroup.make("replays").add(
  HttpApiEndpoint.post("create", "/internal/webhook/replays", {
    headers: idempotencyKey(),
    payload: CreateReplay,
    success: Replay.pipe(HttpApiSchema.status(201)),
    error: writing
  }).annotate(Example.Shown, Example.changed(Replay, { total: null, replayed: 0 })).annotate(
    Access,
    session("developer")
  ).annotate(Audited, "replay.create").annotate(NeedsWebhook, true)
    .annotate(NeedsIdempotencyKey, true).annotateMerge(OpenApi.annotations({
      summary: "Replay events",
      description: "Delivers the webhook's events of a time range again, oldest first, at a bounded rate: those " +
        "whose deliveries had ended when the job was created. While the webhook is paused, the job waits."
    })),
  HttpApiEndpoint.get("list", "/internal/webhook/replays", {
    query: ListQuery,
    success: internalListOf(Replay),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(
    OpenApi.annotations({ summary: "List replays", description: "Newest first." })
  ),
  HttpApiEndpoint.get("get", "/internal/webhook/replays/:id", { ...one, success: Replay, error: reading })
    .annotate(Access, session("member")).annotateMerge(
      OpenApi.annotations({
        summary: "Get a replay's progress",
        description: "The number of deliveries that the job covers, and how many have started a new round."
      })
    ),
  HttpApiEndpoint.delete("cancel", "/internal/webhook/replays/:id", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("developer")).annotate(Audited, "replay.cancel").annotateMerge(OpenApi.annotations({
    summary: "Cancel a replay",
    description: "Rounds that have already started continue. The response is also 204 if the replay is over."
  }))
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Replays (dashboard)", description: "Deliver a range of events again." })
) {}
