/**
 * `/internal/audit` (contract §12 *Audit*).
 */
import { AuditEntry as Core, PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../ErrorBody.ts"
import { internalListOf, pageQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"
import { IsPaged } from "../Traits.ts"

/** What somebody changed. */
export const AuditEntry = Schema.Struct({
  id: Schema.String,
  at: Timestamp,
  action: Schema.Literals(Core.actions),
  target: Schema.NullOr(Schema.String).annotate({ description: "The id of what was changed" }),
  by: Schema.NullOr(Schema.Struct({ userId: Schema.String, email: Schema.String })).annotate({
    description: "null: the operator, by a command"
  }),
  address: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  detail: Schema.NullOr(Schema.Record(Schema.String, Schema.String)).annotate({ description: "Never a secret" })
}).annotate({ identifier: "AuditEntry" })

/** Which entries the list holds. */
const filter = {
  userId: Schema.optionalKey(PlainText.between(1, 64).annotate({ description: "Only what this person changed" })),
  target: Schema.optionalKey(
    PlainText.between(1, 255).annotate({ description: "Only changes of the thing with this id" })
  )
}

export class AuditApi extends HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("list", "/internal/audit", {
    query: { ...filter, ...pageQuery },
    success: internalListOf(AuditEntry),
    error: reading
  }).annotate(Access, session("admin")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List what people changed",
    description: "Of the last year, newest first: who did what to which, when and from where."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Audit (dashboard)", description: "What people and the operator changed." })
) {}
