/**
 * Formats the results that only `deliveries` prints.
 */
import type { Latency } from "./DeliveryContestant.ts"
import * as LiveRounds from "./LiveRounds.ts"
import * as Redis from "./Redis.ts"
import * as Report from "./Report.ts"
import type { Measured } from "./Rounds.ts"
import { median } from "./Statistics.ts"
import type * as SteadyRounds from "./SteadyRounds.ts"

export interface Plan extends SteadyRounds.Plan {
  readonly webhooks: number
  /** The number of events in a backlog. */
  readonly events: number
}

export const load = (plan: Plan, concurrency: number, redis: Redis.Redis | undefined): string =>
  [
    ...(redis === undefined
      ? []
      : [
        `Redis ${redis.version} with ${
          Object.entries(Redis.settings).map(([name, value]) => `${name}=${value}`).join(" ")
        }`
      ]),
    `${plan.webhooks} webhooks of one receiver, ${concurrency} attempts at once; ${plan.rounds} interleaved rounds of ` +
    `${Report.whole(plan.events)} events, and of ${plan.seconds} s at ${plan.perSecond} events/s; ` +
    "each contestant warmed up with one more"
  ].join("\n")

const rate = ({ rounds }: Measured): number => median(rounds.map(({ perSecond }) => perSecond))

/** Compares the first contestant (ours) with the others; the last one is the upper limit. */
export const ratios = (measured: ReadonlyArray<Measured>): string => {
  const [ours, ...others] = measured
  const limit = others.pop()!
  const best = others.reduce((best, one) => rate(one) > rate(best) ? one : best)
  const named = (other: Measured) => `a/${Report.letter(measured.indexOf(other))}`
  return [
    ...others.map((other) => Report.ratio(named(other), ours!, other, other === best ? 2 : undefined)),
    Report.ratio(named(limit), ours!, limit, 0.6)
  ].join("\n")
}

/** Formats latencies at a steady rate. Our server comes first. */
export const steady = ({ perSecond }: SteadyRounds.Plan, all: ReadonlyArray<SteadyRounds.Steady>): string => {
  const middle = ({ rounds }: SteadyRounds.Steady, of: (latency: Latency) => number) => median(rounds.map(of))
  const ours = all[0]!
  const p50 = middle(ours, (latency) => latency.p50)
  const p99 = middle(ours, (latency) => latency.p99)
  return [
    `From the record to the arrival at ${perSecond} events/s (medians of the rounds)`,
    Report.table([
      ["", "p50 ms", "p99 ms", "most ms"],
      ...all.map((one, i) => [
        `${Report.letter(i)}  ${one.name}`,
        Report.decimals(middle(one, ({ p50 }) => p50), 1),
        Report.decimals(middle(one, ({ p99 }) => p99), 1),
        Report.decimals(Math.max(...one.rounds.map(({ most }) => most)), 1)
      ])
    ]),
    "",
    `a  p50  ${Report.decimals(p50, 1)} ms${Report.verdict(p50, { most: 25 })}`,
    `a  p99  ${Report.decimals(p99, 1)} ms${Report.verdict(p99, { most: 125 })}`
  ].join("\n")
}

/** Formats the highest rates. Our server comes first. */
export const live = (all: ReadonlyArray<LiveRounds.Live>): string => {
  const highest = ({ rates }: LiveRounds.Live) => median(rates)
  const [ours, ...others] = all
  const best = others.reduce((best, one) => highest(one) > highest(best) ? one : best)
  const ratio = highest(ours!) / highest(best)
  return [
    `The highest rate whose p99 from the record to the arrival is at most ${LiveRounds.mostLate} ms (medians of the rounds)`,
    Report.table([
      ["", "events/s", "min", "max"],
      ...all.map((one, i) => [
        `${Report.letter(i)}  ${one.name}`,
        ...[highest(one), Math.min(...one.rates), Math.max(...one.rates)].map(Report.whole)
      ])
    ]),
    "",
    `a/${Report.letter(all.indexOf(best))}  ${Report.decimals(ratio, 2)}${Report.verdict(ratio, { least: 1 })}`
  ].join("\n")
}
