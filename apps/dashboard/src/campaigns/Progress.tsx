/** The progress of a started campaign, and its result once it has ended. */
import type { Campaign } from "@wac/client/internal"
import { useState } from "react"
import { Bar } from "../ui/Bar.tsx"
import { Notice } from "../ui/Failure.tsx"
import { grouped } from "../ui/Language.ts"
import { Section } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { counted } from "../ui/Words.ts"
import { pauseReasons } from "./CampaignWords.tsx"
import { Funnel } from "./Funnel.tsx"
import { lengthAt, usePace } from "./Pace.ts"

/** How far back the rate is measured, in milliseconds. */
const rateSpan = 15_000

/** The shortest time over which a rate is measured, in milliseconds. */
const shortestSpan = 2000

/** Customers a second, measured while the page is open; `undefined` until it is measured over {@link shortestSpan}. */
const useRate = (done: number, at: number): number | undefined => {
  const [samples, setSamples] = useState<ReadonlyArray<{ readonly at: number; readonly done: number }>>([])
  const [first, last] = [samples[0], samples.at(-1)]
  if (last === undefined || at > last.at) {
    // React's way to keep what follows from a new property: it renders again at once
    setSamples([...samples.filter((before) => at - before.at <= rateSpan), { at, done }])
  }
  return first === undefined || last === undefined || last.at - first.at < shortestSpan
    ? undefined
    : Math.max(0, last.done - first.done) / (last.at - first.at) * 1000
}

/** `12 a second`, `0.4 a second`. */
const asRate = (perSecond: number): string =>
  `${perSecond < 10 ? perSecond.toFixed(1) : grouped(Math.round(perSecond))} a second`

/** The end of the sentence on a running campaign's progress: how fast it sends, and how long it will take. */
const Rate = ({ at, campaign }: { readonly campaign: Campaign; readonly at: number }) => {
  const { counts } = campaign
  const pace = usePace(campaign)
  const rate = useRate(counts.total - counts.queued, at)
  if (rate === 0) return `; nothing was sent in the last ${rateSpan / 1000} seconds`
  if (rate !== undefined) return `, ${asRate(rate)}; about ${lengthAt(counts.queued, rate)} left`
  if (pace !== undefined) return `, at most ${asRate(pace)}; about ${lengthAt(counts.queued, pace)} left`
  return null
}

export const Progress = ({ at, campaign }: { readonly campaign: Campaign; readonly at: number }) => {
  const { counts, pausedReason, startAt, status } = campaign
  const done = counts.total - counts.queued
  return (
    <Section title={status === "completed" || status === "cancelled" ? "Result" : "Progress"}>
      <div className="space-y-5">
        {status === "paused" && pausedReason !== null
          ? <Notice tone="warn" role="status">{pauseReasons[pausedReason]} Nothing is sent until it is resumed.</Notice>
          : null}
        {status === "scheduled" && startAt !== null
          ? (
            <p role="status">
              It starts <Time at={startAt} />.
            </p>
          )
          : null}
        {status === "running"
          ? (
            <div role="status" className="space-y-1">
              <p>
                {grouped(done)} of {counted(counts.total, "customer", "customers")}
                <Rate campaign={campaign} at={at} />
              </p>
              <Bar label="Progress" max={counts.total} value={done} className="max-w-md" />
            </div>
          )
          : null}
        <Funnel counts={counts} />
      </div>
    </Section>
  )
}
