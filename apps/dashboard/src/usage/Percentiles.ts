/** The series of charts for the percentiles of durations: the median, and the 95th percentile. */
import type { Series } from "../ui/Chart.tsx"
import { t } from "../ui/Language.ts"

export const percentiles: ReadonlyArray<Series> = [
  { key: "p50Ms", name: t("Half within"), fill: "fill-accent", texture: "plain" },
  { key: "p95Ms", name: t("19 of 20 within"), fill: "fill-ink", texture: "stripes" }
]
