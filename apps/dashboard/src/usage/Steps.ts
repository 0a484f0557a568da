/** Converts the steps of a report into the steps of a chart. */
import type { Step } from "../ui/Chart.tsx"

/** A report by intervals of equal length; each begins at its `at`, but none counts what was before `since`. */
interface Report<Counts> {
  readonly since?: string
  readonly stepSeconds: number
  readonly steps: ReadonlyArray<Counts & { readonly at: string }>
}

/** The chart's steps of a report, with the values that `valuesOf` returns. */
export const stepsOf = <Counts>(
  { since, stepSeconds, steps }: Report<Counts>,
  valuesOf: (step: Counts) => Step["values"]
) => {
  const begin = since === undefined ? -Infinity : Date.parse(since)
  return steps.map((step): Step => {
    const at = Date.parse(step.at)
    return { from: Math.max(at, begin), until: at + stepSeconds * 1000, values: valuesOf(step) }
  })
}
