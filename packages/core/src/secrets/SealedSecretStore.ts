/**
 * Port: every secret that is sealed under a master key, whatever row it belongs to, for the change of that key
 * (contract §5).
 */
import { Context, type Effect } from "effect"
import type { ApiKeyId, PhoneNumberId, WebhookId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Sealed } from "./Sealed.ts"

/** The row that the pepper belongs to. */
export const pepperRow = "pepper"

/** What a secret is sealed for: an API key, a phone number, a webhook, which may have several, or the one pepper. */
export type SecretRow = ApiKeyId | PhoneNumberId | WebhookId | typeof pepperRow

/** A secret as it is kept, and where. */
export interface SealedSecret {
  readonly row: SecretRow
  readonly sealed: Sealed
}

/** One secret under another master key; `before` says which one is meant, and that it is still there. */
export interface Rewrapped {
  readonly row: SecretRow
  readonly before: Sealed
  readonly after: Sealed
}

export class SealedSecretStore extends Context.Service<SealedSecretStore, {
  /**
   * Secrets under the master key `keyId`, of rows after `after`, in the order of their rows: up to `limit`, and beyond
   * it only the further secrets of the last row. Live, revoked and expired rows alike.
   */
  readonly under: (
    keyId: string,
    page: { readonly after: SecretRow | null; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<SealedSecret>, StoreError>
  /**
   * Replaces each secret that is still sealed as `before`; answers with how many were. One that was rotated, removed
   * or rewrapped meanwhile stays as it is. Any number of processes may do so at once. Safe to repeat.
   */
  readonly rewrap: (secrets: ReadonlyArray<Rewrapped>) => Effect.Effect<number, StoreError>
}>()("@wac/core/secrets/SealedSecretStore") {}
