/** How many customers a campaign reaches, how long that takes, and whether it stops before. Pure. */
import type { Campaign } from "@wac/client/internal"
import * as SendingTime from "@wac/core/campaigns/SendingTime"

/** How many customers a campaign has yet to send to. */
export const reachedBy = ({ counts, forecast, startedAt }: Campaign): number =>
  startedAt === null && forecast !== null ? forecast.messages : counts.queued

/** How long after its start a campaign without `notAfter` stops sending, in milliseconds (`Campaign.defaultPatience`). */
export const patience = 24 * 60 * 60 * 1000

/** How long a campaign takes from its start, in milliseconds: at its pace, and as its messaging limit allows. */
export const timeNeeded = (campaign: Campaign, pace: number): number => {
  const { forecast } = campaign
  const seconds = forecast === null ? reachedBy(campaign) / pace : SendingTime.seconds(forecast, pace)
  return Math.max(1000, seconds * 1000)
}

/** When a campaign that starts, or goes on, at `from` stops sending (`Campaign.endsAt`). */
export const endsAt = ({ notAfter, startedAt }: Campaign, from: number): number =>
  notAfter === null ? (startedAt === null ? from : Date.parse(startedAt)) + patience : Date.parse(notAfter)

/** When a campaign that starts, or goes on, at `from` can have sent to everybody at the earliest. */
const doneAt = (campaign: Campaign, pace: number, from: number): number => {
  const { counts: { queued }, forecast, startedAt } = campaign
  if (startedAt === null) return from + timeNeeded(campaign, pace)
  if (queued === 0) return from
  // the days of the messaging limit have counted since the start
  const limited = forecast === null ? 0 : SendingTime.limited(forecast, pace)
  return Math.max(from + queued / pace * 1000, Date.parse(startedAt) + limited * 1000)
}

/**
 * When a campaign that starts, or goes on, at `from` stops sending, if it cannot reach everybody by then; else
 * `undefined`.
 */
export const stopsEarlyAt = (campaign: Campaign, pace: number, from: number): number | undefined => {
  const end = endsAt(campaign, from)
  return doneAt(campaign, pace, from) > end ? end : undefined
}

/** When a campaign that is resumed at `now` sends. */
export const goesOnAt = ({ startAt }: Campaign, now: number): number =>
  startAt === null ? now : Math.max(now, Date.parse(startAt))
