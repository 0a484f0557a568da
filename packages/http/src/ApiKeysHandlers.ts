/**
 * `/internal/api-keys`.
 */
import { Api, Caller } from "@wac/api"
import { type ApiKey, ApiKeys, Idempotency, StoreError, Time } from "@wac/core"
import { DateTime, Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "./Exchange.ts"
import * as Paging from "./Paging.ts"

const listed = (key: ApiKey.ApiKey) => ({
  id: key.id,
  name: key.name,
  scopes: key.scopes,
  lastUsedAt: Time.isoOrNull(key.lastUsedAt)
})

export const layer = HttpApiBuilder.group(
  Api,
  "apiKeys",
  Effect.fnUntraced(function*(handlers) {
    const keys = yield* ApiKeys.ApiKeys
    return handlers.handleAll({
      list: Effect.fnUntraced(function*({ query }) {
        const { workspaceId } = yield* Caller.CurrentSession
        return Paging.internalList(yield* keys.list(workspaceId, yield* Paging.request(query)), listed)
      }, StoreError.orUnavailable),
      get: Effect.fnUntraced(function*({ params }) {
        const { workspaceId } = yield* Caller.CurrentSession
        const key = yield* keys.get(workspaceId, params.id)
        return {
          ...listed(key),
          prefix: key.prefix,
          createdAt: Time.iso(key.createdAt),
          expiresAt: Time.isoOrNull(key.expiresAt),
          revokedAt: Time.isoOrNull(key.revokedAt),
          requireSignature: key.requireSignature
        }
      }, StoreError.orUnavailable),
      create: Effect.fnUntraced(function*({ headers, payload }) {
        const { workspaceId } = yield* Caller.CurrentSession
        const issued = yield* keys.issue({
          workspaceId,
          name: payload.name,
          expiresAt: payload.expiresAt === undefined ? null : DateTime.toEpochMillis(payload.expiresAt),
          requireSignature: payload.requireSignature ?? false,
          idempotencyKey: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"]))
        })
        if (issued.replayed) (yield* Exchange).headers["idempotent-replayed"] = "true"
        return {
          id: issued.key.id,
          name: issued.key.name,
          prefix: issued.key.prefix,
          ...(issued.secrets === null ? {} : {
            apiKey: Redacted.value(issued.secrets.token),
            signingSecret: Redacted.value(issued.secrets.signingSecret)
          }),
          scopes: issued.key.scopes,
          createdAt: Time.iso(issued.key.createdAt)
        }
      }, StoreError.orUnavailable),
      revoke: Effect.fnUntraced(function*({ params }) {
        const { workspaceId } = yield* Caller.CurrentSession
        yield* keys.revoke(workspaceId, params.id)
      }, StoreError.orUnavailable)
    })
  })
)
