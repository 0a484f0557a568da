/** Sends and deliveries over time: a bar for each step, and every number with its label. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import type { Usage, UsageStep } from "@wac/client/internal"
import { useId, useState } from "react"
import { Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { exactly } from "../ui/Time.tsx"
import { grouped } from "../ui/Words.ts"
import { usageQuery } from "./Queries.ts"

const periods = [["day", "24 hours"], ["week", "7 days"], ["month", "30 days"], ["quarter", "90 days"]] as const

type Period = typeof periods[number][0]

type Count = Exclude<keyof UsageStep, "at">

interface Series {
  readonly count: Count
  readonly name: string
  /** The label of the count. */
  readonly definition: string
  readonly fill: string
}

const sends: ReadonlyArray<Series> = [
  { count: "sendsAccepted", name: "Accepted", definition: "The provider accepted the send.", fill: "fill-accent" },
  {
    count: "sendsFailed",
    name: "Failed",
    definition: "The provider refused the send or did not take it.",
    fill: "fill-bad"
  },
  {
    count: "sendsUnknown",
    name: "Unknown",
    definition: "The provider did not confirm the outcome.",
    fill: "fill-warn"
  },
  {
    count: "sendsRefused",
    name: "Refused",
    definition: "A rule or limit of this service refused it.",
    fill: "fill-edge"
  }
]

const attempts: ReadonlyArray<Series> = [
  {
    count: "attemptsDelivered",
    name: "Delivered",
    definition: "Attempts that your receiver answered with 200.",
    fill: "fill-accent"
  },
  { count: "attemptsFailed", name: "Failed", definition: "Attempts that it did not.", fill: "fill-bad" }
]

const totalOf = (steps: ReadonlyArray<UsageStep>, count: Count): number =>
  steps.reduce((total, step) => total + step[count], 0)

/** One bar for each step, its parts on top of each other. The numbers below say the same in words. */
const Bars = ({ label, series, steps }: {
  readonly label: string
  readonly series: ReadonlyArray<Series>
  readonly steps: ReadonlyArray<UsageStep>
}) => {
  const most = Math.max(1, ...steps.map((step) => series.reduce((sum, { count }) => sum + step[count], 0)))
  const width = 100 / steps.length
  return (
    <figure>
      <svg viewBox="0 0 100 30" preserveAspectRatio="none" className="h-24 w-full" role="img" aria-label={label}>
        <line x1="0" x2="100" y1="30" y2="30" className="stroke-line" vectorEffect="non-scaling-stroke" />
        {steps.map((step, i) => {
          let y = 30
          return series.map(({ count, fill, name }) => {
            const height = step[count] / most * 29
            y -= height
            return height === 0 ?
              null :
              (
                <rect
                  key={`${step.at} ${count}`}
                  x={i * width}
                  y={y}
                  width={width * 0.8}
                  height={height}
                  className={fill}
                >
                  <title>{`${name}: ${grouped(step[count])}, from ${exactly(step.at)}`}</title>
                </rect>
              )
          })
        })}
      </svg>
      <figcaption className="flex justify-between text-[13px] text-muted">
        <span>{exactly(steps[0]!.at)}</span>
        <span>Highest: {grouped(most)}</span>
        <span>Now</span>
      </figcaption>
    </figure>
  )
}

const Numbers = ({ series, steps }: { readonly series: ReadonlyArray<Series>; readonly steps: Usage["steps"] }) => (
  <dl className="grid grid-cols-2 gap-x-4 gap-y-3">
    {series.map(({ count, definition, fill, name }) => (
      <div key={count} className="min-w-0">
        <dt className="flex items-center gap-1.5 text-[13px] text-muted">
          <svg viewBox="0 0 8 8" className="size-2 shrink-0" aria-hidden="true">
            <rect width="8" height="8" rx="1.5" className={fill} />
          </svg>
          {name}
        </dt>
        <dd className="text-lg font-semibold tabular-nums">{grouped(totalOf(steps, count))}</dd>
        <dd className="text-[13px] text-muted">{definition}</dd>
      </div>
    ))}
  </dl>
)

export const Activity = () => {
  const id = useId()
  const [period, setPeriod] = useState<Period>("week")
  const query = useQuery({ ...usageQuery(period), placeholderData: keepPreviousData })
  const words = periods.find(([value]) => value === period)![1]
  return (
    <Section
      title="Activity"
      actions={
        <>
          <label htmlFor={id} className="sr-only">Period</label>
          <select
            id={id}
            className="field"
            value={period}
            onChange={(event) => setPeriod(periods.find(([value]) => value === event.target.value)?.[0] ?? "week")}
          >
            {periods.map(([value, words]) => <option key={value} value={value}>Last {words}</option>)}
          </select>
        </>
      }
    >
      <Loaded query={query} lines={6}>
        {({ steps }) => (
          <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
            {([["Messages", sends], ["Webhook attempts", attempts]] as const).map(([name, series]) => (
              <div key={name} className="min-w-0 space-y-4">
                <h3 className="font-medium">{name}</h3>
                <Bars label={`${name} over the last ${words}`} series={series} steps={steps} />
                <Numbers series={series} steps={steps} />
              </div>
            ))}
          </div>
        )}
      </Loaded>
    </Section>
  )
}
