/** A chart (`Chart.tsx`) whose code, with the library behind it, is loaded when a chart is first shown. */
import { Suspense } from "react"
import { lazyPart } from "../shell/LazyPart.ts"
import type { ChartProps } from "./Chart.tsx"
import { Skeleton } from "./Loaded.tsx"

const Part = lazyPart(() => import("./Chart.tsx"), "Chart")

export const ChartPart = (props: ChartProps) => (
  <Suspense fallback={<Skeleton lines={7} />}>
    <Part {...props} />
  </Suspense>
)
