/**
 * Assigns a campaign's customers to groups, at random but reproducibly (contract §11). Pure.
 */
import type { Contact } from "../contacts/Contact.ts"
import type { CampaignId } from "../Id.ts"

/** FNV-1a with the final mixing step of MurmurHash3, so that every bit of the input changes every bit of the result. */
const hash = (text: string): number => {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35)
  return (sum ^ (sum >>> 16)) >>> 0
}

/** What customers are assigned for. A customer's groups for different purposes are independent. */
export type Purpose = "holdout" | "variant"

/** Whether a customer is in a share of the campaign's customers, from 0 to 1. */
export const isIn = (share: number, purpose: Purpose, campaign: CampaignId, customer: Contact["key"]): boolean =>
  hash(`${purpose}\n${campaign}\n${customer}`) < share * 2 ** 32
