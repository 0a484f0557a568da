/** The percentiles of durations, as charts show them. */
import type { Series } from "../ui/Chart.tsx"
import { t } from "../ui/Language.ts"

export const percentiles: ReadonlyArray<Series> = [
  { key: "p50Ms", name: t("Half within"), fill: "fill-accent", texture: "plain" },
  { key: "p95Ms", name: t("19 of 20 within"), fill: "fill-ink", texture: "stripes" }
]
