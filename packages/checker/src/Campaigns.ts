/**
 * The promises about campaigns (contract §11), except those about their customers, which are in `Customers.ts`.
 */
import { type Blame, endOf, grouped } from "./Broken.ts"
import { claimLease } from "./Customers.ts"
import type { CampaignChange, CampaignRead, ListedEvent, ProviderCall } from "./History.ts"

/** The entries about one campaign. Each list is in the order of `begun`. */
interface Campaign {
  readonly changes: ReadonlyArray<CampaignChange>
  readonly reads: ReadonlyArray<CampaignRead>
  readonly calls: ReadonlyArray<ProviderCall>
  readonly completed: ReadonlyArray<ListedEvent>
}

const checkStopped = ({ calls, changes }: Campaign, clockError: number, blame: Blame): void => {
  const isStop = ({ change }: CampaignChange) => change === "pause" || change === "cancel"
  // a pause or cancellation counts once no earlier send can still be on its way, a start or resume from its beginning
  const happenings = changes
    .filter((change) => !isStop(change) || (change.status === 200 && change.ended !== null))
    .map((change) => ({ change, at: isStop(change) ? endOf(change) + claimLease + clockError : change.begun }))
    .sort((a, b) => a.at - b.at)
  let next = 0
  let cancel: CampaignChange | undefined
  let pause: CampaignChange | undefined
  let goesOnUntil = -Infinity
  for (const call of calls) {
    for (; next < happenings.length && happenings[next]!.at < call.begun; next++) {
      const { change } = happenings[next]!
      if (change.change === "cancel") cancel ??= change
      else if (!isStop(change)) goesOnUntil = Math.max(goesOnUntil, endOf(change) + clockError)
      else if (pause === undefined || change.begun > pause.begun) pause = change
    }
    const stop = cancel ?? (pause !== undefined && pause.begun > goesOnUntil ? pause : undefined)
    if (stop !== undefined) blame("campaign-stopped", `sends after ${stop.change}`, stop, call)
  }
}

const checkEnd = ({ calls, reads }: Campaign, clockError: number, blame: Blame): void => {
  // a campaign's end can be changed, so the latest one counts
  const end = Math.max(...reads.map(({ not_after: end }) => end ?? Infinity))
  const late = calls.find(({ begun }) => begun > end + claimLease + clockError)
  if (reads.length > 0 && late !== undefined) {
    blame("not-after-send-until", "called after the campaign's not_after", ...reads, late)
  }
}

/** The last read of a campaign after everything was settled. */
const lastRead = ({ reads }: Campaign, settledAt: number): CampaignRead | undefined =>
  reads.findLast(({ begun }) => begun >= settledAt)

/** Whether a campaign is known to have nobody in its queue. */
const isOver = (read: CampaignRead | undefined): boolean => read?.status === "completed" || read?.status === "cancelled"

const checkCampaign = (
  campaign: Campaign,
  settledAt: number,
  hasEvents: boolean,
  clockError: number,
  blame: Blame
): void => {
  const { changes, completed, reads } = campaign
  for (const read of reads) {
    const { total, ...counts } = read.counts
    if (Object.values(counts).reduce((sum, count) => sum + count, 0) !== total) {
      blame("campaign-counts", "the counts do not add up to the total", read)
    }
    if (read.status === "completed" && (counts["queued"] ?? 0) > 0) {
      blame("campaign-completed", "completed, and there are recipients in its queue", read)
    }
  }
  const [first, second] = completed
  if (first !== undefined && second !== undefined) blame("campaign-completed", "completed twice", first, second)
  const last = lastRead(campaign, settledAt)
  const isStarted = changes.some(({ change, status }) => change === "start" && status === 200)
  if (last !== undefined && isOver(last) && isStarted && hasEvents && first === undefined) {
    blame("campaign-completed", "campaign.completed is missing", last)
  }
  if (last?.status === "running") blame("campaign-completed", "still running when nothing is in progress", last)
  if (last !== undefined && !isOver(last) && first !== undefined) {
    blame("campaign-completed", `completed, and ${last.status}`, first, last)
  }
  checkStopped(campaign, clockError, blame)
  checkEnd(campaign, clockError, blame)
}

/**
 * Checks the promises of §11 about campaigns. Returns whether a campaign may have recipients in its queue in the end.
 */
export const checkCampaigns = (
  entries: {
    readonly changes: ReadonlyArray<CampaignChange>
    readonly reads: ReadonlyArray<CampaignRead>
    readonly calls: ReadonlyArray<ProviderCall>
    readonly listed: ReadonlyMap<string, ListedEvent>
  },
  settledAt: number,
  clockError: number,
  blame: Blame
): boolean => {
  let isAnyOpen = false
  const by = {
    changes: grouped(entries.changes, ({ campaign }) => campaign),
    reads: grouped(entries.reads, ({ campaign }) => campaign),
    calls: grouped(entries.calls.filter(({ campaign }) => campaign !== undefined), ({ campaign }) => campaign!),
    completed: grouped(
      [...entries.listed.values()].filter(({ event }) => event.type === "campaign.completed"),
      ({ event }) => String(event.data["campaign_id"])
    )
  }
  for (const id of new Set(Object.values(by).flatMap((groups) => [...groups.keys()]))) {
    const campaign: Campaign = {
      changes: by.changes.get(id) ?? [],
      reads: by.reads.get(id) ?? [],
      calls: by.calls.get(id) ?? [],
      completed: by.completed.get(id) ?? []
    }
    checkCampaign(campaign, settledAt, entries.listed.size > 0, clockError, blame)
    isAnyOpen ||= !isOver(lastRead(campaign, settledAt))
  }
  return isAnyOpen
}
