import { type Id, type StoreError, type Time, type Webhook, WebhookStore } from "@wac/core"
import { Effect, Layer, Option, Result } from "effect"
import { Hex } from "effect/encoding"
import { asked } from "../Asked.ts"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"

/** A secret in JSON: bytes in hexadecimal. */
export interface StoredSecret {
  readonly keyId: string
  readonly nonce: string
  readonly ciphertext: string
  readonly expiresAt: Time.Instant | null
}

export const secretOf = ({ ciphertext, expiresAt, keyId, nonce }: StoredSecret): Webhook.WebhookSecret => ({
  sealed: { keyId, nonce: bytes(nonce), ciphertext: bytes(ciphertext) },
  expiresAt
})

const bytes = (hex: string): Uint8Array => Result.getOrThrow(Hex.decode(hex))

const storedSecret = ({ expiresAt, sealed }: Webhook.WebhookSecret): StoredSecret => ({
  keyId: sealed.keyId,
  nonce: Hex.encode(sealed.nonce),
  ciphertext: Hex.encode(sealed.ciphertext),
  expiresAt
})

interface StoredWebhook extends Omit<Webhook.Webhook, "secrets"> {
  readonly secrets: ReadonlyArray<StoredSecret>
}

const webhookOf = ({ secrets, ...webhook }: StoredWebhook): Webhook.Webhook => ({
  ...webhook,
  secrets: secrets.map(secretOf)
})

const optional = (stored: StoredWebhook | null): Option.Option<Webhook.Webhook> =>
  Option.map(Option.fromNullishOr(stored), webhookOf)

const held = "d.webhook_id = w.id and d.status = 'pending'"

export const findText = "select wac_webhook(w.id) as webhook from webhooks w where w.workspace_id = $1"

/** Until what a resume has skipped is written out, it is gone through. */
const notSkipped = "d.position > w.skipped_until"

/** What waits for it is counted in the index alone, unless something that was skipped is still in there. */
export const getText = `
  select wac_webhook(w.id) as webhook,
    case
      when w.paused_at is null then 0
      when w.replayed_from is null then (select count(*) from deliveries d where ${held})
      else (select count(*) from deliveries d where ${held} and ${notSkipped})
    end::double precision as held_count,
    case
      when w.paused_at is null then null
      when w.replayed_from is null then (
        select d.created_at from deliveries d where ${held} order by d.created_at limit 1
      )
      else (
        select d.created_at from deliveries d where ${held} and ${notSkipped} order by d.created_at limit 1
      )
    end::double precision as oldest_held_at,
    (
      select d.first_attempt_at from deliveries d
      where d.webhook_id = w.id and d.status = 'pending' and d.round_attempts > 0
        and d.first_attempt_at > coalesce(h.last_success_at, -9007199254740992)
        and d.resumed_at = coalesce(w.resumed_at, 0)
      order by d.first_attempt_at limit 1
    )::double precision as oldest_tried_at
  from webhooks w join webhook_health h on h.webhook_id = w.id
  where w.workspace_id = $1`

export const layer = Layer.effect(
  WebhookStore.WebhookStore,
  Effect.map(Effect.all([Database, asked]), ([{ query }, askedAt]) =>
    WebhookStore.WebhookStore.of({
      put: (candidate) =>
        Effect.map(
          query("WebhookStore.put", "select wac_put_webhook($1::text::json) as put", [
            JSON.stringify({ ...candidate, secrets: candidate.secrets.map(storedSecret) })
          ]),
          ([row]) => {
            const put = plain<{ readonly webhook: StoredWebhook; readonly created: boolean }>(row!, "put")
            return { webhook: webhookOf(put.webhook), created: put.created }
          }
        ),
      find: (workspaceId) =>
        Effect.map(query("WebhookStore.find", findText, [workspaceId]), ([row]) =>
          row === undefined ? Option.none() : optional(plain(row, "webhook"))),
      get: (workspaceId) =>
        Effect.map(query("WebhookStore.get", getText, [workspaceId]), ([row]) =>
          Option.map(Option.fromUndefinedOr(row), (row): WebhookStore.WebhookState => ({
            webhook: webhookOf(plain(row, "webhook")),
            heldCount: plain(row, "held_count"),
            oldestHeldAt: plain(row, "oldest_held_at"),
            oldestTriedAt: plain(row, "oldest_tried_at")
          }))),
      rotateSecret: ({ now, previousExpiresAt, secret, ...command }) =>
        Effect.map(
          query("WebhookStore.rotateSecret", "select wac_rotate_secret($1::text::json) as webhook", [
            JSON.stringify({
              ...command,
              now: askedAt(now),
              overlap: previousExpiresAt - now,
              secret: storedSecret({ sealed: secret, expiresAt: null })
            })
          ]),
          ([row]) =>
            optional(plain(row!, "webhook"))
        ),
      pause: (workspaceId, now) =>
        Effect.map(
          query("WebhookStore.pause", "select wac_pause_webhook($1, coalesce($2, wac_now())) as webhook", [
            workspaceId,
            askedAt(now) ?? null
          ]),
          ([row]) =>
            optional(plain(row!, "webhook"))
        ),
      resume: ({ now, replay, workspaceId }) =>
        Effect.map(
          query("WebhookStore.resume", "select wac_resume_webhook($1::text::json) as webhook", [
            JSON.stringify({
              workspaceId,
              now: askedAt(now),
              ...typeof replay === "string" ? { replay } : { replay: "since", ...replay }
            })
          ]),
          ([row]) =>
            optional(plain(row!, "webhook"))
        ),
      remove: (workspaceId: Id.WorkspaceId, now: Time.Instant): Effect.Effect<boolean, StoreError.StoreError> =>
        Effect.map(
          query("WebhookStore.remove", "select wac_remove_webhook($1, coalesce($2, wac_now())) as removed", [
            workspaceId,
            askedAt(now) ?? null
          ]),
          ([row]) =>
            plain(row!, "removed")
        )
    }))
)
