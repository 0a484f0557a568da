/** The steps of a report, as a chart has them. */
import type { Step } from "../ui/Chart.tsx"

/** A report by steps of time, which begin at their `at`. */
interface Report<Counts> {
  readonly stepSeconds: number
  readonly steps: ReadonlyArray<Counts & { readonly at: string }>
}

export const stepsOf = <Counts>(
  { stepSeconds, steps }: Report<Counts>,
  valuesOf: (step: Counts) => Step["values"]
) =>
  steps.map((step): Step => {
    const from = Date.parse(step.at)
    return { from, until: from + stepSeconds * 1000, values: valuesOf(step) }
  })
