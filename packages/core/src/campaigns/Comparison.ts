/**
 * Compares the two variants of a campaign's template (contract §11): the share of each variant's messages that was
 * delivered and read, and whether the difference is statistically significant. Pure.
 */
import * as CampaignCounts from "./CampaignCounts.ts"
import * as CampaignTally from "./CampaignTally.ts"
import type { Variant } from "./Variant.ts"

/** How many messages (`count`) of a number of messages (`of`) reached a stage. */
export interface Share {
  readonly count: number
  readonly of: number
}

/** The quantile of the normal distribution for a 95 % interval. */
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
  /** The lower end of the interval. */
  readonly low: number
  /** The upper end of the interval. */
  readonly high: number
  /** Whether the difference is significant: the interval does not contain 0. */
  readonly isDistinguishable: boolean
}

/**
 * The difference of two shares of at least one message each, by Newcombe's hybrid score interval: method 10 in R. G.
 * Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17, 1998.
 * Unlike the simple (Wald) interval, it is valid for few messages and for shares near 0 or 1.
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
  /** The shares that arrived at the phone; `null` until messages of both variants were tried. */
  readonly delivered: Difference | null
  /** The shares that the customers read; `null` likewise. */
  readonly read: Difference | null
}

/** The outcomes of messages that were never tried, which say nothing about the template. */
const untried = ["queued", "skipped"] as const satisfies ReadonlyArray<CampaignCounts.Outcome>

/** Compares the variants by the tallies of their campaign. Each share is a share of the messages that were tried. */
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
