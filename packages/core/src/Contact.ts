/**
 * Contacts (contract §7): one customer as seen from one phone number of a workspace, with the service window and the
 * wish not to be written to.
 */
import type { PhoneNumberId, WorkspaceId } from "./Id.ts"
import type { E164 } from "./PhoneNumber.ts"
import type { Instant } from "./Time.ts"

export interface Contact {
  readonly workspaceId: WorkspaceId
  readonly phoneNumberId: PhoneNumberId
  readonly customer: E164
  /** Timestamp of the newest inbound message; opens the window. `null`: the customer never wrote. */
  readonly lastInboundAt: Instant | null
  readonly optedOut: boolean
}

const optOutWords = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"])
const optInWords = new Set(["START", "UNSTOP"])

/**
 * What an inbound text says about being written to: it counts only when it is exactly one of the words, in any case;
 * white space around it is not part of what the customer said.
 */
export const preferenceOf = (text: string): "opt_out" | "opt_in" | undefined => {
  const word = text.trim().toUpperCase()
  return optOutWords.has(word) ? "opt_out" : optInWords.has(word) ? "opt_in" : undefined
}
