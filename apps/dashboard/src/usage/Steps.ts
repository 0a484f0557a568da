/** Converts the steps of a report into the steps of a chart. */
import type { Step } from "../ui/Chart.tsx"

/** A report by intervals of equal length; each begins at its `at`. */
interface Report<Counts> {
  readonly stepSeconds: number
  readonly steps: ReadonlyArray<Counts & { readonly at: string }>
}

/** The chart's steps of a report, with the values that `valuesOf` returns. */
export const stepsOf = <Counts>(
  { stepSeconds, steps }: Report<Counts>,
  valuesOf: (step: Counts) => Step["values"]
) =>
  steps.map((step): Step => {
    const from = Date.parse(step.at)
    return { from, until: from + stepSeconds * 1000, values: valuesOf(step) }
  })
