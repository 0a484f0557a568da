/**
 * The stored form of webhooks, and the columns derived from their health, by which claims select webhooks.
 */
import { AttemptSlots, type Id, type Time, type Webhook, WebhookHealth } from "@wac/core"
import { Result } from "effect"
import { Hex } from "effect/encoding"
import { bigint, boolean, columns, integer, type Reader, result, row, text } from "../Columns.ts"
import { sealed } from "../secrets/StoredSeal.ts"
import type { Row, Statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"

/** A row of `webhook_secrets` as {@link secretsText} writes it. */
const secretText = columns<Record<"keyId" | "nonce" | "ciphertext", string> & Pick<Webhook.WebhookSecret, "expiresAt">>(
  {
    keyId: "text",
    nonce: "text",
    ciphertext: "text",
    expiresAt: "bigint"
  }
)

const bytesOf = (text: string): Uint8Array => Result.getOrThrow(Hex.decode(text))

/** Reads a secret from the JSON of {@link secretsText}. */
export const secret: Reader<Webhook.WebhookSecret> = {
  read: (row) => {
    const { ciphertext, expiresAt, keyId, nonce } = secretText.read(row)
    return { sealed: { keyId, nonce: bytesOf(nonce), ciphertext: bytesOf(ciphertext) }, expiresAt }
  }
}

/**
 * Selects the secrets of the webhook `w` as a JSON array. Bytes are encoded as hexadecimal here, because the output of
 * `to_json` depends on the session's `bytea_output`.
 */
export const secretsText = `select coalesce(
    json_agg(
      json_build_object(
        'key_id', s.key_id, 'nonce', encode(s.nonce, 'hex'), 'ciphertext', encode(s.ciphertext, 'hex'),
        'expires_at', s.expires_at
      ) order by s.position
    ),
    '[]'
  ) from wac.webhook_secrets s where s.webhook_id = w.id`

const own = columns<Omit<Webhook.Webhook, "secrets" | "health">>({
  id: "text",
  workspaceId: "text",
  url: "text",
  envelope: "text",
  eventTypes: "text[]",
  createdAt: "bigint",
  updatedAt: "bigint",
  pausedAt: "bigint",
  resumedAt: "bigint"
})

/** A webhook's health as it is stored. */
interface Health extends Omit<WebhookHealth.WebhookHealth, "lastFailure"> {
  readonly lastFailureAt: Time.Instant | null
  readonly lastFailureMessage: string | null
}

/** The columns of a webhook's health. */
export const health = columns<Health>({
  consecutiveFailures: "integer",
  failuresSince: "bigint",
  lastFailureAt: "bigint",
  lastFailureMessage: "text",
  lastSuccessAt: "bigint",
  slowAt: "bigint",
  lastAttemptAt: "bigint",
  recoveredAt: "bigint"
})

/** The columns of a webhook's health and the columns derived from it, by which claims select webhooks. */
export const healthWritten = row({ webhookId: text<Id.WebhookId>() })
  .and(health)
  .and(row({ doubtful: boolean(), slots: integer(), opensAt: bigint<number | null>() }))

/** The stored form of a webhook's health ({@link healthWritten}). */
export const writtenHealth = ({ health, id }: Pick<Webhook.Webhook, "id" | "health">) => {
  const { lastFailure, ...others } = health
  return {
    ...others,
    webhookId: id,
    lastFailureAt: lastFailure && lastFailure.at,
    lastFailureMessage: lastFailure && lastFailure.message,
    doubtful: WebhookHealth.standing(health) === "doubtful",
    slots: AttemptSlots.slots(health),
    opensAt: AttemptSlots.nextSlotAt(health)
  }
}

/** Selects the columns that {@link webhookOf} reads, for the webhook `w`. */
export const webhookColumns = `to_json(w) as webhook,
  (select to_json(h) from wac.webhook_health h where h.webhook_id = w.id) as health,
  (${secretsText}) as secrets`

const stored = result<
  & Pick<Webhook.Webhook, "secrets" | "health">
  & { readonly webhook: ReturnType<typeof own.read> }
>({ webhook: own, health: { read: (row) => healthOf(row) }, secrets: [secret] })

/** Reads a webhook from a row with {@link webhookColumns}. */
export const webhookOf = (row: Row): Webhook.Webhook => {
  const { webhook, ...others } = stored.read(row)
  return { ...webhook, ...others }
}

/** Reads health from a row of `webhook_health`, or from the row's JSON. */
export const healthOf = (row: Row): WebhookHealth.WebhookHealth => {
  const { lastFailureAt, lastFailureMessage, ...others } = health.read(row)
  return {
    ...others,
    lastFailure: lastFailureAt === null ? null : { at: lastFailureAt, message: lastFailureMessage! }
  }
}

const insertSecrets = insert(
  row({ webhookId: text<Id.WebhookId>(), position: integer() })
    .and(sealed)
    .and(columns<Pick<Webhook.WebhookSecret, "expiresAt">>({ expiresAt: "bigint" })),
  "wac.webhook_secrets"
)

/** Writes secrets of webhooks that have none. */
export const keepSecrets = (webhooks: ReadonlyArray<Webhook.Webhook>): ReadonlyArray<Statement> =>
  insertSecrets(
    webhooks.flatMap(({ id, secrets }) =>
      secrets.map(({ expiresAt, sealed }, position) => ({ webhookId: id, position, expiresAt, ...sealed }))
    )
  )
