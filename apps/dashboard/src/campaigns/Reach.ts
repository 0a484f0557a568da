/** How many customers a campaign reaches, how long that takes, and whether it stops before. Pure. */
import type { Campaign } from "@wac/client/internal"

/** How many customers a campaign that has not started will send to. */
export const reachedBy = ({ counts, forecast }: Campaign): number => forecast?.messages ?? counts.queued

/** How long after its start a campaign without `notAfter` stops sending, in milliseconds (`Campaign.defaultPatience`). */
export const patience = 24 * 60 * 60 * 1000

/** How long a campaign takes from its start, in milliseconds: at its pace, and as its messaging limit allows. */
export const timeNeeded = (campaign: Campaign, pace: number): number =>
  Math.max(1000, reachedBy(campaign) / pace * 1000, (campaign.forecast?.seconds ?? 0) * 1000)

/** When a campaign that starts at `start` stops sending, if it cannot reach everybody by then; else `undefined`. */
export const stopsEarlyAt = (campaign: Campaign, pace: number, start: number): number | undefined => {
  const end = campaign.notAfter === null ? start + patience : Date.parse(campaign.notAfter)
  return start + timeNeeded(campaign, pace) > end ? end : undefined
}
