/**
 * `/internal/api-keys` (specification §4 *Internal dashboard-only endpoints*, contract §5).
 */
import { ApiScope, PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading, writing } from "../ErrorBody.ts"
import { internalListOf, noQuery, pageQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"
import { IsPaged, NeedsIdempotencyKey } from "../Traits.ts"

/** A key in the listing: these four fields and no other. */
export const ListedApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(ApiScope.ApiScope),
  lastUsedAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "ListedApiKey" })

/** One key in full; never a secret. */
export const ApiKey = Schema.Struct({
  ...ListedApiKey.fields,
  prefix: Schema.String,
  createdAt: Timestamp,
  expiresAt: Schema.NullOr(Timestamp),
  revokedAt: Schema.NullOr(Timestamp),
  requireSignature: Schema.Boolean
}).annotate({ identifier: "ApiKey" })

/** What a new key is made of. */
export const CreateApiKey = Schema.Struct({
  name: PlainText.trimmed(100).pipe(
    Schema.annotateEncoded({ description: "1 to 100 characters, not counting white space around them" })
  ),
  expiresAt: Schema.optionalKey(
    TimeGiven.annotate({ description: "In the future; the key never expires when left out" })
  ),
  requireSignature: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether mutating requests with the key must be signed" })
  )
}).annotate({ identifier: "CreateApiKey" })

/** A new key. `apiKey` and `signingSecret` are given this once; a repetition of the request does not give them again. */
export const CreatedApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  apiKey: Schema.optionalKey(Schema.String),
  signingSecret: Schema.optionalKey(Schema.String),
  scopes: Schema.Array(ApiScope.ApiScope),
  createdAt: Timestamp
}).annotate({ identifier: "CreatedApiKey" })

const one = { params: byId, query: noQuery }

export class ApiKeysApi extends HttpApiGroup.make("apiKeys").add(
  HttpApiEndpoint.get("list", "/internal/api-keys", {
    query: pageQuery,
    success: internalListOf(ListedApiKey),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(
    OpenApi.annotations({
      summary: "List active API keys",
      description: "Newest first, without those that were revoked. `lastUsedAt` is at most a minute behind."
    })
  ),
  HttpApiEndpoint.get("get", "/internal/api-keys/:id", { ...one, success: ApiKey, error: reading })
    .annotate(Access, session("member")).annotateMerge(
      OpenApi.annotations({ summary: "Get an API key", description: "Revoked keys too; never a secret." })
    ),
  HttpApiEndpoint.post("create", "/internal/api-keys", {
    headers: idempotencyKey("1 to 255 visible ASCII characters; the same again never makes a second key"),
    payload: CreateApiKey,
    success: CreatedApiKey.pipe(HttpApiSchema.status(201)),
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, "api_key.create").annotate(NeedsIdempotencyKey, true)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Create an API key",
        description:
          "`apiKey` and `signingSecret` are in this answer only; the same Idempotency-Key again answers without them."
      })
    ),
  HttpApiEndpoint.delete("revoke", "/internal/api-keys/:id", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("developer")).annotate(Audited, "api_key.revoke").annotateMerge(OpenApi.annotations({
    summary: "Revoke an API key",
    description: "Effective at once; also answers 204 for a key that was revoked before."
  }))
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "API keys (dashboard)",
    description: "Keys of the workspace; for people, not for programs."
  })
) {}
