/**
 * Changes of campaigns, and uploads of their rows (core's `CampaignStep.change` and `addRows`).
 */
import { type Campaign, CampaignStep, type Errors, type Id, Recipient } from "@wac/core"
import type { Result } from "effect"
import { columns, integer, json, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Rows, type Statement, statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { campaignColumns, jobOf, keepJobs } from "./StoredCampaign.ts"

const ids = list<Id.CampaignId>("text")

/** Locks campaigns. This waits for work in progress on them. */
const lock = statement({ ids }, ({ ids }) => `
  select c.id from wac.campaigns c where c.id = any (${ids}) order by c.id for no key update`)

/** Loads the locked campaigns. It must come after {@link lock}, so that it sees what the lock waited for. */
const load = statement({ ids }, ({ ids }) => `select ${campaignColumns} from wac.campaigns c where c.id = any (${ids})`)

/** How a command names a campaign. */
type Named = Pick<CampaignStep.Change, "workspaceId" | "id">

const loadJobs = (commands: ReadonlyArray<Named>): ReadonlyArray<Statement> => {
  const ids = [...new Set(commands.map(({ id }) => id))]
  return [lock({ ids }), load({ ids })]
}

const jobsIn = (rows: Rows) => {
  const jobs = new Map<Id.CampaignId, CampaignStep.Job>(rows.map(jobOf).map((job) => [job.campaign.id, job]))
  return ({ id, workspaceId }: Named): CampaignStep.Job | undefined => {
    const job = jobs.get(id)
    return job?.campaign.workspaceId === workspaceId ? job : undefined
  }
}

/**
 * Deletes campaigns' queued messages and counts. The campaigns are not started, so no process is sending the messages.
 */
const unqueue = unlessEmpty(ids, (ids) =>
  `with m as (
    delete from wac.messages m where m.id = any (array(
      select r.message_id from wac.campaign_rows r where r.campaign_id = any (${ids}) and r.message_id is not null
    ))
  ), q as (
    delete from wac.send_queue q where q.campaign_id = any (${ids})
  )
  delete from wac.campaign_tallies t where t.campaign_id = any (${ids})`)

const uncheck = unlessEmpty(ids, (ids) =>
  `update wac.campaign_rows r set message_id = null, problem = null
  where r.campaign_id = any (${ids}) and (r.message_id is not null or r.problem is not null)`)

/** `CampaignStore.change`. */
export const change: StepOptions<
  CampaignStep.Change,
  CampaignStep.LoadedJobs,
  Result.Result<Campaign.Campaign, Errors.Forbidden> | undefined,
  CampaignStep.ChangeWrites
> = {
  load: (commands) => loadJobs(commands),
  read: ([, rows], now) => ({ now, job: jobsIn(rows!) }),
  decide: CampaignStep.change,
  write: ({ jobs, unchecked }) => [...keepJobs(jobs), ...unqueue(unchecked), ...uncheck(unchecked)]
}

const insertRows = insert(
  row({
    campaignId: text<Id.CampaignId>(),
    place: integer(),
    content: json<Recipient.Row>(),
    customer: text<string | null>()
  }),
  "wac.campaign_rows"
)

const keepRows = (added: CampaignStep.AddWrites["added"]): ReadonlyArray<Statement> =>
  insertRows(
    added.flatMap(({ campaignId, from, rows }) =>
      rows.map((content, i) => ({ campaignId, place: from + i, content, customer: Recipient.customerOf(content) }))
    )
  )

const dropRows = unlessEmpty(
  columns<CampaignStep.Places, { to: "upto" }>({ campaignId: "text", after: "integer", to: "integer" }, { to: "upto" }),
  (places) =>
    `delete from wac.campaign_rows r using ${places("d")}
  where r.campaign_id = d.campaign_id and r.place > d.after and (d.upto is null or r.place <= d.upto)`
)

/** `CampaignStore.addRows`. */
export const addRows: StepOptions<
  CampaignStep.AddRows,
  CampaignStep.LoadedCampaigns,
  boolean,
  CampaignStep.AddWrites
> = {
  // each command may hold many rows
  size: 1,
  load: (commands) => loadJobs(commands),
  read: ([, rows], now) => ({ now, job: jobsIn(rows!) }),
  decide: CampaignStep.addRows,
  write: ({ added, dropped, jobs, replaced }) => [
    ...keepJobs(jobs),
    ...unqueue(replaced.map(({ campaignId }) => campaignId)),
    ...dropRows([...dropped, ...replaced]),
    ...keepRows(added)
  ]
}
