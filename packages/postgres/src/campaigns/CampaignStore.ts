/**
 * `CampaignStore` in PostgreSQL: combines the operations of this folder and adds the short statements.
 */
import { Campaign, CampaignStore, type CheckedRow, Page, Recipient } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import { result } from "../Columns.ts"
import { Database } from "../Database.ts"
import { message } from "../messages/StoredSend.ts"
import { texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"
import { beat } from "./BeatHeart.ts"
import { addRows, change } from "./ChangeCampaign.ts"
import { end } from "./EndRecipients.ts"
import { campaignColumns, campaignOf, stateOf } from "./StoredCampaign.ts"
import { work } from "./WorkOnCampaign.ts"

const lockText = `select c.id from campaigns c where c.id = $1 and c.workspace_id = $2
    and c.state ->> 'status' = any ($3::text[]) for no key update`

const removeText = `with c as materialized (${lockText}), m as (
    delete from messages m where m.id in (
      select r.message_id from c join campaign_rows r on r.campaign_id = c.id where r.message_id is not null
    )
  )
  delete from campaigns g using c where g.id = c.id returning g.id`

const rowsText = `select r.place, r.content, r.problem, to_json(m.m) as message
  from campaign_rows r
  join campaigns c on c.id = r.campaign_id and c.workspace_id = $1
  left join lateral (select m from messages m where m.id = r.message_id offset 0) m on true
  where r.campaign_id = $2 and r.place > $3 and r.place <= $4
  order by r.place`

const checkedRow = result<
  Omit<CheckedRow.CheckedRow, "line" | "value"> & { readonly content: Recipient.Row }
>({ place: "integer", problem: "json", content: "json", message })

const checkedRowOf = (row: Row): CheckedRow.CheckedRow => {
  const { content, ...checked } = checkedRow.read(row)
  return { ...checked, ...Recipient.originOf(content) }
}

const takingRows = Campaign.CampaignStatus.literals.filter((status) => Campaign.takesRows({ status }))

export const layer = Layer.effect(
  CampaignStore.CampaignStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const changing = yield* stepped("CampaignStore.change", change)
    const adding = yield* stepped("CampaignStore.addRows", addRows)
    const working = yield* stepped("CampaignStore.work", work)
    const beating = yield* stepped("CampaignStore.beat", beat)
    const ending = yield* stepped("CampaignStore.end", end)

    return CampaignStore.CampaignStore.of({
      create: (campaign) =>
        Effect.asVoid(query(
          "CampaignStore.create",
          "insert into campaigns (id, workspace_id, state) values ($1, $2, $3)",
          [campaign.id, campaign.workspaceId, JSON.stringify(stateOf(campaign))]
        )),
      get: (workspaceId, id) =>
        Effect.map(
          query(
            "CampaignStore.get",
            `select ${campaignColumns} from campaigns c where c.workspace_id = $1 and c.id = $2`,
            [workspaceId, id]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), campaignOf)
        ),
      list: (workspaceId, page) =>
        Effect.map(
          query(
            "CampaignStore.list",
            `select ${campaignColumns} from campaigns c
            where c.workspace_id = $1${page.after === null ? "" : " and c.id < $3"}
            order by c.id desc limit $2`,
            [workspaceId, page.limit + 1, ...page.after === null ? [] : [page.after]]
          ),
          (rows) => Page.fromOverread(rows.map(campaignOf), page, ({ id }) => id)
        ),
      change: (command) => Effect.map(changing(command), Option.fromUndefinedOr),
      addRows: adding,
      remove: (workspaceId, id) =>
        Effect.map(
          query("CampaignStore.remove", removeText, [id, workspaceId, texts(takingRows)]),
          ([row]) => row !== undefined
        ),
      work: (command) => Effect.map(working({ ...command, asked: callerNow(command.now) }), Option.fromUndefinedOr),
      end: ending,
      paused: (workspaceId) =>
        Effect.map(
          query(
            "CampaignStore.paused",
            `select ${campaignColumns} from campaigns c
            where c.state ->> 'status' = $1${workspaceId === null ? "" : " and c.workspace_id = $2"} order by c.id`,
            ["paused" satisfies Campaign.CampaignStatus, ...workspaceId === null ? [] : [workspaceId]]
          ),
          (rows) => rows.map(campaignOf)
        ),
      beat: beating,
      rows: (workspaceId, id, { after, limit }) =>
        Effect.map(
          query("CampaignStore.rows", rowsText, [workspaceId, id, after, after + limit]),
          (rows) => rows.map(checkedRowOf)
        )
    })
  })
)
