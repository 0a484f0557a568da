/**
 * API keys, for callers over HTTP (specification §5).
 */
import { ApiKeysApi } from "@wac/api"
import { ApiKeys as Service, type Id } from "@wac/core"
import { ApiKeysHandlers } from "@wac/http"
import { DateTime, Effect, Result } from "effect"
import * as CallOptions from "../CallOptions.ts"
import type * as Messaging from "../generated/Messaging.ts"
import type { ApiKey, CreatedApiKey, ListedApiKey, NewApiKey } from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"
import { iso } from "../TimeInput.ts"

/** The API keys of a workspace. */
export interface ApiKeys {
  /**
   * Issues a key. With an `idempotencyKey`, a repeated call creates no second key and returns the first one without its
   * secrets. Without one, every call creates a key. A call that ended early may still create its key, even after a later
   * call, and the secrets are lost: find the key with `list`, revoke it, and create another under another
   * `idempotencyKey`.
   */
  readonly create: (key: NewApiKey, options?: Messaging.SendOptions) => Promise<CreatedApiKey>
  /** Active keys, newest first, including the key of the host's own sends. */
  readonly list: (options?: Messaging.CallOptions) => Listing.Listing<ListedApiKey>
  readonly get: (id: string, options?: Messaging.CallOptions) => Promise<ApiKey>
  /** Revokes a key: immediately in this process, within 2 s in every other. Has no effect on a revoked key. */
  readonly revoke: (id: string, options?: Messaging.CallOptions) => Promise<void>
}

/** The owner of the idempotency keys: the keys of people in the dashboard are separate. */
const caller = "the application"

const readKey = Input.read(ApiKeysApi.CreateApiKey)

export const make = Effect.map(Service.ApiKeys, (keys) => (running: Running, workspaceId: Id.WorkspaceId): ApiKeys => ({
  create: (key, options) => {
    const idempotencyKey = CallOptions.keyOf(options)
    return running.run(
      Effect.gen(function*() {
        const { allowedCidrs, expiresAt, name, phoneNumberIds, requireSignature, scopes } = yield* readKey({
          ...key,
          expiresAt: iso(key?.expiresAt)
        })
        return ApiKeysHandlers.issued(
          yield* keys.issue({
            workspaceId,
            caller,
            name,
            expiresAt: expiresAt === undefined ? null : DateTime.toEpochMillis(expiresAt),
            requireSignature: requireSignature ?? false,
            scopes,
            phoneNumberIds,
            allowedCidrs,
            idempotencyKey: yield* Effect.fromResult(idempotencyKey)
          })
        )
      }),
      { options, names: ["idempotencyKey"], idempotencyKey: Result.getOrUndefined(idempotencyKey) }
    )
  },
  list: (options) =>
    Listing.make(running, "key", (page) => keys.list(workspaceId, page), ApiKeysHandlers.listed, options),
  get: (id, options) => running.run(Effect.map(keys.get(workspaceId, id), ApiKeysHandlers.shown), { options }),
  revoke: (id, options) => running.run(keys.revoke(workspaceId, id), { options })
}))
