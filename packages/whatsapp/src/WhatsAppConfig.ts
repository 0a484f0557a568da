/**
 * The operator's Cloud API settings (contract §8). Types and one constant; no effects.
 */
import type { Access } from "./CloudApi.ts"

/** The provider's name (`Provider.name`), which its phone numbers have as their `provider`. */
export const providerName = "whatsapp"

/** The credentials of numbers without their own, and the first workspace's phone number. */
export interface WhatsAppConfig extends Access {
  readonly phoneNumberId: string
  readonly businessAccountId: string
}
