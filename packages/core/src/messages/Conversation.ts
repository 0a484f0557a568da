/**
 * Conversations (contract §13): what was sent to a customer and what the customer wrote, in one order. Pure.
 */
import { Schema } from "effect"
import type { Contact } from "../contacts/Contact.ts"
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

/**
 * Names that lead to another customer from now on: what was said under them stays with the customer who had them
 * (contract §13).
 */
export interface Moved {
  readonly workspaceId: WorkspaceId
  readonly phoneNumberId: PhoneNumberId
  readonly names: ReadonlyArray<string>
  /** The key of the contact of the customer who had the names. */
  readonly to: Contact["key"]
}
