/** The ranges of time of charts, kept in the address. */
import type { ReceiverQuery, UsageQuery } from "@wac/client/internal"
import { range, useChosen, useRange } from "../ui/Filters.tsx"
import { t } from "../ui/Language.ts"

const rangesWith = <const Shorter extends ReadonlyArray<readonly [value: string, name: string]>>(...shorter: Shorter) =>
  ({
    since: {
      label: t("Time"),
      // the shortest of activity shows today as more than one bar
      all: t("Last 24 hours"),
      options: [
        ...shorter,
        ["week", t("Last 7 days")],
        ["month", t("Last 30 days")],
        ["quarter", t("Last 90 days")],
        [range, t("From – to")]
      ]
    }
  }) as const

export const ranges = rangesWith()

/** The receiver's attempts are counted by minutes too. */
export const receiverRanges = rangesWith(["hour", t("Last hour")])

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
