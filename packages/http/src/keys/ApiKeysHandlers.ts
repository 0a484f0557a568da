/**
 * The handlers of `/internal/api-keys`: listing, creating and revoking API keys.
 */
import { Api, Caller } from "@wac/api"
import { type ApiKey, ApiKeys, Idempotency, StoreError, Time } from "@wac/core"
import { DateTime, Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"
import * as KeptAnswers from "../requests/KeptAnswers.ts"

/** A key in the list. */
export const listed = (key: ApiKey.ApiKey) => ({
  id: key.id,
  name: key.name,
  scopes: key.scopes,
  lastUsedAt: Time.isoOrNull(key.lastUsedAt)
})

/** One key with all fields. */
export const shown = (key: ApiKey.ApiKey) => ({
  ...listed(key),
  prefix: key.prefix,
  createdAt: Time.iso(key.createdAt),
  expiresAt: Time.isoOrNull(key.expiresAt),
  revokedAt: Time.isoOrNull(key.revokedAt),
  requireSignature: key.requireSignature,
  phoneNumberIds: key.phoneNumberIds,
  allowedCidrs: key.allowedCidrs
})

/** An issued key, with its secrets if this is the first response. */
export const issued = ({ key, secrets }: ApiKeys.IssuedKey) => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  ...(secrets === null ? {} : {
    apiKey: Redacted.value(secrets.token),
    signingSecret: Redacted.value(secrets.signingSecret)
  }),
  scopes: key.scopes,
  createdAt: Time.iso(key.createdAt)
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const keys = yield* ApiKeys.ApiKeys
    return HttpApiBuilder.group(Api, "apiKeys", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return Paging.internalList(yield* keys.list(workspaceId, yield* Paging.request(query, "key")), listed)
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* keys.get(workspaceId, params.id))
        }, StoreError.orUnavailable),
        create: Effect.fnUntraced(function*({ headers, payload }) {
          const session = yield* Caller.CurrentSession
          const made = yield* keys.issue({
            workspaceId: session.workspaceId,
            caller: KeptAnswers.callerOf(session),
            name: payload.name,
            expiresAt: payload.expiresAt === undefined ? null : DateTime.toEpochMillis(payload.expiresAt),
            requireSignature: payload.requireSignature ?? false,
            scopes: payload.scopes,
            phoneNumberIds: payload.phoneNumberIds,
            allowedCidrs: payload.allowedCidrs,
            idempotencyKey: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"]))
          })
          const exchange = yield* Exchange
          if (made.replayed) exchange.isReplayed = true
          exchange.changed = { target: made.key.id, detail: { name: made.key.name } }
          return issued(made)
        }, StoreError.orUnavailable),
        revoke: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          yield* keys.revoke(workspaceId, params.id)
        }, StoreError.orUnavailable)
      }))
  })
)
