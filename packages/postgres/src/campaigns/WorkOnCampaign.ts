/**
 * Does a piece of work on a campaign whose work is due (core's `CampaignWorkStep.work`). Lock order: the campaign, then
 * its queue and messages. Rows that other transactions hold are skipped.
 */
import {
  Campaign,
  CampaignWorkStep,
  type CheckedRow,
  type Id,
  type PhoneNumber,
  Recipient,
  type Template,
  type Time,
  Variant
} from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { bigint, boolean, columns, integer, json, result, row, text } from "../Columns.ts"
import { aliasesOf, contact, contactNamed, contactOf } from "../contacts/ContactStep.ts"
import * as StoredSuppression from "../contacts/StoredSuppression.ts"
import type { StepOptions } from "../Database.ts"
import { record } from "../events/Recording.ts"
import { keepSends } from "../messages/KeepSends.ts"
import { message, request, send } from "../messages/StoredSend.ts"
import { sender } from "../numbers/Sender.ts"
import { number } from "../numbers/StoredNumber.ts"
import { dequeue } from "../queue/Dequeue.ts"
import { lease, untry } from "../queue/Lease.ts"
import { ifGiven, type Rows, type Statement, statement, value, variants } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { template } from "../templates/StoredTemplate.ts"
import { campaignColumns, jobOf, keepJobs } from "./StoredCampaign.ts"
import { addTallies } from "./Tallies.ts"

/**
 * A request for work. `asked` is the caller's time in tests that control time; `undefined` means the database's time.
 */
export interface WorkCommand extends CampaignWorkStep.Work {
  readonly asked: number | undefined
}

/** Chooses and locks a campaign. A separate statement, so that the statements after it know which one it chose. */
const choose = statement(
  { asked: value<Time.Instant | null>() },
  ({ asked }) =>
    `select set_config('wac_step.campaign', coalesce((
    select c.id from wac.campaigns c
    where c.work_at <= ${Clocks.at(asked)}
    order by c.work_at limit 1
    for no key update skip locked
  ), ''), true)`
)

const chosen = "current_setting('wac_step.campaign')"

const loadCampaign = statement(
  { provider: value<string>() },
  ({ provider }) =>
    `select ${campaignColumns}, to_json(p.p) as sender, to_json(t.t) as template, to_json(b.b) as template_b,
    not exists (select from wac.send_queue q where q.campaign_id = c.id) as is_done,
    exists (select from wac.suppressions s where s.workspace_id = c.workspace_id) as is_suppressing
  from wac.campaigns c
  ${
      sender("p", {
        workspaceId: "c.workspace_id",
        provider,
        // `Campaign.senderOf`
        named: "coalesce(c.state ->> 'from', c.state ->> 'checkedFrom')"
      })
    }
  left join lateral (
    select t from wac.templates t
    where t.workspace_id = c.workspace_id and t.provider_account_id = (p.p).provider_account_id
      and t.name = c.state -> 'template' ->> 'name' and t.language = c.state -> 'template' ->> 'language' offset 0
  ) t on true
  left join lateral (
    select b from wac.templates b
    where b.workspace_id = c.workspace_id and b.provider_account_id = (p.p).provider_account_id
      and b.name = c.state -> 'templateB' ->> 'name' and b.language = c.state -> 'templateB' ->> 'language' offset 0
  ) b on true
  where c.id = ${chosen}`
)

const loadRows = statement(
  {
    campaignId: value<Id.CampaignId>(),
    workspaceId: value<Id.WorkspaceId>(),
    sender: value<Id.PhoneNumberId | null>(),
    after: value<number>(),
    upTo: value<number>(),
    route: value<string>(),
    limit: value<number>()
  },
  ({ after, campaignId, limit, route, sender, upTo, workspaceId }) =>
    `select r.place, r.content, m.is_known, ${contact.names("n")}
  from wac.campaign_rows r
  left join lateral (${contactNamed(sender, "r.customer")} limit 1) n on true
  cross join lateral (
    select exists (
      select from wac.messages m
      where m.workspace_id = ${workspaceId} and m.route = ${route} and m.key = any (array[r.customer, n.key, n.user_id] || ${
      aliasesOf("n")
    })
    ) as is_known
  ) m
  where r.campaign_id = ${campaignId} and r.place > ${after} and r.place <= ${upTo} order by r.place limit ${limit}`
)

