/**
 * Changes of campaigns, and uploads of their rows (core's `CampaignStep.change` and `addRows`).
 */
import { Campaign, CampaignStep, type Errors, type Id, Recipient } from "@wac/core"
import type { Result } from "effect"
import { boolean, integer, json, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { campaignColumns, jobOf, keepJobs, numberOf } from "./StoredCampaign.ts"

const ids = list<Id.CampaignId>("text")

/** Locks campaigns. This waits for work in progress on them. */
const lock = statement({ ids }, ({ ids }) => `
  select c.id from wac.campaigns c where c.id = any (${ids}) order by c.id for no key update`)

/**
 * Loads the locked campaigns. It must come after {@link lock}, so that it sees what the lock waited for. Also whether
 * messages of an earlier check, or rows of an earlier upload, are still to be deleted ({@link clear}).
 */
const load = statement({ ids }, ({ ids }) =>
  `select ${campaignColumns}, ${numberOf("checked")} = 0 and exists (
    select from wac.send_queue q where q.campaign_id = c.id
  ) as has_messages, exists (
    select from wac.campaign_rows r where r.campaign_id = c.id and r.place > ${numberOf("replaced")} + ${
    numberOf("rows")
  }
  ) as has_rows
  from wac.campaigns c where c.id = any (${ids})`)

const leftovers = row({ hasMessages: boolean(), hasRows: boolean() })

/** A campaign, and what an earlier change of it has left. */
interface Loaded extends CampaignStep.Job {
  readonly hasMessages: boolean
  readonly hasRows: boolean
}

/** How a command names a campaign. */
type Named = Pick<CampaignStep.Change, "workspaceId" | "id">

const loadJobs = (commands: ReadonlyArray<Named>): ReadonlyArray<Statement> => {
  const ids = [...new Set(commands.map(({ id }) => id))]
  return [lock({ ids }), load({ ids })]
}

const jobsIn = (rows: Rows) => {
  const jobs = new Map<Id.CampaignId, Loaded>(rows.map((row) => {
    const job = { ...jobOf(row), ...leftovers.read(row) }
    return [job.campaign.id, job]
  }))
  return ({ id, workspaceId }: Named): Loaded | undefined => {
    const job = jobs.get(id)
    return job?.campaign.workspaceId === workspaceId ? job : undefined
  }
}

const isUnchecked = ({ checked }: Campaign.Campaign): boolean => checked === 0

const uncount = unlessEmpty(ids, (ids) => `delete from wac.campaign_tallies t where t.campaign_id = any (${ids})`)

/**
 * The answer of a step. A campaign may have millions of rows, more than one statement can delete in time. So a step
 * leaves them after the last place that was checked, where no process sends them and no list shows them, and names them
 * here: they are cleared in further transactions.
 */
export interface Answer<A, Command> {
  readonly answer: A
  /** The place after which rows are to be cleared; `null` if no row is. */
  readonly clearAfter: number | null
  /** The command to carry out once they are cleared, instead of the answer; `null` if the answer is final. */
  readonly again: Command | null
}

/** The maximum number of rows that one transaction clears. */
export const clearedAtOnce = 2000

/**
 * Parts of a `with` that lock and delete the messages that `of` names. PostgreSQL runs the deletions of one statement in
 * no stated order, so {@link lockedFirst} makes each wait for these locks: messages are locked before the queue.
 */
const deleteMessages = (of: string): string =>
  `locked as materialized (
    select m.id from wac.messages m where m.id = any (array(select o.message_id from ${of} o)) order by m.id for update
  ), messages as (
    delete from wac.messages m where m.id = any (array(select l.id from locked l))
  )`

/** The ids that `of` names, once their messages are locked. An entry of the queue may have no message left. */
const lockedFirst = (of: string): string =>
  `array(select o.message_id from ${of} o where (select count(*) from locked) >= 0)`

/**
 * Clears a page of a campaign's rows. Rows whose places were replaced, and rows of an upload that was dropped, are
 * deleted; other rows that are not checked become as they were uploaded. Their messages are deleted: a campaign that
 * was started has checked all of its rows, so no process sends the messages. What to clear follows from the campaign's
 * state alone, so this is safe at any time and can be repeated. It returns the last place of the page.
 */
const clearPage = statement(
  { id: value<Id.CampaignId>(), after: value<number>() },
  ({ after, id }) =>
    `with c as materialized (
    select ${numberOf("replaced")} as replaced, ${numberOf("replaced")} + ${numberOf("checked")} as checked,
      ${numberOf("replaced")} + ${numberOf("rows")} + coalesce((c.state -> 'upload' ->> 'rows')::integer, 0) as uploaded
    from wac.campaigns c where c.id = ${id}
  ), page as materialized (
    select r.place, r.message_id, r.problem is not null as has_problem from wac.campaign_rows r
    where r.campaign_id = ${id} and r.place > ${after}::integer
    order by r.place limit ${clearedAtOnce}
  ), judged as materialized (
    select p.*, p.place <= c.replaced or p.place > c.uploaded as is_gone from page p cross join c
    where p.place <= c.replaced or p.place > c.checked
  ), named as materialized (
    select j.message_id from judged j where j.message_id is not null
  ), ${deleteMessages("named")}, queue as (
    delete from wac.send_queue q where q.message_id = any (${lockedFirst("named")})
  ), gone as (
    delete from wac.campaign_rows r
    where r.campaign_id = ${id} and r.place = any (array(select j.place from judged j where j.is_gone))
  ), unchecked as (
    update wac.campaign_rows r set message_id = null, problem = null
    where r.campaign_id = ${id} and r.place = any (array(
      select j.place from judged j where not j.is_gone and (j.message_id is not null or j.has_problem)
    ))
  )
  select max(p.place) as reached from page p having count(*) = ${clearedAtOnce}`
)

/** Deletes queued messages of a campaign that has checked none of its rows, also those that no row names. */
const clearQueue = statement(
  { id: value<Id.CampaignId>() },
  ({ id }) =>
    `with queued as materialized (
    select q.message_id from wac.send_queue q
    where q.campaign_id = ${id} and exists (
      select from wac.campaigns c where c.id = ${id} and ${numberOf("checked")} = 0
    )
    limit ${clearedAtOnce}
  ), ${deleteMessages("queued")}
  delete from wac.send_queue q where q.message_id = any (${lockedFirst("queued")})`
)

/** The transactions that clear a page. In one transaction, they would not lock all messages in the order of their ids. */
export const clear = (
  id: Id.CampaignId,
  after: number
): readonly [page: ReadonlyArray<Statement>, queue: ReadonlyArray<Statement>] => [
  [lock({ ids: [id] }), clearPage({ id, after })],
  [lock({ ids: [id] }), clearQueue({ id })]
]

const page = row({ reached: integer() })

/** Reads, from the rows of the first transaction, the place after which {@link clear} continues; `null` after the last page. */
export const reached = ([, rows]: ReadonlyArray<Rows>): number | null =>
  rows!.map((row) => page.read(row).reached)[0] ?? null

/** `CampaignStore.change`. */
export const change: StepOptions<
  CampaignStep.Change,
  { readonly now: CampaignStep.LoadedJobs["now"]; readonly job: (command: Named) => Loaded | undefined },
  Answer<Result.Result<Campaign.Campaign, Errors.Forbidden> | undefined, CampaignStep.Change>,
  CampaignStep.ChangeWrites
> = {
  // what a command leaves must be cleared before the next one
  size: 1,
  load: (commands) => loadJobs(commands),
  read: ([, rows], now) => ({ now, job: jobsIn(rows!) }),
  decide: (loaded, [command]) => {
    if (loaded.job(command!)?.hasMessages === true) {
      const answer = { answer: undefined, clearAfter: 0, again: command! }
      return { answers: [answer], writes: { jobs: [], unchecked: [] } }
    }
    const { answers: [answer], writes } = CampaignStep.change(loaded, [command!])
    return { answers: [{ answer, clearAfter: writes.unchecked.length > 0 ? 0 : null, again: null }], writes }
  },
  write: ({ jobs, unchecked }) => [
    ...keepJobs(jobs),
    // an erasure counts messages that are still to be cleared
    ...uncount([...unchecked, ...jobs.map(({ campaign }) => campaign).filter(isUnchecked).map(({ id }) => id)])
  ]
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

/** The place after which a campaign has no rows that count, or may count at the end of an upload. */
const lastUploaded = ({ campaign }: CampaignStep.Job): number =>
  Campaign.lastPlace(campaign) + (campaign.upload?.rows ?? 0)

/** `CampaignStore.addRows`. */
export const addRows: StepOptions<
  CampaignStep.AddRows,
  { readonly now: CampaignStep.LoadedCampaigns["now"]; readonly job: (command: Named) => Loaded | undefined },
  Answer<boolean, CampaignStep.AddRows>,
  CampaignStep.AddWrites
> = {
  // each command may hold many rows
  size: 1,
  load: (commands) => loadJobs(commands),
  read: ([, rows], now) => ({ now, job: jobsIn(rows!) }),
  decide: (loaded, [command]) => {
    const whole = CampaignStep.addRows(loaded, [command!])
    const [isTaken] = whole.answers
    if (!isTaken) return { answers: [{ answer: false, clearAfter: null, again: null }], writes: whole.writes }
    // rows of an earlier upload have the same places: this upload begins, which ends the other, but brings no rows yet
    const isEmpty = command!.rows.length === 0 && command!.end !== null
    const isBegun = command!.isFirst && !isEmpty && loaded.job(command!)?.hasRows === true
    const { writes } = isBegun
      ? CampaignStep.addRows(loaded, [{ ...command!, rows: [], end: null }])
      : whole
    const [job] = writes.jobs
    const clearAfter = isBegun || command!.end === "drop" ? lastUploaded(job!) : command!.end === "replace" ? 0 : null
    return { answers: [{ answer: true, clearAfter, again: isBegun ? { ...command!, isFirst: false } : null }], writes }
  },
  write: ({ added, jobs, replaced }) => [
    ...keepJobs(jobs),
    ...uncount(replaced.map(({ campaignId }) => campaignId)),
    ...keepRows(added)
  ]
}
