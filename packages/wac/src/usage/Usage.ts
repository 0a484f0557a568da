/**
 * What a workspace did, how much of its quota it used, and what its messages cost.
 */
import { Activity, Errors, type Id, Time, Usage as Service } from "@wac/core"
import { Effect } from "effect"
import type { Running } from "../Running.ts"

/** Days up to now: 1, 7, 30 or 90. */
export type UsagePeriod = "day" | "week" | "month" | "quarter"

/** The activity in one step of time. */
export interface UsageStep {
  readonly at: string
  readonly sendsAccepted: number
  readonly sendsFailed: number
  readonly sendsUnknown: number
  /** Sends that a rule or limit of the service refused. */
  readonly sendsRefused: number
  readonly attemptsDelivered: number
  readonly attemptsFailed: number
}

/** Messages of one price. */
export interface UsageLine {
  /** The customer's country, ISO 3166-1 alpha-2; `ZZ` if not known. */
  readonly market: string
  /** As the provider reported it, such as `marketing`. */
  readonly category: string
  /** As the provider reported it, such as `regular` or `free_customer_service`. */
  readonly type: string
  /** `null` if the provider says nothing of it; then `cost` is what the messages cost if they are charged. */
  readonly billable: boolean | null
  readonly messages: number
  /** `null` if nothing is charged, or if the option `rateCard` has no rate for it. */
  readonly cost: { readonly currency: string; readonly amount: string; readonly ratesFrom: string } | null
}

/** A workspace's activity over time, its use of the quota, and its costs. */
export interface UsageReport {
  /** The current calendar month (UTC), such as `2026-01`. */
  readonly month: string
  /** Messages that count against this month's quota. */
  readonly used: number
  /** Messages a month; `null` if there is no limit. */
  readonly quota: number | null
  readonly requestsPerSecond: number
  /** Newest first, at most 12; months without messages are omitted. */
  readonly months: ReadonlyArray<{ readonly month: string; readonly used: number }>
  /** The messages of the period whose price the provider has reported. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency; an amount is a decimal number, such as `12.3456`. */
  readonly costs: ReadonlyArray<{ readonly currency: string; readonly amount: string }>
  readonly since: string
  /** 3600 for up to a week, 86400 for longer periods. */
  readonly stepSeconds: number
  /** Oldest first, without gaps; the last step is not over yet. */
  readonly steps: ReadonlyArray<UsageStep>
}

/** A workspace's usage. */
export interface Usage {
  /**
   * The report of a period up to now, by default of a week. Activity is counted about a second after it ends; a crash of
   * the process can lose that second.
   */
  readonly report: (period?: UsagePeriod) => Promise<UsageReport>
}

const periodOf = (period: UsagePeriod): Effect.Effect<Activity.Period, Errors.InvalidBody> =>
  Object.hasOwn(Activity.periods, period) ? Effect.succeed(period) : Effect.fail(
    new Errors.InvalidBody({
      reason: "invalid_field",
      param: "period",
      message: `period must be one of ${Object.keys(Activity.periods).join(", ")}`
    })
  )

export const make = Effect.map(Service.Usage, (usage) => (running: Running, workspaceId: Id.WorkspaceId): Usage => ({
  report: (period = "week") =>
    running.run(Effect.map(
      Effect.flatMap(periodOf(period), (known) => usage.report(workspaceId, known)),
      ({ bill, since, step, steps, ...figures }): UsageReport => ({
        ...figures,
        lines: bill.lines,
        costs: bill.totals,
        since: Time.iso(since),
        stepSeconds: step / 1000,
        steps: steps.map(({ at, ...counts }) => ({ at: Time.iso(at), ...counts }))
      })
    ))
}))
