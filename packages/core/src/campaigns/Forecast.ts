/**
 * What is to be expected of a campaign (contract §11), estimated when its recipients are checked. Pure.
 */
import { Duration } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import * as ServiceWindow from "../contacts/ServiceWindow.ts"
import * as Limits from "../limits/Limits.ts"
import * as MessagingLimit from "../limits/MessagingLimit.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import type { Instant } from "../Time.ts"

/** The estimate. Other sends, quiet hours and failures make the campaign take longer. */
export interface Forecast {
  /** How many messages are sent. */
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limitedCustomers: number
  /** The messaging limit in 24 hours; `null` if there is none. */
  readonly messagingLimit: number | null
  /** How many days the messaging limit makes it take; `null` if it is 0. */
  readonly days: number | null
  /** How long it takes at its pace, in seconds. */
  readonly seconds: number
}

/** Whether a message to this customer would count against the messaging limit now. */
export const isLimited = (contact: Contact | undefined, now: Instant): boolean =>
  !ServiceWindow.isOpen(contact?.lastInboundAt ?? null, now)

/** The estimate for this many messages to customers from a number. */
export const of = (
  { limitedCustomers, messages, share }: {
    readonly messages: number
    readonly limitedCustomers: number
    readonly share: number
  },
  sender: PhoneNumber.PhoneNumber,
  limits: Limits.Limits
): Forecast => {
  const messagingLimit = PhoneNumber.messagingLimitOf(sender) ?? limits.defaults.messagingLimit
  const days = messagingLimit === null || limitedCustomers <= messagingLimit
    ? 1
    : messagingLimit === 0
    ? null
    : Math.ceil(limitedCustomers / messagingLimit)
  const atPace = messages / (Limits.phoneNumberTier(limits, PhoneNumber.tierOf(sender)).perSecond * share)
  // the last day's messages follow once the day before is over
  const waits = ((days ?? 1) - 1) * Duration.toSeconds(MessagingLimit.period)
  return { messages, limitedCustomers, messagingLimit, days, seconds: Math.ceil(Math.max(atPace, waits)) }
}
