/**
 * Port: all sealed secrets, from every kind of row, so that the master key can be changed (contract §5).
 */
import { Context, type Effect } from "effect"
import type { ApiKeyId, PhoneNumberId, RequestId, UserId, WebhookId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Sealed } from "./Sealed.ts"

/** The row name of the pepper. */
export const pepperRow = "pepper"

/**
 * The row that a secret belongs to: an API key, a phone number, a request (the values of its body), a person (their
 * second factor), a webhook (which may have several secrets) or the pepper.
 */
export type SecretRow = ApiKeyId | PhoneNumberId | RequestId | UserId | WebhookId | typeof pepperRow

/** A stored secret and its row. */
export interface SealedSecret {
  readonly row: SecretRow
  readonly sealed: Sealed
}

/** A secret sealed under another master key. `before` identifies the stored secret to replace. */
export interface Rewrapped {
  readonly row: SecretRow
  readonly before: Sealed
  readonly after: Sealed
}

export class SealedSecretStore extends Context.Service<SealedSecretStore, {
  /** The ids of all master keys under which secrets are sealed, in any order. Includes revoked and expired rows. */
  readonly keyIds: Effect.Effect<ReadonlyArray<string>, StoreError>
  /**
   * Secrets under the master key `keyId`, from rows after `after`, ordered by row. Returns up to `limit`, and more only
   * to complete the last row. Includes revoked and expired rows.
   */
  readonly under: (
    keyId: string,
    page: { readonly after: SecretRow | null; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<SealedSecret>, StoreError>
  /**
   * Replaces each secret that is still sealed as `before`, and returns how many were replaced. A secret that was
   * rotated, removed or rewrapped meanwhile stays as it is. Any number of processes may do this concurrently. Safe to
   * repeat.
   */
  readonly rewrap: (secrets: ReadonlyArray<Rewrapped>) => Effect.Effect<number, StoreError>
}>()("@wac/core/secrets/SealedSecretStore") {}
