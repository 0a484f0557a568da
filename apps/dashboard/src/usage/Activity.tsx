/**
 * The charts of a workspace's activity: sends, webhook attempts, delivery rate, time until delivered, and what waits.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import type { Usage } from "@wac/client/internal"
import type { Band } from "../ui/Chart.tsx"
import { ChartPart } from "../ui/ChartPart.tsx"
import { ChoiceFilters } from "../ui/Filters.tsx"
import { grouped } from "../ui/Language.ts"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { tookOf } from "../ui/Moment.ts"
import { Section } from "../ui/Page.tsx"
import { exactly } from "../ui/Time.tsx"
import { bandsOf } from "../webhooks/Bands.ts"
import { outagesQuery } from "../webhooks/Queries.ts"
import { attempts, type Count, listOf, type Outcome, sends } from "./Outcomes.ts"
import { percentiles } from "./Percentiles.ts"
import { usageQuery } from "./Queries.ts"
import { ranges, useUsageRange } from "./Range.ts"
import { stepsOf } from "./Steps.ts"

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 })
const change = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" })

const totalOf = (steps: Usage["steps"], count: Count): number => steps.reduce((total, step) => total + step[count], 0)

const Numbers = ({ outcomes, usage: { before, steps } }: {
  readonly outcomes: ReadonlyArray<Outcome>
  readonly usage: Usage
}) => (
  <dl className="grid grid-cols-2 gap-x-4 gap-y-3">
    {outcomes.map(({ definition, key, name }) => {
      const total = totalOf(steps, key)
      return (
        <div key={key} className="min-w-0">
          <dt className="text-[13px] text-muted">{name}</dt>
          <dd className="text-lg font-semibold tabular-nums">{grouped(total)}</dd>
          {before === null ?
            null :
            (
              <dd className="text-[13px] tabular-nums" title={`The same length of time from ${exactly(before.since)}`}>
                {grouped(before[key])} in the time before
                {before[key] === 0 ? "" : `, ${change.format(total / before[key] - 1)}`}
              </dd>
            )}
          <dd className="text-[13px] text-muted">{definition}</dd>
        </div>
      )
    })}
  </dl>
)

const Bars = ({ bands = [], name, outcomes, usage }: {
  readonly bands?: ReadonlyArray<Band>
  readonly name: string
  readonly outcomes: ReadonlyArray<Outcome>
  readonly usage: Usage
}) => (
  <div className="min-w-0 space-y-4">
    <h3 className="font-medium">{name}</h3>
    {usage.steps.every((step) => outcomes.every(({ key }) => step[key] === 0)) ?
      <Empty title={`No ${name.toLowerCase()} in this time`} /> :
      (
        <ChartPart
          kind="bars"
          label={name}
          series={outcomes}
          steps={stepsOf(usage, (step) => Object.fromEntries(outcomes.map(({ key }) => [key, step[key]])))}
          format={grouped}
          linkOf={listOf(outcomes)}
          bands={bands}
        />
      )}
    {bands.length === 0 ?
      null :
      <p className="text-[13px] text-muted">The webhook was failing or paused in the shaded time.</p>}
    <Numbers outcomes={outcomes} usage={usage} />
  </div>
)

/** The share of accepted messages that arrived, for each step; no value if no message was accepted. */
const Rate = ({ usage }: { readonly usage: Usage }) => (
  <div className="min-w-0 space-y-4">
    <h3 className="font-medium">Delivery rate</h3>
    {usage.steps.every(({ sendsAccepted }) => sendsAccepted === 0) ?
      <Empty title="No message was accepted in this time" /> :
      (
        <ChartPart
          kind="line"
          label="Delivery rate"
          series={[{ key: "rate", name: "Arrived of the accepted messages", fill: "fill-accent", texture: "plain" }]}
          steps={stepsOf(usage, ({ sendsAccepted, sendsDelivered }) => ({
            // at most 1: a message whose failure was corrected has arrived, but was never counted as accepted
            rate: sendsAccepted === 0 ? null : Math.min(1, sendsDelivered / sendsAccepted)
          }))}
          most={1}
          format={percent.format}
        />
      )}
  </div>
)

/** How long messages took to arrive, for each step in which they were sent. */
const Arrival = ({ usage }: { readonly usage: Usage }) => (
  <div className="min-w-0 space-y-4">
    <h3 className="font-medium">Time until delivered</h3>
    {usage.arrival.p50Ms === null || usage.arrival.p95Ms === null ?
      <Empty title="No message was delivered in this time" /> :
      (
        <>
          <ChartPart
            kind="line"
            label="Time until delivered"
            series={percentiles}
            steps={stepsOf(usage, ({ arrival }) => ({ ...arrival }))}
            format={tookOf}
          />
          <p className="text-[13px] text-muted">
            Of the messages sent in this time that were delivered, half arrived within{" "}
            {tookOf(usage.arrival.p50Ms)}, and 19 of 20 within {tookOf(usage.arrival.p95Ms)}.
          </p>
        </>
      )}
  </div>
)

const waiting = [
  { key: "queued", name: "Queued messages", fill: "fill-accent", texture: "plain" },
  { key: "held", name: "Held events", fill: "fill-warn", texture: "stripes" }
] as const

/** The highest number of queued messages and held events in each step; no value where it was not measured. */
const Waiting = ({ usage }: { readonly usage: Usage }) => (
  <div className="min-w-0 space-y-4">
    <h3 className="font-medium">Waiting</h3>
    {usage.steps.every(({ waiting }) => waiting === null) ?
      <Empty title="Not known for this time">What waits is looked at every five minutes.</Empty> :
      usage.steps.every(({ waiting }) => waiting === null || waiting.queued + waiting.held === 0) ?
      <Empty title="Nothing was seen waiting in this time" /> :
      (
        <>
          <ChartPart
            kind="line"
            label="Waiting"
            series={waiting}
            steps={stepsOf(usage, ({ waiting }) => ({ ...waiting }))}
            format={grouped}
          />
          <p className="text-[13px] text-muted">
            The most at one time, as it was seen every five minutes: messages in the queue, and events that the paused
            webhook held.
          </p>
        </>
      )}
  </div>
)

export const Activity = () => {
  const range = useUsageRange()
  // the charts are shown even if the outages cannot be loaded
  const { data: outages = [] } = useQuery({ ...outagesQuery(range), placeholderData: keepPreviousData })
  return (
    <Section
      title="Activity"
      actions={<ChoiceFilters choices={ranges} />}
    >
      <Loaded query={useQuery({ ...usageQuery(range), placeholderData: keepPreviousData })} lines={6}>
        {(usage) => (
          <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
            <Bars name="Messages" outcomes={sends} usage={usage} />
            <Bars
              name="Webhook attempts"
              outcomes={attempts}
              usage={usage}
              bands={bandsOf(outages)}
            />
            <Rate usage={usage} />
            <Arrival usage={usage} />
            <Waiting usage={usage} />
          </div>
        )}
      </Loaded>
    </Section>
  )
}
