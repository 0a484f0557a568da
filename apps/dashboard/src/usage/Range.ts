/** The time ranges of charts: the filter for them, and the range in the page's address as the service's parameters. */
import type { ReceiverQuery, UsageQuery } from "@wac/client/internal"
import { range, useChosen, useRange } from "../ui/Filters.tsx"
import { t } from "../ui/Language.ts"

const rangesWith = <const Shorter extends ReadonlyArray<readonly [value: string, name: string]>>(...shorter: Shorter) =>
  ({
    since: {
      label: t("Time"),
      // the default, and the shortest range for activity, because it shows more than one bar
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

/** The filter for the charts of activity. */
export const ranges = rangesWith()

/** The filter for the receiver's charts, with a shorter range, because its attempts are also counted by minutes. */
export const receiverRanges = rangesWith(["hour", t("Last hour")])

const useTimes = () => {
  const { begin, end } = useRange()
  return { ...(begin === undefined ? {} : { since: begin }), ...(end === undefined ? {} : { until: end }) }
}

/** The range in the address, as parameters of the request for activity. */
export const useUsageRange = (): UsageQuery => {
  const { since = "day" } = useChosen(ranges)
  const times = useTimes()
  return since === range ? { period: "day", ...times } : { period: since }
}

/** The range in the address, as parameters of the request for the receiver's report. */
export const useReceiverRange = (): ReceiverQuery => {
  const { since = "day" } = useChosen(receiverRanges)
  const times = useTimes()
  return since === range ? times : { period: since }
}
