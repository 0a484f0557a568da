/**
 * `/internal/api-keys` (specification §4 *Internal dashboard-only endpoints*, contract §5): listing, creating and
 * revoking API keys.
 */
import { ApiScope, KeyBinding, PlainText } from "@wac/core"
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, NeedsFreshSession, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { described } from "../Described.ts"
import { BindsIdempotencyKey, IsPaged, NeedsIdempotencyKey } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, ListQuery, noQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"

export const ListedApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(ApiScope.ApiScope),
  lastUsedAt: Schema.NullOr(Timestamp).annotateKey({ description: "At most 60 s behind; `null` before the first use" })
}).annotate({ identifier: "ListedApiKey", embedded: true, description: "A key in the list." }).pipe(Example.shown({
  id: ExampleValues.apiKey,
  name: "order service",
  scopes: ["messages:send", "messages:read", "media:write"],
  lastUsedAt: "2026-01-02T03:04:00.000Z"
}))

export const ApiKey = Schema.Struct({
  ...ListedApiKey.fields,
  prefix: Schema.String,
  createdAt: Timestamp,
  expiresAt: Schema.NullOr(Timestamp),
  revokedAt: Schema.NullOr(Timestamp),
  requireSignature: Schema.Boolean,
  phoneNumberIds: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "The only phone numbers that the key may send from; `null`: all of the workspace"
  }),
  allowedCidrs: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "The only networks that the key may be used from, as CIDRs; `null`: anywhere"
  })
}).annotate({ identifier: "ApiKey", embedded: true, description: "One key with all fields, but without its secrets." })
  .pipe(
    Example.shown({
      ...Example.of(ListedApiKey),
      prefix: "wac_live_7Gx2",
      createdAt: ExampleValues.times.start,
      expiresAt: null,
      revokedAt: null,
      requireSignature: false,
      phoneNumberIds: null,
      allowedCidrs: ["203.0.113.0/24"]
    })
  )

/** The phone numbers and networks that a key is bound to. An empty list is refused: it could mean none or all. */
const bound = <S extends Schema.Top>(entry: S) =>
  Schema.Array(entry).check(Schema.isMinLength(1), Schema.isMaxLength(KeyBinding.maxEntries))

export const CreateApiKey = Schema.Struct({
  name: PlainText.trimmed(100).pipe(
    Schema.annotateEncoded({ description: "1 to 100 characters, not counting white space around them" })
  ),
  expiresAt: Schema.optionalKey(TimeGiven.pipe(described("A time in the future; if omitted, the key never expires"))),
  requireSignature: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether requests that change something must be signed" })
  ),
  scopes: Schema.optionalKey(
    Schema.Array(ApiScope.ApiScope).check(Schema.isMaxLength(100)).annotate({
      description: "The key's scopes, in any order; `messages:send` is always added. If omitted: " +
        ApiScope.defaults.map((scope) => `\`${scope}\``).join(", ")
    })
  ),
  phoneNumberIds: Schema.optionalKey(
    bound(Schema.String.check(Schema.isMaxLength(64))).annotate({
      description: "The ids of the only phone numbers of the workspace that the key may send from, 1 to " +
        `${KeyBinding.maxEntries}; if omitted, all`
    })
  ),
  allowedCidrs: Schema.optionalKey(
    bound(KeyBinding.Network).annotate({
      description: "The only networks that the key may be used from, 1 to 100 CIDRs like `203.0.113.0/24` or single " +
        "addresses; if omitted, anywhere. From elsewhere, the key is answered as if it did not exist"
    })
  )
}).annotate({ identifier: "CreateApiKey", embedded: "NewApiKey", description: "The request to create a key." }).pipe(
  Example.shown({ name: "order service" })
)

export const CreatedApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  apiKey: Schema.optionalKey(Schema.String).annotateKey({ description: "The key itself, `wac_live_…`" }),
  signingSecret: Schema.optionalKey(Schema.String).annotateKey({
    description: "The secret that signs requests, `whsec_…`"
  }),
  scopes: Schema.Array(ApiScope.ApiScope),
  createdAt: Timestamp
}).annotate({
  identifier: "CreatedApiKey",
  embedded: true,
  description: "A new key. Only this response contains `apiKey` and `signingSecret`; a repetition of the request " +
    "returns it without them."
}).pipe(Example.shown({
  ...Struct.pick(Example.of(ApiKey), ["id", "name", "prefix", "scopes", "createdAt"]),
  apiKey: "wac_live_…",
  signingSecret: ExampleValues.secret
}))

const one = { params: byId, query: noQuery }

export class ApiKeysApi extends HttpApiGroup.make("apiKeys").add(
  HttpApiEndpoint.get("list", "/internal/api-keys", {
    query: ListQuery,
    success: internalListOf(ListedApiKey),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(
    OpenApi.annotations({
      summary: "List active API keys",
      description: "Newest first, without revoked keys. `lastUsedAt` is at most a minute behind."
    })
  ),
  HttpApiEndpoint.get("get", "/internal/api-keys/:id", { ...one, success: ApiKey, error: reading })
    .annotate(Access, session("member")).annotateMerge(
      OpenApi.annotations({
        summary: "Get an API key",
        description: "Also returns revoked keys. Never returns a secret."
      })
    ),
  HttpApiEndpoint.post("create", "/internal/api-keys", {
    headers: idempotencyKey("; the same again never makes a second key"),
    payload: CreateApiKey,
    success: CreatedApiKey.pipe(HttpApiSchema.status(201)),
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, "api_key.create").annotate(NeedsFreshSession, true)
    .annotate(NeedsIdempotencyKey, true)
    .annotate(BindsIdempotencyKey, true)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Create an API key",
        description:
          "Only this response contains `apiKey` and `signingSecret`; a repetition with the same Idempotency-Key omits them."
      })
    ),
  HttpApiEndpoint.delete("revoke", "/internal/api-keys/:id", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("developer")).annotate(Audited, "api_key.revoke").annotateMerge(OpenApi.annotations({
    summary: "Revoke an API key",
    description: "Takes effect immediately. The response is also 204 if the key was already revoked."
  }))
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "API keys (dashboard)",
    description: "The API keys of the workspace, managed by people."
  })
) {}
