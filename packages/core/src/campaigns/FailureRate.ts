/**
 * The share of a campaign's latest outcomes that are failures (contract §11). It is measured between snapshots of the
 * campaign's counts, so that failures count however late the provider reports them. Pure.
 */
import type { CampaignCounts } from "./CampaignCounts.ts"

/** The maximum number of latest outcomes that count (contract §11). */
export const span = 1000

/** The number of outcomes between two snapshots. */
const step = 100

/** How many recipients had an outcome, and how many of these failed. */
export interface Snapshot {
  readonly ended: number
  readonly failed: number
}

/** The latest snapshots, oldest first, at most as many as {@link span} needs. */
export type Snapshots = ReadonlyArray<Snapshot>

/** The snapshots before the first outcome. */
export const beginning: Snapshots = [{ ended: 0, failed: 0 }]

/** Takes a snapshot of counts. */
export const taken = ({ failed, queued: _, skipped: __, ...others }: CampaignCounts): Snapshot => ({
  ended: failed + Object.values(others).reduce((sum, count) => sum + count, 0),
  failed
})

/**
 * Adds a snapshot if enough outcomes have come since the last one. If later reports corrected failures, the corrected
 * failures are removed from the earlier snapshots too, so that they do not offset failures to come.
 */
export const observe = (snapshots: Snapshots, counts: CampaignCounts): Snapshots => {
  const now = taken(counts)
  const corrected = snapshots.map(({ ended, failed }) => ({ ended, failed: Math.min(failed, now.failed) }))
  return now.ended - (snapshots.at(-1)?.ended ?? 0) < step ? corrected : [...corrected, now].slice(-(span / step + 1))
}

/**
 * The share of failures since the oldest snapshot, from 0 to 1; `undefined` for fewer than 100 outcomes, which are too
 * few to judge. The share is limited to this range, because late reports about earlier recipients may add more failures
 * than there were outcomes since, or remove more.
 */
export const rateOf = (snapshots: Snapshots, counts: CampaignCounts): number | undefined => {
  const now = taken(counts)
  const oldest = snapshots[0] ?? { ended: 0, failed: 0 }
  const ended = now.ended - oldest.ended
  return ended < step ? undefined : Math.min(1, Math.max(0, now.failed - oldest.failed) / ended)
}
