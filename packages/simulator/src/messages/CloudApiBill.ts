/**
 * The charges of the simulated Cloud API. A message that is not free costs the price of its category in the market of
 * the customer's number, once it is reported as delivered or read.
 */
import { Schema } from "effect"

/** The facts on which a message's price depends. */
interface Chargeable {
  readonly customer: string
  readonly category: string
  readonly isFree: boolean
}

/** The price of a message of a category in a market, in millionths of a dollar. */
export const Rate = Schema.Struct({
  market: Schema.String,
  /** The digits that the numbers of the market begin with; the longest counts. */
  prefix: Schema.String.check(Schema.isPattern(/^\d{0,15}$/)),
  /** Such as `marketing`. */
  category: Schema.String,
  price: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})
export type Rate = typeof Rate.Type

/** The messages of a market and a category, and what they cost in millionths of a dollar. */
export interface Line {
  readonly market: string
  readonly category: string
  readonly messages: number
  readonly amount: number
}

export interface Bill {
  /** Charges a message that has reached its customer: once, however often it is reported. */
  readonly reached: (message: Chargeable) => void
  /** The charges, in the order in which they first arose. */
  readonly lines: () => ReadonlyArray<Line>
}

/** The market of numbers without a rate. Their messages cost nothing. */
const nowhere = "none"

const rateOf = (rates: ReadonlyArray<Rate>, { category, customer }: Chargeable): Rate | undefined =>
  rates
    .filter((rate) => rate.category === category && customer.startsWith(rate.prefix))
    .reduce<Rate | undefined>(
      (longest, rate) => longest === undefined || rate.prefix.length > longest.prefix.length ? rate : longest,
      undefined
    )

export const make = (rates: () => ReadonlyArray<Rate>): Bill => {
  const charged = new WeakSet<Chargeable>()
  const lines = new Map<string, Line>()
  return {
    reached: (message) => {
      if (message.isFree || charged.has(message)) return
      charged.add(message)
      const { category } = message
      const { market, price } = rateOf(rates(), message) ?? { market: nowhere, price: 0 }
      const name = JSON.stringify([market, category])
      const { amount, messages } = lines.get(name) ?? { messages: 0, amount: 0 }
      lines.set(name, { market, category, messages: messages + 1, amount: amount + price })
    },
    lines: () => [...lines.values()]
  }
}
