/**
 * Webhooks as they are stored: reading them, and the columns derived from their health, by which claims select.
 */
import { type Time, Webhook } from "@wac/core"
import { Result } from "effect"
import { Hex } from "effect/encoding"
import { instant, instantOrNull, plain } from "../Column.ts"
import { columns, type Fields } from "../Columns.ts"
import { booleans, bytes, instants, integers, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"

/** A row of `webhook_secrets` as {@link secretsText} writes it. */
export interface StoredSecret {
  readonly key_id: string
  readonly nonce: string
  readonly ciphertext: string
  readonly expires_at: Time.Instant | null
}

export const secretOf = ({ ciphertext, expires_at, key_id, nonce }: StoredSecret): Webhook.WebhookSecret => ({
  sealed: { keyId: key_id, nonce: bytesOf(nonce), ciphertext: bytesOf(ciphertext) },
  expiresAt: expires_at
})

const bytesOf = (text: string): Uint8Array => Result.getOrThrow(Hex.decode(text))

/**
 * Selects the secrets of the webhook `w` as a JSON array. Bytes are encoded here, because `to_json` writes them as the
 * session's `bytea_output` says.
 */
export const secretsText = `select coalesce(
    json_agg(
      json_build_object(
        'key_id', s.key_id, 'nonce', encode(s.nonce, 'hex'), 'ciphertext', encode(s.ciphertext, 'hex'),
        'expires_at', s.expires_at
      ) order by s.position
    ),
    '[]'
  ) from webhook_secrets s where s.webhook_id = w.id`

const own = columns(
  {
    id: "text",
    workspaceId: "text",
    url: "text",
    envelope: "text",
    eventTypes: "json",
    createdAt: "bigint",
    updatedAt: "bigint",
    pausedAt: "bigint",
    resumedAt: "bigint"
  } satisfies Fields<Omit<Webhook.Webhook, "secrets" | "health">>
)

/** The columns that {@link webhookOf} reads, of the webhook `w`. */
export const webhookColumns = `to_json(w) as webhook,
  (select to_json(h) from webhook_health h where h.webhook_id = w.id) as health,
  (${secretsText}) as secrets`

/** The webhook of a row of {@link webhookColumns}. */
export const webhookOf = (row: Row): Webhook.Webhook => ({
  ...own.read(plain(row, "webhook")) as Omit<Webhook.Webhook, "secrets" | "health">,
  health: healthOf(plain(row, "health")),
  secrets: plain<ReadonlyArray<StoredSecret>>(row, "secrets").map(secretOf)
})

/** The health of a row of `webhook_health`, or of its JSON. */
export const healthOf = (row: Row): Webhook.Health => ({
  consecutiveFailures: plain(row, "consecutive_failures"),
  failuresSince: instantOrNull(row, "failures_since"),
  lastFailure: row["last_failure_at"] === null ? null : {
    at: instant(row, "last_failure_at"),
    message: plain(row, "last_failure_message")
  },
  lastSuccessAt: instantOrNull(row, "last_success_at"),
  slowAt: instantOrNull(row, "slow_at"),
  lastAttemptAt: instantOrNull(row, "last_attempt_at"),
  recoveredAt: instantOrNull(row, "recovered_at")
})

/** The columns of `webhook_health`, in the order of {@link healthParams}. */
export const healthColumns = `consecutive_failures, failures_since, last_failure_at, last_failure_message,
  last_success_at, slow_at, last_attempt_at, recovered_at, doubtful, slots, opens_at`

/** Their array types, from the parameter `$first`. */
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
