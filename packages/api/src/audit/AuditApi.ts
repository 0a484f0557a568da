/**
 * `/internal/audit` (contract §12 *Audit*): the changes that people, API keys and the operator made in a workspace.
 */
import { AuditEntry as Core, PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, pageQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"

export const AuditEntry = Schema.Struct({
  id: Schema.String,
  at: Timestamp,
  action: Schema.Literals(Core.actions).annotate({
    identifier: "AuditAction",
    description: "The actions in the audit: the resource and the change."
  }),
  target: Schema.NullOr(Schema.String).annotate({ description: "The id of the changed resource" }),
  by: Schema.NullOr(
    Schema.Union([
      Schema.Struct({ userId: Schema.String, email: Schema.String }),
      Schema.Struct({ apiKeyId: Schema.String, name: Schema.String })
    ])
  ).annotate({ description: "A person, or an API key; `null` if an operator's command made the change" }),
  address: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  detail: Schema.NullOr(Schema.Record(Schema.String, Schema.String)).annotate({
    description: "Never contains a secret"
  })
}).annotate({ identifier: "AuditEntry", description: "A change that a person, an API key or the operator made." }).pipe(
  Example.shown({
    id: "aud_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
    at: ExampleValues.times.recorded,
    action: "member.invite",
    target: "inv_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
    by: ExampleValues.person,
    address: ExampleValues.address,
    requestId: ExampleValues.request,
    detail: { email: "ben@example.com", role: "developer" }
  })
)

export const AuditPage = Schema.Struct({
  ...internalListOf(AuditEntry).fields,
  since: Timestamp.annotateKey({ description: "Earlier changes are deleted" })
}).annotate({ identifier: "AuditPage", description: "A page of changes, and how far back the audit reaches." }).pipe(
  Example.shown({ ...Example.internalPage([Example.of(AuditEntry)]), since: "2025-01-02T03:04:05.678Z" })
)

const query = Schema.Struct({
  userId: Schema.optionalKey(
    PlainText.between(1, 64).annotate({ description: "Only changes by this person, or by the API key with this id" })
  ),
  target: Schema.optionalKey(
    PlainText.between(1, 255).annotate({ description: "Only changes of the resource with this id" })
  ),
  ...pageQuery
}).annotate({ identifier: "AuditQuery", description: "The filters of the audit." })

export class AuditApi extends HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("list", "/internal/audit", {
    query,
    success: AuditPage,
    error: reading
  }).annotate(Access, session("admin")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List changes",
    description:
      "Changes, newest first: the person or the API key, the action, the resource, the time and the address. `since` " +
      "is the time before which changes are deleted, as the operator has set it."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Audit (dashboard)",
    description: "Changes that people, API keys and the operator made."
  })
) {}
