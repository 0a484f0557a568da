/**
 * What messages refer to (contract §9, §10): a message that they quote or react to, and files.
 */
import type { MediaId, MessageId, PhoneNumberId } from "../Id.ts"

/** A message of a conversation, ours or the customer's, as others refer to it. */
export interface Named {
  readonly messageId: MessageId
  readonly phoneNumberId: PhoneNumberId
  /** `Contact.keyFor` the customer. */
  readonly customer: string
  /** `null`: the provider has not named it. */
  readonly providerMessageId: string | null
}

/** What a message refers to, in the provider's names. */
export interface Resolved {
  /** The message that it quotes or reacts to. */
  readonly quoted: string | null
  readonly mediaIds: ReadonlyMap<MediaId, string>
}

/** Of a message that refers to nothing. */
export const none: Resolved = { quoted: null, mediaIds: new Map() }
