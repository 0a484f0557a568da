/**
 * A piece of a campaign's work (core's `CampaignWorkStep.work`). Lock order: the campaign, then its queue and messages.
 * Those that others hold are skipped.
 */
import { Campaign, CampaignWorkStep, type Idempotency, Recipient, Variant } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { plain } from "../Column.ts"
import { aliasesOf, contact, contactNamed, contactOf } from "../contacts/ContactStep.ts"
import * as StoredSuppression from "../contacts/StoredSuppression.ts"
import type { StepOptions } from "../Database.ts"
import { record } from "../events/Recording.ts"
import { keepSends } from "../messages/KeepSends.ts"
import { sendOf, type StoredSend } from "../messages/StoredSend.ts"
import { sender } from "../numbers/Sender.ts"
import { numberOf } from "../numbers/StoredNumber.ts"
import { instants, integers, jsons, texts } from "../Parameter.ts"
import type { Row, Rows, Statement } from "../Statement.ts"
import { templateOf } from "../templates/StoredTemplate.ts"
import { dequeue } from "./Dequeue.ts"
import { campaignColumns, jobOf, keepJobs } from "./StoredCampaign.ts"
import { addTallies } from "./Tallies.ts"

/** A piece of work, with the caller's time if that judges. */
export interface WorkCommand extends CampaignWorkStep.Work {
  readonly asked: number | undefined
}

/** A separate statement, so that the statements after it know which campaign it has chosen. */
const chooseText = `select set_config('wac.campaign', coalesce((
    select c.id from campaigns c
    where c.work_at <= ${Clocks.at("$1")}
    order by c.work_at limit 1
    for no key update skip locked
  ), ''), true)`

const chosen = "current_setting('wac.campaign')"

const campaignText =
  `select ${campaignColumns}, to_json(p.p) as sender, to_json(t.t) as template, to_json(b.b) as template_b,
    not exists (select from campaign_queue q where q.campaign_id = c.id) as is_done,
    exists (select from suppressions s where s.workspace_id = c.workspace_id) as is_suppressing
  from campaigns c
  ${sender("p", { workspaceId: "c.workspace_id", provider: "$1", named: "(c.state ->> 'from')" })}
  left join lateral (
    select t from templates t
    where t.workspace_id = c.workspace_id and t.provider_account_id = (p.p).provider_account_id
      and t.name = c.state -> 'template' ->> 'name' and t.language = c.state -> 'template' ->> 'language' offset 0
  ) t on true
  left join lateral (
    select b from templates b
    where b.workspace_id = c.workspace_id and b.provider_account_id = (p.p).provider_account_id
      and b.name = c.state -> 'templateB' ->> 'name' and b.language = c.state -> 'templateB' ->> 'language' offset 0
  ) b on true
  where c.id = ${chosen}`

const rowsText = `select r.place, r.content, m.is_known, ${contact.names("n")}
  from campaign_rows r
  left join lateral (${contactNamed("$4", "r.customer")}) n on true
  cross join lateral (
    select exists (
      select from messages m
      where m.workspace_id = $5 and m.route = $6 and m.key = any (array[r.customer, n.key, n.user_id] || ${
  aliasesOf("n")
})
    ) as is_known
  ) m
  where r.campaign_id = $1 and r.place > $2 and r.place <= $7 order by r.place limit $3`

/**
 * Whoever ends a recipient locks its message before its place in the queue. This locks the place first, so it waits for
 * neither: the next piece of work takes the recipients that it skips.
 */
const queueText = `with due as materialized (
    select q.message_id, q.due_at, q.tries, q.time_zone from campaign_queue q
    where q.campaign_id = $1 and q.due_at <= ${Clocks.at("$2")}
    order by q.due_at, q.message_id limit $3
    for update skip locked
  ), locked as materialized (
    select m from messages m where m.id = any (array(select d.message_id from due d)) order by m.id
    for update skip locked
  )
  select to_json(l.m) as send, d.tries, d.time_zone from locked l join due d on d.message_id = (l.m).id
  order by d.due_at, d.message_id`

/** What was loaded for one campaign; `due` is undefined if none is due. */
interface Loaded {
  readonly now: CampaignWorkStep.LoadedWork["now"]
  readonly due: CampaignWorkStep.LoadedWork | undefined
  readonly command: WorkCommand
}

/** What has to be loaded, and for which campaign. */
interface Need {
  readonly need: CampaignWorkStep.Need
  readonly loaded: Loaded & { readonly due: CampaignWorkStep.LoadedWork }
}

const loadNeed = (
  { loaded: { command, due: { job: { campaign }, sender } }, need }: Need
): ReadonlyArray<Statement> => {
  if (need._tag === "Queue") {
    return [{ text: queueText, params: [campaign.id, command.asked ?? null, need.limit] }]
  }
  const hashes = Object.values(command.hashes)
  return [
    {
      text: rowsText,
      params: [
        campaign.id,
        Campaign.lastChecked(campaign),
        need.limit,
        sender?.id ?? null,
        campaign.workspaceId,
        Recipient.routeOf(campaign.id),
        Campaign.lastPlace(campaign)
      ]
    },
    ...hashes.length === 0 ? [] : [{
      text: StoredSuppression.loadText,
      params: [texts(hashes.map(() => campaign.workspaceId)), texts(hashes)]
    }]
  ]
}

