/**
 * The capabilities of a provider's channel (contract §16). If a channel lacks one, the rules about it are not enforced,
 * and messages that need it are refused. Pure.
 */
import * as CustomerNames from "../contacts/CustomerNames.ts"
import { InvalidBody } from "../Errors.ts"
import type { MessageType, OutboundMessage } from "../messages/Message.ts"
import * as MessageFiles from "../messages/MessageFiles.ts"

/** What a provider's channel supports. */
export interface Capabilities {
  /**
   * Free-form messages are allowed only within 24 hours after the recipient last wrote, and a number's customers
   * outside a window count against its messaging limit.
   */
  readonly serviceWindow: boolean
  /** Approved templates. */
  readonly templates: boolean
  /** Images, videos, recordings, documents and stickers. */
  readonly media: boolean
  /** Files that are stored in this service. Files by link only need `media`. */
  readonly uploads: boolean
  readonly location: boolean
  readonly contacts: boolean
  /** Buttons, lists and the like. */
  readonly interactive: boolean
  readonly reactions: boolean
  /** Messages that quote another one. */
  readonly quotes: boolean
  /** Reports to the customer that a message was read, and that somebody types. */
  readonly readMarks: boolean
  /** Customers who are addressed by a user id instead of a phone number. */
  readonly userIds: boolean
}

/** The capability that each kind of message needs; `null` if every channel has it. */
const needs: { readonly [kind in MessageType]: keyof Capabilities | null } = {
  text: null,
  template: "templates",
  image: "media",
  audio: "media",
  video: "media",
  document: "media",
  sticker: "media",
  location: "location",
  contacts: "contacts",
  interactive: "interactive",
  reaction: "reactions"
}

/** The capabilities of a channel that supports everything, such as WhatsApp. */
export const all: Capabilities = {
  serviceWindow: true,
  templates: true,
  media: true,
  uploads: true,
  location: true,
  contacts: true,
  interactive: true,
  reactions: true,
  quotes: true,
  readMarks: true,
  userIds: true
}

/** The capabilities of a channel that only carries texts between phone numbers. */
export const none: Capabilities = {
  serviceWindow: false,
  templates: false,
  media: false,
  uploads: false,
  location: false,
  contacts: false,
  interactive: false,
  reactions: false,
  quotes: false,
  readMarks: false,
  userIds: false
}

/** The names of all capabilities. */
export const names = Object.keys(all) as ReadonlyArray<keyof Capabilities>

/** The capabilities that a channel lacks. */
export const missingIn = (capabilities: Capabilities): ReadonlyArray<keyof Capabilities> =>
  names.filter((name) => !capabilities[name])

/** Whether a channel can carry a kind of message. */
export const hasKind = (capabilities: Capabilities, kind: MessageType): boolean => {
  const needed = needs[kind]
  return needed === null || capabilities[needed]
}

/** The capabilities that a message needs, each with the field that needs it. */
const neededBy = (
  message: OutboundMessage
): ReadonlyArray<readonly [capability: keyof Capabilities | null, param: string]> => [
  [needs[message.type], "type"],
  ["context" in message && message.context !== undefined ? "quotes" : null, "context"],
  [CustomerNames.isUserId(message.to) ? "userIds" : null, "to"],
  ...MessageFiles.of(message).map(({ param }) => ["uploads", param] as const)
]

/** The refusal of a message that the channel cannot carry; undefined if it can. */
export const refusal = (capabilities: Capabilities, message: OutboundMessage): InvalidBody | undefined => {
  for (const [capability, param] of neededBy(message)) {
    if (capability === null || capabilities[capability]) continue
    return new InvalidBody({
      reason: "invalid_field",
      param,
      message: param === "type"
        ? `the provider does not have messages of type ${message.type} (capability ${capability})`
        : `the provider does not support ${param} (capability ${capability})`
    })
  }
  return undefined
}

/**
 * The refusal of a typing indicator; undefined if the channel has read marks. Without them, marking a message as read
 * is allowed and only changes what is stored here.
 */
export const typingRefusal = (capabilities: Capabilities, isTyping: boolean): InvalidBody | undefined =>
  isTyping && !capabilities.readMarks
    ? new InvalidBody({
      reason: "invalid_field",
      param: "typing",
      message: "the provider does not support typing (capability readMarks)"
    })
    : undefined
