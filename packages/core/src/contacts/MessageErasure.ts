/**
 * What is left of messages when their customer is erased (contract §7). Pure.
 */
import * as Recipient from "../campaigns/Recipient.ts"
import type * as Id from "../Id.ts"
import type { IdempotencyKey } from "../messages/Idempotency.ts"
import type { Message, OutboundMessage } from "../messages/Message.ts"
import type { KeyedRequest } from "../messages/MessageStore.ts"
import * as Send from "../messages/Send.ts"
import type { Writes } from "../messages/Sends.ts"

/** What comes of erasing the customer of some messages. */
export interface Erasure {
  /** How many messages were erased. */
  readonly erased: number
  /** Messages that wait in campaigns, which have to skip them first. */
  readonly queued: ReadonlyArray<Id.MessageId>
  /** How many messages are being sent, so that they have to be looked at again. */
  readonly busy: number
  readonly writes: Writes
  /** The provider's identifiers that lead to their messages no longer. */
  readonly unnamed: ReadonlyArray<{ readonly providerMessageId: string; readonly messageId: Id.MessageId }>
  /** Messages of campaigns, whose keys are the customer, with other keys that name nobody. */
  readonly rekeyed: ReadonlyArray<
    Pick<KeyedRequest, "workspaceId" | "route" | "key"> & { readonly messageId: Id.MessageId }
  >
}

/** What a message says after its customer was erased. It is only listed, never sent. */
const emptied = ({ type }: OutboundMessage): OutboundMessage => ({ to: "", type, [type]: {} } as never)

/** Whether a message was emptied. */
export const isEmptied = ({ content }: Message): boolean => content.to === ""

/** Whether requests are answered by the send's key. A campaign's recipient never asks for an answer. */
const isAnswered = ({ binding, message }: Send.Send): boolean => binding !== null && message.campaignId === null

/** Another key for a message of a campaign: one that is no other's, and found by no recipient. */
const keyOf = (id: Id.MessageId) => `erased ${id}` as IdempotencyKey

/** A send in which nothing names the customer. While requests are answered by its key, the provider's identifier stays. */
const empty = (send: Send.Send): Send.Send => {
  const { binding, message } = send
  const { error, providerMessageId } = message
  return {
    ...send,
    message: {
      ...message,
      content: emptied(message.content),
      providerMessageId: isAnswered(send) ? providerMessageId : null,
      error: error && { code: error.code, message: "the customer was erased" }
    },
    binding: binding && { ...binding, lastFailure: null, answer: isAnswered(send) ? binding.answer : null }
  }
}

/** The quota that messages give back, each month once. */
const quotasOf = (removed: ReadonlyArray<Send.Send>): Writes["quotas"] => {
  const quotas = new Map<string, Writes["quotas"][number]>()
  for (const send of removed) {
    const { quota } = Send.giveQuotaBack(Send.unchanged(send))
    if (quota === null) continue
    const name = `${quota.workspaceId} ${quota.month}`
    quotas.set(name, { ...quota, messages: (quotas.get(name)?.messages ?? 0) + 1 })
  }
  return [...quotas.values()]
}

/**
 * Decides what becomes of sends, each of them of the customer's or emptied before. A message that was certainly not sent
 * is deleted with its key. Any other keeps its id, times and status, so that counts stay right. Safe to repeat.
 */
export const erase = (sends: ReadonlyArray<Send.Send>): Erasure => {
  const queued: Array<Id.MessageId> = []
  const removed: Array<Send.Send> = []
  const kept: Array<Send.Send> = []
  let busy = 0
  for (const send of sends) {
    const { binding, message } = send
    const waits = message.status === "queued" || message.status === "sending"
    if (waits && binding !== null && binding.claim !== null) busy++
    else if (waits && message.campaignId !== null) queued.push(message.id)
    else if (waits) removed.push(send)
    // what was emptied before is emptied again once its key is gone, for the sake of the provider's identifier
    else if (!isEmptied(message) || message.providerMessageId !== null && !isAnswered(send)) kept.push(send)
  }
  return {
    erased: removed.length + kept.length,
    queued,
    busy,
    writes: {
      sends: kept.map(empty),
      removed: removed.map(({ message }) => message.id),
      quotas: quotasOf(removed),
      names: [],
      deadlines: [],
      dequeued: [],
      tallies: [],
      priced: [],
      events: []
    },
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
