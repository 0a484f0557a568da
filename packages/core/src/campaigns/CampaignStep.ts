/**
 * The decisions for a person's changes of a campaign (contract §11), including uploads of its rows. Pure.
 */
import { Result } from "effect"
import type { Forbidden } from "../Errors.ts"
import type { CampaignId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Campaign from "./Campaign.ts"
import type * as Recipient from "./Recipient.ts"

/** A person's change of a campaign. */
export interface Change {
  readonly workspaceId: Campaign.Campaign["workspaceId"]
  readonly id: CampaignId
  readonly now: Instant
  readonly change: Campaign.Change | { readonly _tag: "PauseFor"; readonly reason: Campaign.PauseReason }
}

/** A campaign, and when it next has something to do; `null` if only a person can go on. */
export interface Job {
  readonly campaign: Campaign.Campaign
  readonly workAt: Instant | null
}

/** What changes load: campaigns, locked. */
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

/** Decides `CampaignStore.change`. The answer is the campaign, why it cannot change, or `undefined` if there is none. */
export const change: Decide<Change, LoadedJobs, Result.Result<Campaign.Campaign, Forbidden> | undefined, Writes> = (
  loaded,
  commands
) => {
  const jobs = new Map<CampaignId, Job>()
  const answers = commands.map((command) => {
    const job = jobs.get(command.id) ?? loaded.job(command)
    if (job === undefined) return undefined
    const now = loaded.now(command.now)
    const changed = command.change._tag === "PauseFor"
      ? Result.succeed(Campaign.pauseFor(job.campaign, command.change.reason))
      : Campaign.change(job.campaign, command.change, now)
    if (Result.isSuccess(changed)) {
      jobs.set(command.id, { campaign: changed.success, workAt: workAtOf(changed.success, now) })
    }
    return changed
  })
  return { answers, writes: { jobs: [...jobs.values()] } }
}

/** Adds uploaded rows to a campaign. */
export interface AddRows {
  readonly workspaceId: Campaign.Campaign["workspaceId"]
  readonly id: CampaignId
  readonly rows: ReadonlyArray<Recipient.Row>
}

/** What adding rows loads: campaigns, locked. */
export interface LoadedCampaigns extends Known {
  readonly job: (command: AddRows) => Job | undefined
}

/** Campaigns to write, and their new rows with the place of the first. */
export interface AddWrites extends Writes {
  readonly added: ReadonlyArray<{
    readonly campaignId: CampaignId
    readonly from: number
    readonly rows: ReadonlyArray<Recipient.Row>
  }>
}

/** Decides `CampaignStore.addRows`. The answer is whether the campaign took the rows. */
export const addRows: Decide<AddRows, LoadedCampaigns, boolean, AddWrites> = (loaded, commands) => {
  const jobs = new Map<CampaignId, Job>()
  const added: Array<AddWrites["added"][number]> = []
  const answers = commands.map((command) => {
    const { id, rows } = command
    const job = jobs.get(id) ?? loaded.job(command)
    if (job === undefined || !Campaign.takesRows(job.campaign)) return false
    added.push({ campaignId: id, from: job.campaign.rows + 1, rows })
    jobs.set(id, { campaign: Campaign.withRows(job.campaign, rows.length), workAt: null })
    return true
  })
  return { answers, writes: { jobs: [...jobs.values()], added } }
}
