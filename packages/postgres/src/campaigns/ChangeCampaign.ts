/**
 * Changes of campaigns, and uploads of their rows (core's `CampaignStep.change` and `addRows`).
 */
import { type Campaign, CampaignStep, type Errors, type Id, Recipient } from "@wac/core"
import type { Result } from "effect"
import type { StepOptions } from "../Database.ts"
import { integers, jsons, texts } from "../Parameter.ts"
import type { Rows, Statement } from "../Statement.ts"
import { campaignColumns, jobOf, keepJobs } from "./StoredCampaign.ts"

/** Waits for a piece of work in progress. */
const lockText = `select c.id from campaigns c where c.id = any ($1::text[]) order by c.id for no key update`

/** A later statement, which sees what the lock waited for. */
const jobsText = `select ${campaignColumns} from campaigns c where c.id = any ($1::text[])`

/** A campaign that a command names. */
type Named = Pick<CampaignStep.Change, "workspaceId" | "id">

const loadJobs = (commands: ReadonlyArray<Named>): ReadonlyArray<Statement> => {
  const params = [texts([...new Set(commands.map(({ id }) => id))])]
  return [{ text: lockText, params }, { text: jobsText, params }]
}

const jobsIn = (rows: Rows) => {
  const jobs = new Map<Id.CampaignId, CampaignStep.Job>(rows.map(jobOf).map((job) => [job.campaign.id, job]))
  return ({ id, workspaceId }: Named): CampaignStep.Job | undefined => {
    const job = jobs.get(id)
    return job?.campaign.workspaceId === workspaceId ? job : undefined
  }
}

/** Nobody sends these messages, as their campaign is not started. */
const unqueuedText = `with m as (
    delete from messages m where m.id = any (array(
      select r.message_id from campaign_rows r where r.campaign_id = any ($1::text[]) and r.message_id is not null
    ))
  ), q as (
    delete from send_queue q where q.campaign_id = any ($1::text[])
  )
  delete from campaign_tallies t where t.campaign_id = any ($1::text[])`

/** The statement that deletes the queued messages of campaigns, and their counts. */
const unqueue = (ids: ReadonlyArray<Id.CampaignId>): ReadonlyArray<Statement> =>
  ids.length === 0 ? [] : [{ text: unqueuedText, params: [texts(ids)] }]

const uncheckedText = `update campaign_rows r set message_id = null, problem = null
  where r.campaign_id = any ($1::text[]) and (r.message_id is not null or r.problem is not null)`

const uncheck = (ids: ReadonlyArray<Id.CampaignId>): ReadonlyArray<Statement> =>
  ids.length === 0 ? [] : [...unqueue(ids), { text: uncheckedText, params: [texts(ids)] }]

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
  write: ({ jobs, unchecked }) => [...keepJobs(jobs), ...uncheck(unchecked)]
}

const rowsText = `insert into campaign_rows (campaign_id, place, content, customer)
  select * from unnest($1::text[], $2::integer[], $3::json[], $4::text[])`

const keepRows = (added: CampaignStep.AddWrites["added"]): ReadonlyArray<Statement> => {
  const rows = added.flatMap(({ campaignId, from, rows }) =>
    rows.map((row, i) => ({ campaignId, place: from + i, row }))
  )
  return rows.length === 0 ? [] : [{
    text: rowsText,
    params: [
      texts(rows.map(({ campaignId }) => campaignId)),
      integers(rows.map(({ place }) => place)),
      jsons(rows.map(({ row }) => row)),
      texts(rows.map(({ row }) => Recipient.customerOf(row)))
    ]
  }]
}

const droppedText =
  `delete from campaign_rows r using unnest($1::text[], $2::integer[], $3::integer[]) d (id, after, upto)
  where r.campaign_id = d.id and r.place > d.after and (d.upto is null or r.place <= d.upto)`

const dropRows = ({ dropped, replaced }: CampaignStep.AddWrites): ReadonlyArray<Statement> => {
  const places = [...dropped, ...replaced]
  return [
    ...unqueue(replaced.map(({ campaignId }) => campaignId)),
    ...places.length === 0 ? [] : [{
      text: droppedText,
      params: [
        texts(places.map(({ campaignId }) => campaignId)),
        integers(places.map(({ after }) => after)),
        integers(places.map(({ to }) => to))
      ]
    }]
  ]
}

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
  write: (writes) => [...keepJobs(writes.jobs), ...dropRows(writes), ...keepRows(writes.added)]
}
