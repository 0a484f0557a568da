/**
 * Port: API keys.
 */
import { Context, type Effect, type Option, type Scope } from "effect"
import type { ApiKeyId, WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../messages/Idempotency.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import type { ApiKey } from "./ApiKey.ts"

/** What came of issuing a key under an idempotency key. */
export type Issued =
  | { readonly _tag: "Created"; readonly key: ApiKey }
  /** The same request was carried out before; this is the key that it made, as it is now. */
  | { readonly _tag: "Replayed"; readonly key: ApiKey }
  /** The idempotency key came before with another body. */
  | { readonly _tag: "Conflict" }

export class ApiKeyStore extends Context.Service<ApiKeyStore, {
  /**
   * Keeps a new key, once per idempotency key of the workspace within `Idempotency.retention`. Atomic: of racing
   * requests with one idempotency key exactly one is `Created`. Safe to repeat after a {@link StoreError}.
   */
  readonly issue: (
    key: ApiKey,
    idempotency: { readonly key: IdempotencyKey; readonly fingerprint: string }
  ) => Effect.Effect<Issued, StoreError>
  /** Finds a key, live or not, and its workspace by the token's hash. `at` is the storage's time (`StorageTime`). */
  readonly findByTokenHash: (
    tokenHash: string
  ) => Effect.Effect<
    Option.Option<{ readonly key: ApiKey; readonly workspace: Workspace; readonly at: Instant }>,
    StoreError
  >
  /** One key of the workspace, live or not. */
  readonly get: (workspaceId: WorkspaceId, id: ApiKeyId) => Effect.Effect<Option.Option<ApiKey>, StoreError>
  /** Active keys (neither revoked nor expired at `now`), newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    page: PageRequest,
    now: Instant
  ) => Effect.Effect<Page<ApiKey>, StoreError>
  /**
   * Revokes a key; one that was revoked before keeps its first `revokedAt`. From here on *accept* refuses it. None
   * when the workspace has no such key. Safe to repeat.
   */
  readonly revoke: (
    workspaceId: WorkspaceId,
    id: ApiKeyId,
    now: Instant
  ) => Effect.Effect<Option.Option<ApiKey>, StoreError>
  /**
   * Listens, as long as the scope is open, to what is revoked from now on, here or by another process; gives an effect
   * that waits for the next key. `null` stands for keys that may have been revoked unheard, such as while a connection
   * was down. A hint: it comes soon, or late, or not at all; keys may come that were revoked before.
   */
  readonly revocations: Effect.Effect<Effect.Effect<ApiKeyId | null>, never, Scope.Scope>
  /** Notes when keys were used last. A time never moves back; unknown ids are passed over. Safe to repeat. */
  readonly touch: (uses: ReadonlyMap<ApiKeyId, Instant>) => Effect.Effect<void, StoreError>
}>()("@wac/core/keys/ApiKeyStore") {}
