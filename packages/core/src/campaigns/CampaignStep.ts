/**
 * The decisions for changes of a campaign (contract §11), including uploads of its rows. Pure.
 */
import { Result } from "effect"
import type { Forbidden } from "../Errors.ts"
import type { CampaignId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { RateCard } from "../usage/RateCard.ts"
import * as Campaign from "./Campaign.ts"
import type * as Recipient from "./Recipient.ts"

/** A change of a campaign by a person, or a pause by the service itself. */
export interface Change {
  readonly workspaceId: Campaign.Campaign["workspaceId"]
  readonly id: CampaignId
  readonly now: Instant
  readonly change: Campaign.Change | { readonly _tag: "PauseFor"; readonly reason: Campaign.PauseReason }
  /** The prices for the forecast, which may change with the campaign's start; if omitted, they stay. */
  readonly rateCard?: RateCard
  /** If present, the campaign is changed only if it names this sender, because the caller may act for no other. */
  readonly onlyFrom?: Campaign.Campaign["from"]
}

/** A campaign, and when the service next has to work on it; `null` if only a person can continue. */
export interface Job {
  readonly campaign: Campaign.Campaign
  readonly workAt: Instant | null
}

/** The campaigns that a change loads, locked. */
export interface LoadedJobs extends Known {
  readonly job: (command: Change) => Job | undefined
}

/** Campaigns to write, each at most once. */
export interface Writes {
  readonly jobs: ReadonlyArray<Job>
}

const workAtOf = ({ completedAt, startAt, status }: Campaign.Campaign, now: Instant): Instant | null =>
  status === "checking" || status === "running" || (status === "cancelled" && completedAt === null)
    ? now
    : status === "scheduled"
    ? startAt ?? now
    : null

/** What a change writes. */
export interface ChangeWrites extends Writes {
  /** Campaigns whose rows are no longer checked: their queued messages are deleted. They have no others. */
  readonly unchecked: ReadonlyArray<CampaignId>
}

/**
 * Decides `CampaignStore.change`. The answer is the changed campaign, the error if it cannot change, or `undefined` if
 * there is no such campaign.
 */
export const change: Decide<
  Change,
  LoadedJobs,
  Result.Result<Campaign.Campaign, Forbidden> | undefined,
  ChangeWrites
> = (
  loaded,
  commands
) => {
  const jobs = new Map<CampaignId, Job>()
  const unchecked = new Set<CampaignId>()
  const answers = commands.map((command) => {
    const job = jobs.get(command.id) ?? loaded.job(command)
    if (job === undefined) return undefined
    const now = loaded.now(command.now)
    const changed = command.onlyFrom !== undefined && command.onlyFrom !== job.campaign.from
      ? Result.fail(Campaign.moved())
      : command.change._tag === "PauseFor"
      ? Result.succeed(Campaign.pauseFor(job.campaign, command.change.reason))
      : Campaign.change(job.campaign, command.change, now, command.rateCard)
    if (Result.isSuccess(changed)) {
      if (changed.success.checked < job.campaign.checked) unchecked.add(command.id)
      jobs.set(command.id, { campaign: changed.success, workAt: workAtOf(changed.success, now) })
    }
    return changed
  })
  return { answers, writes: { jobs: [...jobs.values()], unchecked: [...unchecked] } }
}

/**
 * What happens to the rows of an upload at its end: they are added to the campaign's rows, replace them, or are
 * deleted.
 */
export type UploadEnd = "add" | "replace" | "drop"

/** A part of an upload of rows to a campaign. The rows count once the upload has ended. */
export interface AddRows {
  readonly workspaceId: Campaign.Campaign["workspaceId"]
  readonly id: CampaignId
  readonly rows: ReadonlyArray<Recipient.Row>
  /** The unique id of the upload. */
  readonly upload: string
  /** Whether this is its first part, which ends any other upload to the campaign. */
  readonly isFirst: boolean
  /** How this part ends the upload; `null` if more parts follow. */
  readonly end: UploadEnd | null
}

/** The campaigns that adding rows loads, locked. */
export interface LoadedCampaigns extends Known {
  readonly job: (command: AddRows) => Job | undefined
}

/**
 * The rows of a campaign at the places from `after` (excluded) to `to` (included); to the last row if `to` is `null`.
 */
export interface Places {
  readonly campaignId: CampaignId
  readonly after: number
  readonly to: number | null
}

/** Campaigns to write, and their new rows with the place of the first. */
export interface AddWrites extends Writes {
  /** Rows to delete, before others are added. */
  readonly dropped: ReadonlyArray<Places>
  /** Rows to delete with their queued messages; the campaigns have no others. */
  readonly replaced: ReadonlyArray<Places>
  readonly added: ReadonlyArray<{
    readonly campaignId: CampaignId
    readonly from: number
    readonly rows: ReadonlyArray<Recipient.Row>
  }>
}

/** Decides `CampaignStore.addRows`. The answer is whether the campaign accepted the part. */
export const addRows: Decide<AddRows, LoadedCampaigns, boolean, AddWrites> = (loaded, commands) => {
  const jobs = new Map<CampaignId, Job>()
  const dropped: Array<Places> = []
  const replaced: Array<Places> = []
  const added: Array<AddWrites["added"][number]> = []
  const answers = commands.map((command) => {
    const { end, id, isFirst, rows, upload } = command
    const job = jobs.get(id) ?? loaded.job(command)
    if (job === undefined) return false
    const { campaign, workAt } = job
    const isGoingOn = campaign.upload?.id === upload
    const last = Campaign.lastPlace(campaign)
    if (end === "drop") {
      if (!isGoingOn) return false
      dropped.push({ campaignId: id, after: last, to: null })
      jobs.set(id, { campaign: { ...campaign, upload: null }, workAt })
      return true
    }
    if (!Campaign.takesRows(campaign) || (!isFirst && !isGoingOn)) return false
    const before = isFirst ? 0 : campaign.upload!.rows
    const uploaded = before + rows.length
    // until the last part, the rows may replace all others
    if (Campaign.rowsRefusal(campaign, uploaded, end ?? "replace") !== undefined) return false
    if (isFirst && campaign.upload !== null) dropped.push({ campaignId: id, after: last, to: null })
    added.push({ campaignId: id, from: last + before + 1, rows })
    if (end === "replace") replaced.push({ campaignId: id, after: campaign.replaced, to: last })
    const after = end === null
      ? { ...campaign, upload: { id: upload, rows: uploaded } }
      : end === "add"
      ? Campaign.withUpload(campaign, uploaded)
      : Campaign.withFile(campaign, uploaded)
    jobs.set(id, { campaign: after, workAt: null })
    return true
  })
  return { answers, writes: { jobs: [...jobs.values()], dropped, replaced, added } }
}
