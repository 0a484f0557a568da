/**
 * Decides what remains of messages after their customer was erased (contract §7). Pure.
 */
import * as Recipient from "../campaigns/Recipient.ts"
import type * as Id from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import * as KeyedMessage from "../messages/KeyedMessage.ts"
import { isErased, type MessageError, type OutboundMessage } from "../messages/Message.ts"
import type { KeyedRequest } from "../messages/MessageStore.ts"
import { SendBatch, type Writes } from "../messages/SendBatch.ts"

/** The result of erasing the customer from messages. */
export interface Erasure {
  /** How many messages were erased. */
  readonly erased: number
  /** Messages that campaigns queued. Their campaigns must skip them first. */
  readonly queued: ReadonlyArray<Id.MessageId>
  /** How many messages are being sent. Erase them again later. */
  readonly busy: number
  readonly writes: Writes
  /** Provider identifiers by which messages are no longer found. */
  readonly unnamed: ReadonlyArray<{ readonly providerMessageId: string; readonly messageId: Id.MessageId }>
  /** New idempotency keys for campaigns' messages, because their present keys are the customer's names. */
  readonly rekeyed: ReadonlyArray<
    Pick<KeyedRequest, "workspaceId" | "route" | "key"> & { readonly messageId: Id.MessageId }
  >
}

/** The content of a message after its customer was erased. It is only listed, never sent. */
const emptied = ({ type }: OutboundMessage): OutboundMessage => ({ to: "", type, [type]: {} } as never)

/**
 * Whether a repeated request with the send's idempotency key gets the stored answer. No request repeats a campaign's
 * message.
 */
const isAnswered = ({ binding, message }: KeyedMessage.KeyedMessage): boolean =>
  binding !== null && message.campaignId === null

/** A new idempotency key for a message of a campaign. It is unique, and no recipient's name leads to it. */
const keyOf = (id: Id.MessageId) => `erased ${id}` as IdempotencyKey

/** An error without the provider's text. Its code and reason stay, because they decide what later reports change. */
const erasedError = ({ code, reason }: MessageError): MessageError => ({
  code,
  ...(reason === undefined ? {} : { reason }),
  message: "the customer was erased"
})

/**
 * A send in which nothing names the customer. The provider's identifier stays as long as repeated requests get the
 * stored answer.
 */
const empty = (send: KeyedMessage.KeyedMessage): KeyedMessage.KeyedMessage => {
  const { binding, message } = send
  const { error, providerMessageId } = message
  return {
    ...send,
    message: {
      ...message,
      content: emptied(message.content),
      providerMessageId: isAnswered(send) ? providerMessageId : null,
      error: error && erasedError(error)
    },
    binding: binding && { ...binding, lastFailure: null, answer: isAnswered(send) ? binding.answer : null }
  }
}

/**
 * Decides what happens to sends. Each of them must be to the customer, or emptied before. A message that was certainly
 * not sent is deleted with its idempotency key. Any other keeps its id, times and status, so that counts stay right.
 * Safe to repeat.
 */
export const erase = (sends: ReadonlyArray<KeyedMessage.KeyedMessage>): Erasure => {
  const queued: Array<Id.MessageId> = []
  const kept: Array<KeyedMessage.KeyedMessage> = []
  const removals = new SendBatch({ send: () => undefined })
  let erased = 0
  let busy = 0
  for (const send of sends) {
    const { binding, message } = send
    const waits = message.status === "queued" || message.status === "sending"
    if (waits && binding !== null && binding.claim !== null) busy++
    else if (waits && message.campaignId !== null) queued.push(message.id)
    else if (waits) {
      removals.remove(KeyedMessage.giveQuotaBack(KeyedMessage.unchanged(send)))
      erased++
      // an emptied message is emptied again once its key is gone, to remove the provider's identifier
    } else if (!isErased(message) || message.providerMessageId !== null && !isAnswered(send)) {
      kept.push(send)
      erased++
    }
  }
  return {
    erased,
    queued,
    busy,
    // statuses stay the same, so no counts change
    writes: { ...removals.writes(), sends: kept.map(empty) },
    unnamed: kept.flatMap((send) => {
      const { id, providerMessageId } = send.message
      return providerMessageId === null || isAnswered(send) ? [] : [{ providerMessageId, messageId: id }]
    }),
    rekeyed: kept.flatMap(({ binding, message: { campaignId, id, workspaceId } }) =>
      binding === null || campaignId === null
        ? []
        : [{ messageId: id, workspaceId, route: Recipient.routeOf(campaignId), key: keyOf(id) }]
    )
  }
}
