/**
 * How long a campaign sends (contract §11). The service and its pages share this file, so it imports nothing. Pure.
 */

/** After how many seconds a customer no longer counts against the messaging limit (`MessagingLimit.period`). */
export const limitPeriod = 24 * 60 * 60

/** What decides how long a campaign sends. */
export interface Extent {
  /** How many messages will be sent. */
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limitedCustomers: number
  /** The messaging limit in 24 hours; `null` if there is none. */
  readonly messagingLimit: number | null
  /** How many days the campaign takes under the messaging limit; `null` if the limit is 0. */
  readonly days: number | null
}

/**
 * The number of seconds, from its start, after which the messaging limit lets a campaign have sent to everybody at
 * `perSecond` messages a second: the messages of the last day only begin once the days before are over. 0 if all of it
 * fits in one day.
 */
export const limited = ({ days, limitedCustomers, messagingLimit }: Extent, perSecond: number): number => {
  if (messagingLimit === null || days === null || days === 1) return 0
  const before = days - 1
  return before * limitPeriod + (limitedCustomers - before * messagingLimit) / perSecond
}

/** How many seconds a campaign takes at `perSecond` messages a second, within the messaging limit. */
export const seconds = (extent: Extent, perSecond: number): number =>
  Math.ceil(Math.max(extent.messages / perSecond, limited(extent, perSecond)))
