/**
 * The stored form of campaigns: reads them from rows, and writes them.
 */
import { Campaign, type CampaignStep, type Forecast, type Id } from "@wac/core"
import { columns, json, row, text, unlessEmpty } from "../Columns.ts"
import { listOf, type Row, type Statement } from "../Statement.ts"
import { insertOne } from "../TableStatements.ts"
import { tallies, talliesOf } from "./Tallies.ts"

/** The columns of the campaign `c`. */
export const campaignColumns = `c.id, c.workspace_id, c.state, c.work_at, ${tallies} as tallies`

/** A number in the state of the campaign `c`, which an earlier version may have left out. */
export const numberOf = (field: "checked" | "replaced" | "rows"): string =>
  `coalesce((c.state ->> '${field}')::integer, 0)`

/** Fields of the state that are missing if an earlier version, which may run beside this one, wrote it. */
type Added =
  | "expected"
  | "templateB"
  | "categories"
  | "replaced"
  | "upload"
  | "problemKinds"
  | "judgesAgain"
  | "checkedFrom"
  | "zoneless"

/** A campaign's stored state. */
type Stored =
  & Omit<Campaign.Campaign, Added | "forecast">
  & Partial<Pick<Campaign.Campaign, Added>>
  /** The reason of which `pausedFor` holds the common form; missing if they are the same. */
  & { readonly pausedExactlyFor?: Campaign.PauseReason | null }
  & {
    readonly forecast:
      | Omit<Forecast.Forecast, "lines" | "costs" | "perSecond" | "alwaysQuiet"> & Partial<Forecast.Forecast>
      | null
  }

/**
 * Reasons of pauses that the version before this one does not know, each with one that it does: a process of that
 * version could list no campaigns beside one that is paused for another reason.
 */
const knownBefore: { readonly [reason in Campaign.PauseReason]?: Campaign.PauseReason } = {
  template_category: "template_not_approved",
  template_changed: "template_not_approved",
  file_not_available: "template_not_approved"
}

/** A reason as it is stored in the field that both versions read. */
const commonOf = (reason: Campaign.PauseReason | null): Campaign.PauseReason | null =>
  reason === null ? null : knownBefore[reason] ?? reason

/** The reason of a pause. The version before leaves `exact` as it is when it pauses a campaign for a reason of its own. */
const reasonOf = (
  common: Campaign.PauseReason | null,
  exact: Campaign.PauseReason | null
): Campaign.PauseReason | null => exact !== null && commonOf(exact) === common ? exact : common

const campaign = row({ state: json<Stored>() })

const job = columns<Pick<CampaignStep.Job, "workAt">>({ workAt: "bigint" })

/** Reads a campaign from a row with {@link campaignColumns}. */
export const campaignOf = (row: Row): Campaign.Campaign => {
  const {
    categories = null,
    expected = [],
    forecast,
    judgesAgain = false,
    pausedExactlyFor = null,
    problemKinds = [],
    replaced = 0,
    checkedFrom = null,
    templateB = null,
    upload = null,
    zoneless = [],
    ...state
  } = campaign.read(row).state
  return {
    ...state,
    pausedFor: reasonOf(state.pausedFor, pausedExactlyFor),
    expected,
    templateB,
    categories,
    problemKinds,
    judgesAgain,
    checkedFrom,
    replaced,
    upload,
    // an earlier version, which begins a check anew, leaves them
    zoneless: state.checked === 0 ? [] : zoneless,
    forecast: forecast && { lines: [], costs: [], perSecond: null, alwaysQuiet: 0, ...forecast },
    // what an erasure has counted of messages that are still to be cleared
    ...Campaign.counted(state.checked === 0 ? [] : talliesOf(row))
  }
}

/** Reads a campaign, and when work on it is due. */
export const jobOf = (row: Row): CampaignStep.Job => ({
  campaign: campaignOf(row),
  ...job.read(row)
})

/** The stored state of a campaign. It does not hold the counts, which have their own rows. */
const stateOf = (
  { counts: _, pausedFor, tallies: __, ...state }: Campaign.Campaign
): Omit<Stored, "counts" | "tallies"> => {
  const common = commonOf(pausedFor)
  return { ...state, pausedFor: common, ...(common === pausedFor ? {} : { pausedExactlyFor: pausedFor }) }
}

/** The condition of `Campaign.isUnstarted` for the campaign `c`, which is also that of the index of these campaigns. */
export const isUnstarted = `c.state ->> 'startedAt' is null and c.state ->> 'status' not in ${
  listOf(Campaign.awaiting)
}`

const stored = row({
  id: text<Id.CampaignId>(),
  workspaceId: text<Id.WorkspaceId>(),
  state: json<ReturnType<typeof stateOf>>()
})

const create = insertOne(stored, "wac.campaigns")

/** The statement that inserts a campaign. */
export const insertCampaign = (campaign: Campaign.Campaign): Statement =>
  create({ id: campaign.id, workspaceId: campaign.workspaceId, state: stateOf(campaign) })

const keep = unlessEmpty(job.and(stored.pick("id", "state")), (rows) => `
  update wac.campaigns c set state = j.state, work_at = j.work_at from ${rows("j")} where c.id = j.id`)

/** The statements that write campaigns. The caller must hold their rows. */
export const keepJobs = (jobs: ReadonlyArray<CampaignStep.Job>): ReadonlyArray<Statement> =>
  keep(jobs.map(({ campaign, workAt }) => ({ id: campaign.id, state: stateOf(campaign), workAt })))
