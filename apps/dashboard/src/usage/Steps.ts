/** The steps of a report of usage, as a chart has them. */
import type { Usage, UsageStep } from "@wac/client/internal"
import type { Step } from "../ui/Chart.tsx"

export const stepsOf = ({ stepSeconds, steps }: Usage, valuesOf: (step: UsageStep) => Step["values"]) =>
  steps.map((step): Step => {
    const from = Date.parse(step.at)
    return { from, until: from + stepSeconds * 1000, values: valuesOf(step) }
  })
