/**
 * What messages refer to (contract §9, §10): the message they quote or react to, and files. Defines types only.
 */
import type { MediaId, MessageId, PhoneNumberId } from "../Id.ts"

/** A message of a conversation, sent by either side, that others can refer to. */
export interface NamedMessage {
  readonly messageId: MessageId
  readonly phoneNumberId: PhoneNumberId
  /** The key of the customer in whose conversation the message is (`Contact.keysOf`). */
  readonly customer: string
  /** `null` if the provider has not returned an identifier. */
  readonly providerMessageId: string | null
  /** Whether the provider may still return one: the message is queued, being sent, or its outcome is unknown. */
  readonly isOpen: boolean
}

/** A message's references, by the provider's identifiers. */
export interface ResolvedReferences {
  /** The message that it quotes or reacts to. */
  readonly quoted: string | null
  readonly mediaIds: ReadonlyMap<MediaId, string>
}

/** The references of a message that refers to nothing. */
export const none: ResolvedReferences = { quoted: null, mediaIds: new Map() }
