/**
 * A customer's message as it is stored for the conversation (contract §13). Pure.
 */
import type { Schema } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import type { MessageId, PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { E164 } from "../numbers/E164.ts"
import type { Instant } from "../Time.ts"
import type { InboundMessage } from "./InboundMessage.ts"

/** A stored message of a customer. */
export interface ReceivedMessage {
  readonly id: MessageId
  readonly workspaceId: WorkspaceId
  readonly phoneNumberId: PhoneNumberId
  /** The provider's identifier. */
  readonly providerMessageId: string
  /** The customer, as the recipient of a send is named: the phone number, or the user id if the number is not known. */
  readonly from: string
  /** The customer's user id; `null` if it is not known. */
  readonly fromUserId: string | null
  /** The number that the customer wrote to. */
  readonly to: E164
  /** The event's `data.type`. */
  readonly type: string
  /** The value in the event's `data` under the name of the type. */
  readonly content: Schema.Json
  readonly context: Schema.Json | null
  /** The message's own time, according to the provider. */
  readonly receivedAt: Instant
}

/** The stored fields of a message that a customer wrote to a number. */
export const of = (
  { at, content, context, customer: { phone, userId }, providerMessageId, type }: InboundMessage,
  number: { readonly id: PhoneNumberId; readonly workspaceId: WorkspaceId; readonly phoneNumber: E164 },
  id: MessageId
): ReceivedMessage => ({
  id,
  workspaceId: number.workspaceId,
  phoneNumberId: number.id,
  providerMessageId,
  from: phone ?? userId,
  fromUserId: userId,
  to: number.phoneNumber,
  type,
  content,
  context,
  receivedAt: at
})

/** What replaces a message's content when the content is deleted. */
export const deletedContent = { content: {}, context: null } satisfies Partial<ReceivedMessage>

/** The message without its content. */
export const withoutBody = (message: ReceivedMessage): ReceivedMessage => ({ ...message, ...deletedContent })

/** A message, and the customer to whose conversation it belongs. */
export interface ConversationMessage {
  readonly message: ReceivedMessage
  /** The key of the customer's contact. */
  readonly customer: Contact["key"]
}
