/**
 * Compares the two variants of a campaign's template (contract §11): what share of each variant's messages was
 * delivered and read, and whether the difference can be told from chance. Pure.
 */
import * as CampaignCounts from "./CampaignCounts.ts"
import * as CampaignTally from "./CampaignTally.ts"
import type { Variant } from "./Variant.ts"

/** How many of some messages came so far. */
export interface Share {
  readonly count: number
  readonly of: number
}

/** The quantile of the normal distribution for an interval that covers the truth in 95 of 100 campaigns. */
const z = 1.959963984540054

/**
 * The Wilson score interval of a share (E. B. Wilson, Journal of the American Statistical Association 22, 1927).
 */
const wilson = ({ count, of }: Share): readonly [low: number, high: number] => {
  const rate = count / of
  const center = rate + z ** 2 / (2 * of)
  const spread = z * Math.sqrt((rate * (1 - rate) + z ** 2 / (4 * of)) / of)
  const scale = 1 + z ** 2 / of
  return [(center - spread) / scale, (center + spread) / scale]
}

/** The difference of two shares with its 95 % confidence interval. */
export interface Difference {
  /** The share of variant `a`, from 0 to 1. */
  readonly a: number
  /** The share of variant `b`. */
  readonly b: number
  /** `b` less `a`. */
  readonly difference: number
  /** The least difference that the counts are compatible with. */
  readonly low: number
  /** The greatest difference that the counts are compatible with. */
  readonly high: number
  /** Whether the difference can be told from chance: the interval does not contain 0. */
  readonly isDistinguishable: boolean
}

/**
 * The difference of two shares of at least one message each, by Newcombe's hybrid score interval: method 10 in R. G.
 * Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17, 1998.
 * It holds for few messages and for shares near 0 or 1, for which the textbook's interval is wrong.
 */
export const difference = (a: Share, b: Share): Difference => {
  const [rateA, rateB] = [a.count / a.of, b.count / b.of]
  const [[lowA, highA], [lowB, highB]] = [wilson(a), wilson(b)]
  const difference = rateB - rateA
  const low = difference - Math.hypot(rateB - lowB, highA - rateA)
  const high = difference + Math.hypot(highB - rateB, rateA - lowA)
  return { a: rateA, b: rateB, difference, low, high, isDistinguishable: low > 0 || high < 0 }
}

/** The result of a campaign with two variants. */
export interface Comparison {
  readonly counts: { readonly [variant in Variant]: CampaignCounts.CampaignCounts }
  /** The shares that arrived at the phone; `null` until both variants were sent to somebody. */
  readonly delivered: Difference | null
  /** The shares that the customers read. */
  readonly read: Difference | null
}

/** The outcomes of messages that were never tried, so that they say nothing about the template. */
const untried = ["queued", "skipped"] as const satisfies ReadonlyArray<CampaignCounts.Outcome>

/** Compares the variants by the tallies of their campaign. Each share is one of the messages that were tried. */
export const of = (tallies: ReadonlyArray<CampaignTally.Tally>): Comparison => {
  const countsOf = (variant: Variant) => CampaignTally.countsOf(tallies.filter((tally) => tally.variant === variant))
  const counts = { a: countsOf("a"), b: countsOf("b") }
  const compare = (outcomes: ReadonlyArray<CampaignCounts.Outcome>): Difference | null => {
    const shareOf = (variant: Variant): Share => ({
      count: outcomes.reduce((sum, outcome) => sum + counts[variant][outcome], 0),
      of: untried.reduce((rest, outcome) => rest - counts[variant][outcome], CampaignCounts.total(counts[variant]))
    })
    const [a, b] = [shareOf("a"), shareOf("b")]
    return a.of === 0 || b.of === 0 ? null : difference(a, b)
  }
  return { counts, delivered: compare(["delivered", "read"]), read: compare(["read"]) }
}
