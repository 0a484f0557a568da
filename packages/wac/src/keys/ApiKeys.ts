/**
 * API keys, for callers over HTTP (specification §5).
 */
import { ApiKeysApi } from "@wac/api"
import { ApiKeys as Service, type Id } from "@wac/core"
import { ApiKeysHandlers } from "@wac/http"
import { DateTime, Effect } from "effect"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import { iso, type Moment } from "../Moment.ts"
import type { Running } from "../Running.ts"

/**
 * What a key may do. `messages:send` also lists templates; `messages:read` reads messages, events and media.
 */
export type ApiScope = "messages:send" | "messages:read" | "media:write" | "contacts:write" | "campaigns:write"

/** A key in a list. */
export interface ListedApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<ApiScope>
  /** At most 60 s behind; `null` before the first use. */
  readonly lastUsedAt: string | null
}

/** A key's details, without secrets. */
export interface ApiKey extends ListedApiKey {
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly requireSignature: boolean
  /** The only phone numbers that the key may send from; `null`: all of the workspace. */
  readonly phoneNumberIds: ReadonlyArray<string> | null
  /** The only networks that the key may be used from, as CIDRs; `null`: anywhere. */
  readonly allowedCidrs: ReadonlyArray<string> | null
}

/** A new key. */
export interface CreatedApiKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  /**
   * The key itself, `wac_live_…`. Returned only once; a repeated call with the same idempotency key does not return it
   * again.
   */
  readonly apiKey?: string
  /** The secret for signing requests, `whsec_…`. Returned only once. */
  readonly signingSecret?: string
  readonly scopes: ReadonlyArray<ApiScope>
  readonly createdAt: string
}

/** The properties of a new key. */
export interface NewApiKey {
  /** 1 to 100 characters. */
  readonly name: string
  /** Must be in the future. If omitted, the key never expires. */
  readonly expiresAt?: Moment
  /** Whether mutating requests with the key must be signed. */
  readonly requireSignature?: boolean
  /**
   * What the key may do; `messages:send` is always added. If omitted, it may send, read messages and write media.
   */
  readonly scopes?: ReadonlyArray<ApiScope>
  /** The ids of the only phone numbers of the workspace that the key may send from, 1 to 100. If omitted, all. */
  readonly phoneNumberIds?: ReadonlyArray<string>
  /**
   * The only networks that the key may be used from: 1 to 100 CIDRs like `203.0.113.0/24`, or single addresses. If
   * omitted, anywhere.
   */
  readonly allowedCidrs?: ReadonlyArray<string>
}

/** The API keys of a workspace. */
export interface ApiKeys {
  /**
   * Issues a key. With an `idempotencyKey`, a repeated call creates no second key and returns the first one without its
   * secrets. Without one, every call creates a key.
   */
  readonly create: (key: NewApiKey, options?: { readonly idempotencyKey?: string }) => Promise<CreatedApiKey>
  /** Active keys, newest first, including the key of the host's own sends. */
  readonly list: () => Listing.Listing<ListedApiKey>
  readonly get: (id: string) => Promise<ApiKey>
  /** Revokes a key: immediately in this process, within 2 s in every other. Has no effect on a revoked key. */
  readonly revoke: (id: string) => Promise<void>
}

/** Whose idempotency keys they are: another one's than those of persons in the dashboard. */
const caller = "the application"

const readKey = Input.read(ApiKeysApi.CreateApiKey)

export const make = Effect.map(Service.ApiKeys, (keys) => (running: Running, workspaceId: Id.WorkspaceId): ApiKeys => ({
  create: (key, options) =>
    running.run(Effect.gen(function*() {
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
          idempotencyKey: yield* Effect.fromResult(
            Input.idempotencyKey(options?.idempotencyKey ?? crypto.randomUUID())
          )
        })
      )
    })),
  list: () => Listing.make(running, (page) => keys.list(workspaceId, page), ApiKeysHandlers.listed),
  get: (id) => running.run(Effect.map(keys.get(workspaceId, id), ApiKeysHandlers.shown)),
  revoke: (id) => running.run(keys.revoke(workspaceId, id))
}))