const placedOf = (
  [rows, suppressions = []]: ReadonlyArray<Rows>,
  { command: { hashes }, due: { job: { campaign } } }: Need["loaded"]
): ReadonlyArray<CampaignWorkStep.Placed> => {
  const found = StoredSuppression.found(suppressions)
  return rows!.map((stored) => {
    const row = plain<Recipient.Row>(stored, "content")
    const customer = Recipient.customerOf(row)
    const hash = customer === null ? undefined : hashes[customer]
    return {
      place: plain(stored, "place"),
      row,
      contact: stored["key"] === null ? undefined : contactOf(stored),
      suppressions: hash === undefined ? [] : found(campaign.workspaceId, hash),
      isKnown: plain(stored, "is_known")
    }
  })
}

const queuedOf = (row: Row): CampaignWorkStep.Queued => ({
  send: sendOf(plain<StoredSend>(row, "send")),
  key: plain<StoredSend>(row, "send")["key"] as Idempotency.IdempotencyKey,
  tries: plain(row, "tries"),
  timeZone: plain(row, "time_zone")
})

const insertText = `insert into messages (id, workspace_id, campaign_id, phone_number_id, from_number, content, status,
    status_at, created_at, route, key, fingerprint, variant)
  select m.id, $1, $2, $3, $4, m.content, $5, $6, $6, $7, m.key, $8, m.variant
  from unnest($9::text[], $10::json[], $11::text[], $12::text[]) m (id, content, key, variant)`

const enqueueText = `insert into campaign_queue (message_id, campaign_id, due_at, time_zone)
  select q.id, $1, $2, q.time_zone from unnest($3::text[], $4::text[]) q (id, time_zone)`

const checkedText = `update campaign_rows r set message_id = k.message_id, problem = k.problem
  from unnest($2::integer[], $3::text[], $4::json[]) k (place, message_id, problem)
  where r.campaign_id = $1 and r.place = k.place`

const keepChecked = (
  { checked, job: { campaign }, tallies }: CampaignWorkStep.WorkWrites
): ReadonlyArray<Statement> => {
  if (checked.length === 0) return []
  const queued = checked.flatMap(({ customer, message, timeZone }) =>
    message === null ? [] : [{ customer, message, timeZone }]
  )
  const [first] = queued
  return [
    ...first === undefined ? [] : [{
      text: insertText,
      params: [
        campaign.workspaceId,
        campaign.id,
        first.message.phoneNumberId,
        first.message.from,
        first.message.status,
        first.message.createdAt,
        Recipient.routeOf(campaign.id),
        Recipient.fingerprint,
        texts(queued.map(({ message }) => message.id)),
        jsons(queued.map(({ message }) => message.content)),
        texts(queued.map(({ customer }) => customer)),
        texts(queued.map(({ message }) => message.variant))
      ]
    }, {
      text: enqueueText,
      params: [
        campaign.id,
        first.message.createdAt,
        texts(queued.map(({ message }) => message.id)),
        texts(queued.map(({ timeZone }) => timeZone))
      ]
    }],
    {
      text: checkedText,
      params: [
        campaign.id,
        integers(checked.map(({ place }) => place)),
        texts(checked.map(({ message }) => message && message.id)),
        jsons(checked.map(({ problem }) => problem))
      ]
    },
    ...addTallies([{ campaignId: campaign.id, changes: tallies }])
  ]
}

const leaseText = `update campaign_queue q set due_at = l.due_at
  from unnest($1::text[], $2::bigint[]) l (message_id, due_at) where q.message_id = l.message_id`

/** The statements that make recipients due at other times. */
const lease = (leased: CampaignWorkStep.WorkWrites["leased"]): ReadonlyArray<Statement> =>
  leased.length === 0 ? [] : [{
    text: leaseText,
    params: [texts(leased.map(({ messageId }) => messageId)), instants(leased.map(({ dueAt }) => dueAt))]
  }]

const dueOf = (
  [, rows]: ReadonlyArray<Rows>,
  now: CampaignWorkStep.LoadedWork["now"]
): CampaignWorkStep.LoadedWork | undefined => {
  const [row] = rows!
  if (row === undefined) return undefined
  const sender = plain<Row | null>(row, "sender")
  const job = jobOf(row)
  const found = [row["template"], row["template_b"]] as ReadonlyArray<Row | null>
  return {
    now,
    job,
    sender: sender === null ? undefined : numberOf(sender),
    templates: Variant.templatesOf(job.campaign).map((_, i) => found[i] ? templateOf(found[i]) : undefined),
    isSuppressing: plain(row, "is_suppressing"),
    isDone: plain(row, "is_done"),
    rows: null,
    queue: null
  }
}

/**
 * `CampaignStore.work`. If several callers come at once, one piece of work is done, for the first; the others are told
 * that there was none for them.
 */
export const work: StepOptions<
  WorkCommand,
  Loaded,
  CampaignWorkStep.Worked | undefined,
  CampaignWorkStep.WorkWrites | undefined,
  Need
> = {
  size: 1,
  load: ([command]) => [
    { text: chooseText, params: [command!.asked ?? null] },
    { text: campaignText, params: [command!.provider] }
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
        : { ...need!.loaded.due, queue: rows[0]!.map(queuedOf) }
    })
  },
  write: (writes) =>
    writes === undefined ? [] : [
      ...keepJobs([writes.job]),
      ...keepChecked(writes),
      ...lease(writes.leased),
      ...dequeue(writes.dequeued),
      ...writes.sends === null ? [] : keepSends(writes.sends),
      ...record(writes.events)
    ]
}
