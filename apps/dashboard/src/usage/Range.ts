/** The range of time of the charts, kept in the address. */
import type { UsageQuery } from "@wac/client/internal"
import { range, useChosen, useRange } from "../ui/Filters.tsx"

export const ranges = {
  since: {
    label: "Time",
    // the shortest shows today as more than one bar
    all: "Last 24 hours",
    options: [["week", "Last 7 days"], ["month", "Last 30 days"], ["quarter", "Last 90 days"], [range, "From – to"]]
  }
} as const

/** The range that the address has, as the service is asked for it. */
export const useUsageRange = (): UsageQuery => {
  const { since = "day" } = useChosen(ranges)
  const { begin, end } = useRange()
  return since !== range ? { period: since } : {
    period: "day",
    ...(begin === undefined ? {} : { since: begin }),
    ...(end === undefined ? {} : { until: end })
  }
}
