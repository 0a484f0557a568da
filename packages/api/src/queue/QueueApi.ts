/**
 * `/internal/queue`: whether queued messages are held after a restore (contract §15).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { noQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"

export const QueueState = Schema.Struct({
  queued: Schema.Int.annotate({ description: "The workspace's messages that wait, whenever they are due" }),
  oldestDueAt: Schema.NullOr(Timestamp).annotateKey({
    description: "When the one of them was due that has waited longest; `null` if none is due"
  }),
  heldSince: Schema.NullOr(Timestamp).annotateKey({
    description: "Since when queued messages are held, because the database is a restored copy; `null` if they are not"
  }),
  enqueued: Schema.Int.annotate({
    description: "While messages are held, how many that hosts enqueued until `heldSince` are in the outbox and not " +
      "queued yet: they are not in `queued`, and are sent once they are queued after a release"
  })
}).annotate({
  identifier: "QueueState",
  description: "A workspace's messages to be sent later. What holds them holds those of all workspaces (contract §15)."
}).pipe(Example.shown({ queued: 3, oldestDueAt: null, heldSince: null, enqueued: 0 }))

export class QueueApi extends HttpApiGroup.make("queue").add(
  HttpApiEndpoint.get("get", "/internal/queue", {
    query: noQuery,
    success: QueueState,
    error: reading
  }).annotate(
    Example.Shown,
    Example.changed(QueueState, {
      oldestDueAt: ExampleValues.times.start,
      heldSince: ExampleValues.times.start,
      enqueued: 2
    })
  ).annotate(Access, session("member"))
    .annotateMerge(OpenApi.annotations({
      summary: "Get the state of the queue",
      description: "How many messages wait, and whether they do until a person releases them."
    })),
  HttpApiEndpoint.post("release", "/internal/queue/release", {
    success: QueueState,
    error: reading
  }).annotate(Access, session("admin")).annotate(Audited, "queue.release").annotateMerge(OpenApi.annotations({
    summary: "Release the queue after a restore",
    description: "Messages that are due are sent at once, also those that were sent after the backup was made, and " +
      "those of the outbox (`enqueued`) once they are queued: check first. Releases the messages of this workspace. Changes nothing if its queue is not held."
  }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({
  title: "Queue (dashboard)",
  description: "Messages to be sent later, after the database was restored from a backup."
})) {}
