/**
 * `/internal/queue`: whether queued messages are held after a restore (contract §15).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../ErrorBody.ts"
import * as Example from "../Example.ts"
import { noQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"

export const QueueState = Schema.Struct({
  heldSince: Schema.NullOr(Timestamp).annotateKey({
    description: "Since when queued messages are held, because the database is a restored copy; `null` if they are not"
  })
}).annotate({
  identifier: "QueueState",
  description: "The state of the queue of messages to be sent later, which all workspaces share (contract §15)."
}).pipe(Example.shown({ heldSince: null }))

export class QueueApi extends HttpApiGroup.make("queue").add(
  HttpApiEndpoint.get("get", "/internal/queue", {
    query: noQuery,
    success: QueueState,
    error: reading
  }).annotate(Example.Shown, { response: { heldSince: Example.times.start } }).annotate(Access, session("member"))
    .annotateMerge(OpenApi.annotations({
      summary: "Get the state of the queue",
      description: "Whether queued messages wait until a person releases them."
    })),
  HttpApiEndpoint.post("release", "/internal/queue/release", {
    success: QueueState,
    error: reading
  }).annotate(Access, session("admin")).annotate(Audited, "queue.release").annotateMerge(OpenApi.annotations({
    summary: "Release the queue after a restore",
    description: "Messages that are due are sent at once, also those that were sent after the backup was made: check " +
      "first. Releases the messages of all workspaces. Changes nothing if the queue is not held."
  }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({
  title: "Queue (dashboard)",
  description: "Messages to be sent later, after the database was restored from a backup."
})) {}
