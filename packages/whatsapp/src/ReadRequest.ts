/**
 * The body that marks a customer's message as read, as the Cloud API documents it.
 */
import type { Schema } from "effect"

/** The request's body. The customer sees that somebody types until the next message comes, for at most 25 seconds. */
export const bodyOf = (providerMessageId: string, isTyping: boolean): { readonly [field: string]: Schema.Json } => ({
  messaging_product: "whatsapp",
  status: "read",
  message_id: providerMessageId,
  ...(isTyping ? { typing_indicator: { type: "text" } } : {})
})
