/**
 * The activity of a workspace, the used part of its quota, and the cost of its messages.
 */
import { Activity, Errors, type Id, Time, Usage as Service } from "@wac/core"
import { Effect } from "effect"
import type { CallOptions } from "../generated/Messaging.ts"
import type { UsagePeriod, UsageReport } from "../generated/Resources.ts"
import type { Running } from "../Running.ts"

/** A workspace's usage. */
export interface Usage {
  /**
   * The report of a period up to now, by default of a week. Activity is counted about a second after it ends; a crash
   * of the process can lose that second.
   */
  readonly report: (period?: UsagePeriod, options?: CallOptions) => Promise<UsageReport>
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
  report: (period = "week", options) =>
    running.run(
      Effect.map(
        Effect.flatMap(periodOf(period), (known) => usage.report(workspaceId, { period: known })),
        ({ before, bill, since, step, steps, ...figures }): UsageReport => ({
          ...figures,
          lines: bill.lines,
          costs: bill.totals,
          since: Time.iso(since),
          stepSeconds: step / 1000,
          steps: steps.map(({ at, ...counts }) => ({ at: Time.iso(at), ...counts })),
          before: before === null ? null : { ...before, since: Time.iso(before.since) }
        })
      ),
      { options }
    )
}))
