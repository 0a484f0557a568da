/** The progress of a started campaign, and its result once it has ended. */
import type { Campaign } from "@wac/client/internal"
import { useState } from "react"
import { Bar } from "../ui/Bar.tsx"
import { grouped } from "../ui/Language.ts"
import { Notice } from "../ui/Notice.tsx"
import { Section } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { asRate, counted } from "../ui/Words.ts"
import { pauseReasons } from "./CampaignWords.tsx"
import { Funnel } from "./Funnel.tsx"
import { lengthAt, usePace } from "./Pace.ts"

/** The longest time over which the rate is measured, up to now, in milliseconds. */
const longestMeasured = 15_000

/** The shortest time over which the rate is measured, in milliseconds. */
const shortestMeasured = 2000

/** A measured rate. */
interface Rate {
  /** Customers a second. */
  readonly perSecond: number
  /** The time over which it was measured, in whole seconds. */
  readonly seconds: number
}

/**
 * The rate at which customers are finished, measured while the page is open; `undefined` until the measurement is long
 * enough.
 */
const useRate = (done: number, at: number): Rate | undefined => {
  const [samples, setSamples] = useState<ReadonlyArray<{ readonly at: number; readonly done: number }>>([])
  const [first, last] = [samples[0], samples.at(-1)]
  if (last === undefined || at > last.at) {
    // setting state while rendering is React's way to derive state from a property: it renders again immediately
    setSamples([...samples.filter((before) => at - before.at <= longestMeasured), { at, done }])
  }
  if (first === undefined || last === undefined || last.at - first.at < shortestMeasured) return undefined
  const seconds = (last.at - first.at) / 1000
  return { perSecond: Math.max(0, last.done - first.done) / seconds, seconds: Math.floor(seconds) }
}

/** The end of the sentence on a running campaign's progress: how fast it sends, and how long it will take. */
const RateWords = ({ at, campaign }: { readonly campaign: Campaign; readonly at: number }) => {
  const { counts } = campaign
  const pace = usePace(campaign)
  const rate = useRate(counts.total - counts.queued, at)
  if (rate?.perSecond === 0) return `; none in the last ${rate.seconds} seconds`
  if (rate !== undefined) return `, ${asRate(rate.perSecond)}; about ${lengthAt(counts.queued, rate.perSecond)} left`
  if (pace !== undefined) return `, at most ${asRate(pace)}; at least ${lengthAt(counts.queued, pace)} left`
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
                {grouped(done)} of {counted(counts.total, "customer", "customers")} done
                <RateWords campaign={campaign} at={at} />
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
