/** The chart of how many messages of a campaign have been sent, delivered and read, over time. */
import { useQuery } from "@tanstack/react-query"
import type { Campaign, CampaignTimeline } from "@wac/client/internal"
import type { Series, Step } from "../ui/Chart.tsx"
import { ChartPart } from "../ui/ChartPart.tsx"
import { ChoiceFilters, useChosen } from "../ui/Filters.tsx"
import { grouped } from "../ui/Language.ts"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { stepsOf } from "../usage/Steps.ts"
import { timelineQuery } from "./Queries.ts"

const periods = {
  period: {
    label: "Time",
    all: "From the first message on",
    options: [["hour", "First hour"], ["day", "First day"], ["week", "First week"]]
  }
} as const

const stages = [
  { key: "sent", name: "Sent", fill: "fill-edge", texture: "plain" },
  { key: "delivered", name: "Delivered", fill: "fill-accent", texture: "stripes" },
  { key: "read", name: "Read", fill: "fill-ink", texture: "dots" }
] as const satisfies ReadonlyArray<Series>

/** The chart's steps, with the sums up to the end of each step. */
const cumulative = (timeline: CampaignTimeline): ReadonlyArray<Step> => {
  const sums = { sent: 0, delivered: 0, read: 0 }
  return stepsOf(timeline, (step) => {
    for (const { key } of stages) sums[key] += step[key]
    return { ...sums }
  })
}

export const Timeline = ({ campaign: { id } }: { readonly campaign: Campaign }) => {
  const { period } = useChosen(periods)
  return (
    <Section
      title="Over time"
      description="Messages that were sent, delivered and read until then."
      actions={<ChoiceFilters choices={periods} />}
    >
      <Loaded query={useQuery(timelineQuery(id, period))} lines={7}>
        {(timeline) =>
          timeline.steps.length === 0 ?
            <Empty title="No message was sent yet" /> :
            (
              <ChartPart
                kind="line"
                label="Messages over time"
                series={stages}
                steps={cumulative(timeline)}
                format={grouped}
              />
            )}
      </Loaded>
    </Section>
  )
}
