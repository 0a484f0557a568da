/**
 * The provider's prices as the operator has loaded them (contract §9, `WAC_RATE_CARD`), and what messages cost by them.
 * Pure.
 */
import { Context, Result } from "effect"
import { type Instant, iso } from "../Time.ts"
import type * as PriceTally from "./PriceTally.ts"

/** The price of a message of a category in a market, from a day on. */
export interface Rate {
  /** A country, ISO 3166-1 alpha-2, or {@link elsewhere}. */
  readonly market: string
  /** Such as `marketing`. */
  readonly category: string
  /** ISO 4217, such as `USD`. */
  readonly currency: string
  /** The price of one message, in millionths of the currency. */
  readonly price: number
  /** The start of the first day (UTC) for which it is valid. */
  readonly validFrom: Instant
}

/** All rates. From its first day on, a rate replaces earlier rates of the same market and category. */
export type RateCard = ReadonlyArray<Rate>

/** The market of a rate for every country that has no rate of its own. */
export const elsewhere = "*"

/** The rate card of this process; by default it is empty, and nothing has a cost. */
export const CurrentRateCard = Context.Reference<RateCard>("@wac/core/usage/RateCard/CurrentRateCard", {
  defaultValue: () => []
})

/** Prices are in millionths of the currency. */
const millionth = 1_000_000n

/** A rate as the operator writes it. */
export interface WrittenRate {
  /** A country (`DE`), or `*` for every country without a rate of its own. */
  readonly market: string
  readonly category: string
  /** Such as `USD`. */
  readonly currency: string
  /** The price of one message, in the currency's unit, with at most 6 digits after the point: `0.0456`. */
  readonly price: string
  /** The first day (UTC) for which it is valid: `2026-07-01`. */
  readonly validFrom: string
}

const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/

/** Reads a rate, or fails with the name of its first wrong field. Upper and lower case make no difference. */
export const parse = (
  { category, currency, market, price, validFrom }: WrittenRate
): Result.Result<Rate, keyof WrittenRate> => {
  if (!/^(?:[A-Za-z]{2}|\*)$/.test(market)) return Result.fail("market")
  if (!/^[a-zA-Z_]{1,64}$/.test(category)) return Result.fail("category")
  if (!/^[A-Za-z]{3}$/.test(currency)) return Result.fail("currency")
  const [, whole, fraction = ""] = /^([0-9]{1,6})(?:\.([0-9]{1,6}))?$/.exec(price) ?? []
  if (whole === undefined) return Result.fail("price")
  const from = day.test(validFrom) ? Date.parse(`${validFrom}T00:00:00Z`) : NaN
  // a day that does not exist is read as one of the next month
  if (Number.isNaN(from) || iso(from).slice(0, 10) !== validFrom) return Result.fail("validFrom")
  return Result.succeed({
    market: market.toUpperCase(),
    category: category.toLowerCase(),
    currency: currency.toUpperCase(),
    price: Number(whole) * Number(millionth) + Number(fraction.padEnd(6, "0")),
    validFrom: from
  })
}

/** The cost of some messages. */
export interface Cost {
  readonly currency: string
  /** In the currency's unit, with its fraction, such as `12.3456`. */
  readonly amount: string
  /** The day from which the rates that were used are valid, such as `2026-07-01`. */
  readonly ratesFrom: string
}

/** The messages of one price and rate. */
export interface Line extends PriceTally.Price {
  readonly messages: number
  /** `null` if nothing is charged for the messages, or if the rate card has no rate for them. */
  readonly cost: Cost | null
}

/** The messages by price, and what they cost. */
export interface Bill {
  /** The line with the most messages first. */
  readonly lines: ReadonlyArray<Line>
  /** The sum in each currency. */
  readonly totals: ReadonlyArray<Pick<Cost, "currency" | "amount">>
}

const placeOf = (market: string, category: string): string => `${market} ${category}`

const orders = new WeakMap<RateCard, ReadonlyMap<string, ReadonlyArray<Rate>>>()

/**
 * The rates of each market and category, the newest first; of two from the same day the later row. Kept with its card: a
 * report asks for a rate for each hour, and a card has thousands of rates.
 */
const orderOf = (card: RateCard): ReadonlyMap<string, ReadonlyArray<Rate>> => {
  const known = orders.get(card)
  if (known !== undefined) return known
  const order = new Map<string, Array<Rate>>()
  for (const rate of card.toReversed()) {
    const place = placeOf(rate.market, rate.category)
    const rates = order.get(place)
    if (rates === undefined) order.set(place, [rate])
    else rates.push(rate)
  }
  for (const rates of order.values()) rates.sort((a, b) => b.validFrom - a.validFrom)
  orders.set(card, order)
  return order
}

/** The rate for a message at a time: the newest rate of its market, or if it has none, the newest {@link elsewhere}. */
export const rateAt = (
  card: RateCard,
  { category, market }: Pick<PriceTally.Price, "category" | "market">,
  at: Instant
): Rate | undefined => {
  const order = orderOf(card)
  const newest = (of: string) => order.get(placeOf(of, category))?.find(({ validFrom }) => validFrom <= at)
  return newest(market) ?? newest(elsewhere)
}

/** An amount in millionths as a decimal number, with at least two digits after the point. */
const decimal = (amount: bigint): string => {
  const fraction = `${amount % millionth}`.padStart(6, "0").replace(/0{1,4}$/, "")
  return `${amount / millionth}.${fraction}`
}

/** Sums counts by price, and their cost. Messages have a cost unless they are known to be free or have no rate. */
export const bill = (card: RateCard, counts: ReadonlyArray<Omit<PriceTally.Count, "workspaceId">>): Bill => {
  const lines = new Map<
    string,
    { readonly priced: PriceTally.Price; readonly rate: Rate | undefined; messages: number }
  >()
  for (const { billable, category, hour, market, messages, type } of counts) {
    const rate = billable === false ? undefined : rateAt(card, { category, market }, hour)
    const name = JSON.stringify([market, category, type, billable, rate?.currency, rate?.price, rate?.validFrom])
    const known = lines.get(name)
    if (known !== undefined) known.messages += messages
    else lines.set(name, { priced: { market, category, type, billable }, rate, messages })
  }
  const totals = new Map<string, bigint>()
  const all = [...lines.values()].filter(({ messages }) => messages > 0).map(({ messages, priced, rate }): Line => {
    if (rate === undefined) return { ...priced, messages, cost: null }
    const amount = BigInt(messages) * BigInt(rate.price)
    totals.set(rate.currency, (totals.get(rate.currency) ?? 0n) + amount)
    return {
      ...priced,
      messages,
      cost: { currency: rate.currency, amount: decimal(amount), ratesFrom: iso(rate.validFrom).slice(0, 10) }
    }
  })
  return {
    lines: all.sort((a, b) => b.messages - a.messages),
    totals: Array.from(totals, ([currency, amount]) => ({ currency, amount: decimal(amount) }))
  }
}
