/**
 * Webhooks as they are stored: reading them, and the columns that are derived from their health, by which claims choose.
 */
import { type Time, Webhook } from "@wac/core"
import { Result } from "effect"
import { Hex } from "effect/encoding"
import { booleans, bytes, instants, integers, texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

/** A secret in JSON: bytes in hexadecimal. */
export interface StoredSecret {
  readonly keyId: string
  readonly nonce: string
  readonly ciphertext: string
  readonly expiresAt: Time.Instant | null
}

export const secretOf = ({ ciphertext, expiresAt, keyId, nonce }: StoredSecret): Webhook.WebhookSecret => ({
  sealed: { keyId, nonce: bytesOf(nonce), ciphertext: bytesOf(ciphertext) },
  expiresAt
})

const bytesOf = (hex: string): Uint8Array => Result.getOrThrow(Hex.decode(hex))

/** A webhook in JSON, as `wac_webhook` writes it. */
export interface StoredWebhook extends Omit<Webhook.Webhook, "secrets"> {
  readonly secrets: ReadonlyArray<StoredSecret>
}

export const webhookOf = ({ secrets, ...webhook }: StoredWebhook): Webhook.Webhook => ({
  ...webhook,
  secrets: secrets.map(secretOf)
})

/** Columns of `webhook_health` that say what is in a health, in the order of {@link healthParams}. */
export const healthColumns = `consecutive_failures, failures_since, last_failure_at, last_failure_message,
  last_success_at, slow_at, last_attempt_at, recovered_at, doubtful, slots, opens_at`

/** Their types, as arrays, from the parameter `$first` on. */
export const healthTypes = (first: number): string =>
  ["integer", "bigint", "bigint", "text", "bigint", "bigint", "bigint", "bigint", "boolean", "integer", "bigint"]
    .map((type, i) => `$${first + i}::${type}[]`)
    .join(", ")

export const healthParams = (healths: ReadonlyArray<Webhook.Health>): NonNullable<Statement["params"]> => [
  integers(healths.map(({ consecutiveFailures }) => consecutiveFailures)),
  instants(healths.map(({ failuresSince }) => failuresSince)),
  instants(healths.map(({ lastFailure }) => lastFailure && lastFailure.at)),
  texts(healths.map(({ lastFailure }) => lastFailure && lastFailure.message)),
  instants(healths.map(({ lastSuccessAt }) => lastSuccessAt)),
  instants(healths.map(({ slowAt }) => slowAt)),
  instants(healths.map(({ lastAttemptAt }) => lastAttemptAt)),
  instants(healths.map(({ recoveredAt }) => recoveredAt)),
  booleans(healths.map((health) => Webhook.standing(health) === "doubtful")),
  integers(healths.map(Webhook.slots)),
  instants(healths.map(Webhook.nextSlotAt))
]

const keepSecretsText = `insert into webhook_secrets (webhook_id, position, key_id, nonce, ciphertext, expires_at)
  select * from unnest($1::text[], $2::integer[], $3::text[], $4::bytea[], $5::bytea[], $6::bigint[])`

/** Writes secrets of webhooks that have none. */
export const keepSecrets = (webhooks: ReadonlyArray<Webhook.Webhook>): Statement => {
  const secrets = webhooks.flatMap(({ id, secrets }) =>
    secrets.map(({ expiresAt, sealed }, position) => ({ id, position, expiresAt, ...sealed }))
  )
  return {
    text: keepSecretsText,
    params: [
      texts(secrets.map(({ id }) => id)),
      integers(secrets.map(({ position }) => position)),
      texts(secrets.map(({ keyId }) => keyId)),
      bytes(secrets.map(({ nonce }) => nonce)),
      bytes(secrets.map(({ ciphertext }) => ciphertext)),
      instants(secrets.map(({ expiresAt }) => expiresAt))
    ]
  }
}
