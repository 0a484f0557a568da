/**
 * The forecast of a campaign (contract §11): its messages, duration and costs, estimated when its recipients are
 * checked. Pure.
 */
import * as Limits from "../limits/Limits.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import type { Capabilities } from "../provider/Capabilities.ts"
import type { Instant } from "../Time.ts"
import type { Price } from "../usage/PriceTally.ts"
import * as RateCard from "../usage/RateCard.ts"
import * as QuietHours from "./QuietHours.ts"
import * as SendingTime from "./SendingTime.ts"

/** The forecast. Other sends, quiet hours and failures make the campaign take longer. */
export interface Forecast extends SendingTime.Extent {
  /** How many of the messages are not sent, because the quiet hours of their customers never end. */
  readonly alwaysQuiet: number
  /** How long the campaign takes at its pace and under the messaging limit, in seconds. */
  readonly seconds: number
  /** The number's rate when the recipients were checked, in messages a second; `null` if an earlier version checked them. */
  readonly perSecond: number | null
  /** The messages by their expected price, and their cost by the rate card. */
  readonly lines: RateCard.Bill["lines"]
  /** The sum of {@link lines} in each currency; empty without a rate card. */
  readonly costs: RateCard.Bill["totals"]
}

/** How many messages are expected to have a price. */
export interface Expected extends Price {
  readonly messages: number
}

/** How many messages go to customers in these countries whose time zone is not known. */
export interface Zoneless {
  readonly countries: ReadonlyArray<string>
  readonly messages: number
}

/** Adds one message for each of these lists of countries. */
export const withZoneless = (
  before: ReadonlyArray<Zoneless>,
  lists: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<Zoneless> => {
  const counts = new Map(before.map((zoneless) => [zoneless.countries.join(), zoneless]))
  for (const countries of lists) {
    const name = countries.join()
    counts.set(name, { countries, messages: (counts.get(name)?.messages ?? 0) + 1 })
  }
  return [...counts.values()]
}

/** What decides which quiet hours never end: those of customers without a time zone, and when the campaign starts. */
interface Nights {
  readonly quietHours: QuietHours.QuietHours | null
  readonly zoneless: ReadonlyArray<Zoneless>
  readonly at: Instant
}

const alwaysQuietOf = ({ at, quietHours, zoneless }: Nights): number =>
  zoneless.reduce(
    (sum, { countries, messages }) =>
      quietHours !== null && QuietHours.isAlwaysQuiet(quietHours, countries, at) ? sum + messages : sum,
    0
  )

const nameOf = ({ billable, category, market, type }: Price): string =>
  JSON.stringify([market, category, type, billable])

/** Adds one message for each of these prices. */
export const withExpected = (
  before: ReadonlyArray<Expected>,
  prices: ReadonlyArray<Price>
): ReadonlyArray<Expected> => {
  const counts = new Map(before.map((expected) => [nameOf(expected), expected]))
  for (const price of prices) {
    const name = nameOf(price)
    counts.set(name, { ...price, messages: (counts.get(name)?.messages ?? 0) + 1 })
  }
  return [...counts.values()]
}

/** The forecast for messages at these prices that a number sends from the time `at` on. */
export const of = (
  { expected, limitedCustomers, share, ...nights }: Nights & {
    readonly expected: ReadonlyArray<Expected>
    readonly limitedCustomers: number
    readonly share: number
  },
  { capabilities, sender }: { readonly sender: PhoneNumber.PhoneNumber; readonly capabilities: Capabilities },
  limits: Limits.Limits,
  card: RateCard.RateCard
): Forecast => {
  const messages = expected.reduce((sum, { messages }) => sum + messages, 0)
  // a channel without service windows has no messaging limit
  const messagingLimit = capabilities.serviceWindow
    ? PhoneNumber.messagingLimitOf(sender, limits.defaults.messagingLimit)
    : null
  const days = messagingLimit === null || limitedCustomers <= messagingLimit
    ? 1
    : messagingLimit === 0
    ? null
    : Math.ceil(limitedCustomers / messagingLimit)
  const { perSecond } = Limits.phoneNumberTier(limits, PhoneNumber.tierOf(sender))
  const extent = { messages, limitedCustomers, messagingLimit, days }
  const seconds = SendingTime.seconds(extent, perSecond * share)
  const forecast = { ...extent, alwaysQuiet: alwaysQuietOf(nights), seconds, perSecond, lines: [], costs: [] }
  return withPrices(forecast, { at: nights.at, expected }, card)
}

/** The forecast of a campaign that is now to start at the time `at`, from which its prices may differ. */
export const withPrices = (
  forecast: Forecast,
  { at, expected }: { readonly expected: ReadonlyArray<Expected>; readonly at: Instant },
  card: RateCard.RateCard
): Forecast => {
  // an earlier version checked the recipients, and did not keep what they are expected to cost
  if (expected.length === 0) return forecast
  const { lines, totals } = RateCard.bill(card, expected.map((price) => ({ ...price, hour: at })))
  return { ...forecast, lines, costs: totals }
}

/** The forecast of a campaign that now has these quiet hours, or starts at another time. */
export const withNights = (forecast: Forecast, nights: Nights): Forecast => ({
  ...forecast,
  alwaysQuiet: alwaysQuietOf(nights)
})

/** The forecast of a campaign that now uses this share of its number's rate. */
export const withShare = (forecast: Forecast, share: number): Forecast =>
  forecast.perSecond === null
    ? forecast
    : { ...forecast, seconds: SendingTime.seconds(forecast, forecast.perSecond * share) }
