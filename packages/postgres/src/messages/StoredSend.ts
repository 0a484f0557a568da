/**
 * Messages and their idempotency keys, read from rows of `messages` in JSON.
 */
import type { AbandonStep, AcceptStep, Idempotency, Message, Send } from "@wac/core"
import { storedAnswerOf } from "./StoredAnswer.ts"

/** A row of `messages` as `to_json` writes it. */
export interface StoredSend {
  readonly [column: string]: unknown
}

/** The message of a row. */
export const messageOf = (row: StoredSend): Message.Message =>
  ({
    id: row["id"],
    workspaceId: row["workspace_id"],
    apiKeyId: row["api_key_id"],
    campaignId: row["campaign_id"],
    variant: row["variant"],
    phoneNumberId: row["phone_number_id"],
    from: row["from_number"],
    content: row["content"],
    status: row["status"],
    statusAt: row["status_at"],
    providerMessageId: row["provider_message_id"],
    createdAt: row["created_at"],
    sentAt: row["sent_at"],
    deliveredAt: row["delivered_at"],
    readAt: row["read_at"],
    failedAt: row["failed_at"],
    error: row["error"],
    pricing: row["pricing"],
    playedAt: row["played_at"],
    isHeld: row["is_held"],
    sequence: row["sequence"]
  }) as Message.Message

const bindingOf = (row: StoredSend): Idempotency.Binding =>
  ({
    fingerprint: row["fingerprint"],
    messageId: row["id"],
    claim: row["claim_token"] === null ? null : { token: row["claim_token"], leaseUntil: row["lease_until"] },
    answer: storedAnswerOf(row["answer"]),
    lastFailure: storedAnswerOf(row["last_failure"]),
    expiresAt: row["expires_at"]
  }) as Idempotency.Binding

/** A message with its key, unless the key was deleted. */
export const sendOf = (row: StoredSend): Send.Send => ({
  message: messageOf(row),
  binding: row["key"] === null ? null : bindingOf(row),
  quotaMonth: row["quota_month"] as string | null,
  returnedMonth: row["returned_month"] as string | null
})

/** What a key is bound to. */
export const boundOf = (row: StoredSend, isBusy: boolean): AcceptStep.Bound => ({
  ...sendOf(row),
  binding: bindingOf(row),
  isBusy
})

/** A send, and what its last try changed. */
export const triedOf = (row: StoredSend): AbandonStep.Tried => ({
  ...sendOf(row),
  lastTry: {
    statusAtBefore: row["tried_before"],
    counted: row["counted_at"] === null ? null : { at: row["counted_at"], before: row["counted_before"] }
  } as AbandonStep.Tried["lastTry"]
})