/**
 * Locks and loads due recipients. Transactions that end a recipient lock its message before its row of the queue. This
 * statement locks the row of the queue first, so to avoid deadlocks it skips locked rows of both; the next piece of
 * work takes the skipped recipients.
 */
export const loadQueue = variants({
  campaignId: value<Id.CampaignId>(),
  limit: value<number>()
}, {
  /** The time by which they are due. */
  dueBy: value<Time.Instant | null>(),
  /** Only those that were not tried and are due after this time, those that are due last first. */
  waitingAfter: value<Time.Instant>()
}, ({ campaignId, limit }, { dueBy, waitingAfter }) => {
  const backwards = ifGiven(waitingAfter, () => " desc")
  return `with due as materialized (
    select q.message_id, q.due_at, q.tries, q.time_zone from wac.send_queue q
    where q.campaign_id = ${campaignId}${ifGiven(dueBy, (asked) => ` and q.due_at <= ${Clocks.at(asked)}`)}${
    ifGiven(waitingAfter, (after) => ` and q.due_at > ${after}::bigint and q.tries = 0`)
  }
    order by q.due_at${backwards}, q.message_id${backwards} limit ${limit}
    for update skip locked
  ), locked as materialized (
    select m from wac.messages m where m.id = any (array(select d.message_id from due d)) order by m.id
    for update skip locked
  )
  select to_json(l.m) as send, (l.m).key, d.tries, d.time_zone from locked l join due d on d.message_id = (l.m).id
  order by d.due_at${backwards}, d.message_id${backwards}`
})

/** What was loaded for the chosen campaign; `due` is undefined if no campaign is due. */
interface Loaded {
  readonly now: CampaignWorkStep.LoadedWork["now"]
  readonly due: CampaignWorkStep.LoadedWork | undefined
  readonly command: WorkCommand
}

/** What the decision still needs, and for which campaign. */
interface Need {
  readonly need: CampaignWorkStep.Need
  readonly loaded: Loaded & { readonly due: CampaignWorkStep.LoadedWork }
}

const loadNeed = (
  { loaded: { command, due: { job: { campaign }, sender } }, need }: Need
): ReadonlyArray<Statement> => {
  if (need._tag === "Queue") {
    const { limit, of } = need
    return [loadQueue({ campaignId: campaign.id, limit }, {
      dueBy: of === "due" ? command.asked ?? null : undefined,
      waitingAfter: typeof of === "string" ? undefined : of.waitingAfter
    })]
  }
  const hashes = Object.values(command.hashes)
  return [
    loadRows({
      campaignId: campaign.id,
      workspaceId: campaign.workspaceId,
      sender: sender?.id ?? null,
      after: Campaign.lastChecked(campaign),
      upTo: Campaign.lastPlace(campaign),
      route: Recipient.routeOf(campaign.id),
      limit: need.limit
    }),
    ...hashes.length === 0 ? [] : [
      StoredSuppression.load({ hashes: hashes.map((hash) => ({ workspaceId: campaign.workspaceId, hash })) })
    ]
  ]
}

/** A row of an upload, beside the columns of its customer's contact; `key` is null if there is no contact. */
const placed = row({
  place: integer(),
  content: json<Recipient.Row>(),
  isKnown: boolean(),
  key: text<string | null>()
})

const placedOf = (
  [rows, suppressions = []]: ReadonlyArray<Rows>,
  { command: { hashes }, due: { job: { campaign } } }: Need["loaded"]
): ReadonlyArray<CampaignWorkStep.Placed> => {
  const found = StoredSuppression.indexByHash(suppressions)
  return rows!.map((stored) => {
    const { content: row, isKnown, key, place } = placed.read(stored)
    const customer = Recipient.customerOf(row)
    const hash = customer === null ? undefined : hashes[customer]
    return {
      place,
      row,
      contact: key === null ? undefined : contactOf(stored),
      suppressions: hash === undefined ? [] : found(campaign.workspaceId, hash),
      isKnown
    }
  })
}

const queued = result<CampaignWorkStep.Queued>({ send, key: "text", tries: "integer", timeZone: "text" })

const insertQueued = insert(
  message
    .pick(
      "id",
      "workspaceId",
      "campaignId",
      "phoneNumberId",
      "from",
      "content",
      "status",
      "statusAt",
      "createdAt",
      "variant"
    )
    .and(request),
  "wac.messages"
)

