/**
 * Conversations (contract §13): the messages that were sent to a customer and those that the customer wrote, in one
 * order. Pure.
 */
import { Schema } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import { InvalidBody } from "../Errors.ts"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { ReceivedMessage } from "../inbound/ReceivedMessage.ts"
import type { Message } from "./Message.ts"

/** `inbound` is from the customer to a number of the workspace. */
export const Direction = Schema.Literals(["inbound", "outbound"])
export type Direction = typeof Direction.Type

/** A message of a conversation. */
export type Entry =
  | { readonly direction: "outbound"; readonly message: Message }
  | { readonly direction: "inbound"; readonly message: ReceivedMessage }

/** Which messages to list: those of one customer, in one direction or both; or whatever any customer wrote. */
export type Filter =
  | { readonly names: ReadonlyArray<string>; readonly direction: Direction | undefined }
  | { readonly names: undefined; readonly direction: "inbound" }

/** What a caller asks for: the conversation with a customer, by any of their names, or what any customer wrote. */
export interface Query {
  readonly contact?: string
  readonly direction?: Direction
}

/** Whether a query is for conversations, and not for the list of sent messages. */
export const isAskedFor = ({ contact, direction }: Query): boolean => contact !== undefined || direction === "inbound"

/** Refuses a query for conversations with any of these filters, which only apply to sent messages. */
export const refusal = (filters: { readonly [filter: string]: unknown }): InvalidBody | undefined => {
  const param = Object.keys(filters).find((name) => filters[name] !== undefined)
  return param === undefined ? undefined : new InvalidBody({
    reason: "invalid_field",
    param,
    message: `${param} cannot be combined with contact or direction=inbound`
  })
}

/** The content of a sent message, in a field with the name of its type, and its `context` if it quotes a message. */
export const contentOf = ({ content }: Pick<Message, "content">): { readonly [field: string]: unknown } => ({
  [content.type]: (content as { readonly [type: string]: unknown })[content.type],
  ...("context" in content && content.context !== undefined ? { context: content.context } : {})
})

/**
 * Names that another customer has from now on. The messages under these names stay in the conversation of the customer
 * who had the names before (contract §13).
 */
export interface Reassignment {
  readonly workspaceId: WorkspaceId
  readonly phoneNumberId: PhoneNumberId
  readonly names: ReadonlyArray<string>
  /** The contact's key of the customer who had the names before. */
  readonly to: Contact["key"]
}
