/** The ranges of time of charts, kept in the address. */
import type { ReceiverQuery, UsageQuery } from "@wac/client/internal"
import { range, useChosen, useRange } from "../ui/Filters.tsx"

const rangesWith = <const Shorter extends ReadonlyArray<readonly [value: string, name: string]>>(...shorter: Shorter) =>
  ({
    since: {
      label: "Time",
      // the shortest of activity shows today as more than one bar
      all: "Last 24 hours",
      options: [
        ...shorter,
        ["week", "Last 7 days"],
        ["month", "Last 30 days"],
        ["quarter", "Last 90 days"],
        [range, "From – to"]
      ]
    }
  }) as const

export const ranges = rangesWith()

/** The receiver's attempts are counted by minutes too. */
export const receiverRanges = rangesWith(["hour", "Last hour"])

const useTimes = () => {
  const { begin, end } = useRange()
  return { ...(begin === undefined ? {} : { since: begin }), ...(end === undefined ? {} : { until: end }) }
}

/** The range that the address has, as the service is asked for activity in it. */
export const useUsageRange = (): UsageQuery => {
  const { since = "day" } = useChosen(ranges)
  const times = useTimes()
  return since === range ? { period: "day", ...times } : { period: since }
}

/** The range that the address has, as the service is asked for the receiver in it. */
export const useReceiverRange = (): ReceiverQuery => {
  const { since = "day" } = useChosen(receiverRanges)
  const times = useTimes()
  return since === range ? times : { period: since }
}
