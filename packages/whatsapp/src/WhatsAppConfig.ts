/**
 * What the operator sets of the Cloud API (contract §8).
 */
import type { Access } from "./CloudApi.ts"

/** What the provider is called (`Provider.name`), and so its numbers' `provider`. */
export const providerName = "whatsapp"

/** The access that numbers without one of their own have, and the number that the first workspace begins with. */
export interface WhatsAppConfig extends Access {
  readonly phoneNumberId: string
  readonly businessAccountId: string
}
