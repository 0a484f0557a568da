/**
 * Port: API keys.
 */
import { Context, type Effect, type Option, type Scope } from "effect"
import type { ApiKeyId, WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { ValuesSwitch } from "../workspaces/ValuesSwitch.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import type { ApiKey } from "./ApiKey.ts"

/**
 * The idempotency key under which a new API key is created, for one caller in a workspace, with the fingerprint of the
 * request.
 */
export interface Issuance {
  readonly key: IdempotencyKey
  readonly fingerprint: string
  /** The person or program that makes the request, without line breaks; if omitted, the service itself. */
  readonly caller?: string
}

/** The result of a request whose idempotency key was used before. */
export type IssuedBefore =
  /** The same request was carried out before. This is the key that it created, in its current state. */
  | { readonly _tag: "Replayed"; readonly key: ApiKey }
  /** The idempotency key was used before with a different body. */
  | { readonly _tag: "Conflict" }

/** The result of issuing a key under an idempotency key. */
export type Issued = { readonly _tag: "Created"; readonly key: ApiKey } | IssuedBefore

export class ApiKeyStore extends Context.Service<ApiKeyStore, {
  /**
   * Stores a new key, once for each idempotency key of the workspace and caller within `Idempotency.retention`. Atomic:
   * if requests with one idempotency key race, exactly one is `Created`. Safe to repeat after a {@link StoreError}.
   */
  readonly issue: (
    key: ApiKey,
    idempotency: Issuance
  ) => Effect.Effect<Issued, StoreError>
  /** What `issue` would return for an idempotency key that was used before; `none` if it was not, or has expired. */
  readonly findIssued: (
    workspaceId: WorkspaceId,
    idempotency: Issuance,
    now: Instant
  ) => Effect.Effect<Option.Option<IssuedBefore>, StoreError>
  /**
   * Finds a key, active or not, by its token's hash, with its workspace and the workspace's switch for recording the
   * values of requests (`RequestValuesStore`). `at` is the storage's time (`StorageTime`).
   */
  readonly findByTokenHash: (
    tokenHash: string
  ) => Effect.Effect<
    Option.Option<{
      readonly key: ApiKey
      readonly workspace: Workspace
      readonly valuesSwitch: ValuesSwitch | null
      readonly at: Instant
    }>,
    StoreError
  >
  /** Gets a key of the workspace, active or not. */
  readonly get: (workspaceId: WorkspaceId, id: ApiKeyId) => Effect.Effect<Option.Option<ApiKey>, StoreError>
  /** Active keys (neither revoked nor expired at `now`), newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    page: PageRequest,
    now: Instant
  ) => Effect.Effect<Page<ApiKey>, StoreError>
  /**
   * The workspace's keys that are live at `now`, expire by `until` (included) and were used after `usedSince`: at most
   * `limit`, those that expire first.
   */
  readonly expiring: (
    workspaceId: WorkspaceId,
    asked: { readonly now: Instant; readonly until: Instant; readonly usedSince: Instant; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<ApiKey>, StoreError>
  /**
   * Revokes a key. A key that is already revoked keeps its first `revokedAt`. From now on *accept* refuses it. Returns
   * `none` if the workspace has no such key. Safe to repeat.
   */
  readonly revoke: (
    workspaceId: WorkspaceId,
    id: ApiKeyId,
    now: Instant
  ) => Effect.Effect<Option.Option<ApiKey>, StoreError>
  /**
   * Listens for revocations by this process and others while the scope is open. The returned effect waits for the next
   * revoked key. `null` means that revocations may have been missed, for example while a connection was down. These are
   * hints: they may come late or not at all, and keys may be repeated.
   */
  readonly revocations: Effect.Effect<Effect.Effect<ApiKeyId | null>, never, Scope.Scope>
  /** Records when keys were last used. A time never moves back, and unknown ids are ignored. Safe to repeat. */
  readonly touch: (uses: ReadonlyMap<ApiKeyId, Instant>) => Effect.Effect<void, StoreError>
}>()("@wac/core/keys/ApiKeyStore") {}