const enqueue = insert(
  row({
    messageId: text<Id.MessageId>(),
    campaignId: text<Id.CampaignId>(),
    dueAt: bigint(),
    timeZone: text<string | null>()
  }),
  "wac.send_queue"
)

const keepRows = statement(
  {
    campaignId: value<Id.CampaignId>(),
    rows: columns<Pick<CheckedRow.CheckedRow, "place" | "problem"> & { readonly messageId: Id.MessageId | null }>({
      place: "integer",
      messageId: "text",
      problem: "json"
    })
  },
  ({ campaignId, rows }) =>
    `update wac.campaign_rows r set message_id = k.message_id, problem = k.problem from ${rows("k")}
  where r.campaign_id = ${campaignId} and r.place = k.place`
)

const keepChecked = (
  { checked, job: { campaign }, tallies }: CampaignWorkStep.WorkWrites
): ReadonlyArray<Statement> => {
  if (checked.length === 0) return []
  const campaignId = campaign.id
  const queued = checked.flatMap(({ customer, message, timeZone }) =>
    message === null ? [] : [{
      ...message,
      campaignId,
      route: Recipient.routeOf(campaignId),
      key: customer!,
      fingerprint: Recipient.fingerprint,
      messageId: message.id,
      dueAt: message.createdAt,
      timeZone
    }]
  )
  return [
    ...insertQueued(queued),
    ...enqueue(queued),
    keepRows({
      campaignId,
      rows: checked.map(({ message, place, problem }) => ({ place, messageId: message && message.id, problem }))
    }),
    ...addTallies([{ campaignId, changes: tallies }])
  ]
}

/** What is loaded in the same row as the chosen campaign. */
const chosenCampaign = result<{
  readonly sender: PhoneNumber.PhoneNumber | null
  readonly template: Template.Template | null
  readonly templateB: Template.Template | null
  readonly isDone: boolean
  readonly isSuppressing: boolean
}>({ sender: number, template, templateB: template, isDone: "boolean", isSuppressing: "boolean" })

const dueOf = (
  [, rows]: ReadonlyArray<Rows>,
  now: CampaignWorkStep.LoadedWork["now"]
): CampaignWorkStep.LoadedWork | undefined => {
  const [row] = rows!
  if (row === undefined) return undefined
  const { isDone, isSuppressing, sender, template, templateB } = chosenCampaign.read(row)
  const job = jobOf(row)
  return {
    now,
    job,
    sender: sender ?? undefined,
    templates: Variant.templatesOf(job.campaign).map((_, i) => [template, templateB][i] ?? undefined),
    isSuppressing,
    isDone,
    rows: null,
    queue: null
  }
}

/** `CampaignStore.work`: one piece of work for each call. The calls of a process run one after another. */
export const work: StepOptions<
  WorkCommand,
  Loaded,
  CampaignWorkStep.Worked | undefined,
  CampaignWorkStep.WorkWrites | undefined,
  Need
> = {
  size: 1,
  load: ([command]) => [
    choose({ asked: command!.asked ?? null }),
    loadCampaign({ provider: command!.provider })
  ],
  read: (rows, now, [command]) => ({ now, due: dueOf(rows, now), command: command! }),
  decide: (loaded, [command]) => {
    const { due } = loaded
    if (due === undefined) return { answers: [undefined], writes: undefined }
    const decided = CampaignWorkStep.work(due, [command!])
    return "needs" in decided
      ? { needs: decided.needs.map((need) => ({ need, loaded: { ...loaded, due } })) }
      : decided
  },
  more: {
    load: (needs) => needs.flatMap(loadNeed),
    read: (loaded, [need], rows) => ({
      ...loaded,
      due: need!.need._tag === "Rows"
        ? { ...need!.loaded.due, rows: placedOf(rows, need!.loaded) }
        : { ...need!.loaded.due, queue: rows[0]!.map(queued.read) }
    })
  },
  write: (writes) =>
    writes === undefined ? [] : [
      ...keepJobs([writes.job]),
      ...keepChecked(writes),
      ...lease(writes.leased),
      ...untry(writes.untried),
      ...dequeue(writes.dequeued),
      ...writes.sends === null ? [] : keepSends(writes.sends),
      ...record(writes.events)
    ]
}
