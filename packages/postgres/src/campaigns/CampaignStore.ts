/**
 * `CampaignStore` in PostgreSQL: combines the operations of this folder and adds the short statements.
 */
import { Campaign, CampaignStore, type CheckedRow, Page, Recipient } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { asked } from "../Asked.ts"
import { result } from "../Columns.ts"
import { Database } from "../Database.ts"
import { message } from "../messages/StoredSend.ts"
import { texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"
import { addRows, change } from "./ChangeCampaign.ts"
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
    const askedAt = yield* asked
    const changing = yield* stepped("CampaignStore.change", change)
    const adding = yield* stepped("CampaignStore.addRows", addRows)
    const working = yield* stepped("CampaignStore.work", work)

    return CampaignStore.CampaignStore.of({
      create: (campaign) =>
        Effect.asVoid(query("CampaignStore.create", {
          text: "insert into campaigns (id, workspace_id, state) values ($1, $2, $3)",
          params: [campaign.id, campaign.workspaceId, JSON.stringify(stateOf(campaign))]
        })),
      get: (workspaceId, id) =>
        Effect.map(
          query("CampaignStore.get", {
            text: `select ${campaignColumns} from campaigns c where c.workspace_id = $1 and c.id = $2`,
            params: [workspaceId, id]
          }),
          ([row]) => Option.map(Option.fromUndefinedOr(row), campaignOf)
        ),
      list: (workspaceId, page) =>
        Effect.map(
          query("CampaignStore.list", {
            text: `select ${campaignColumns} from campaigns c
            where c.workspace_id = $1${page.after === null ? "" : " and c.id < $3"}
            order by c.id desc limit $2`,
            params: [workspaceId, page.limit + 1, ...page.after === null ? [] : [page.after]]
          }),
          (rows) => Page.fromOverread(rows.map(campaignOf), page, ({ id }) => id)
        ),
      change: (command) => Effect.map(changing(command), Option.fromUndefinedOr),
      addRows: adding,
      remove: (workspaceId, id) =>
        Effect.map(
          query("CampaignStore.remove", { text: removeText, params: [id, workspaceId, texts(takingRows)] }),
          ([row]) => row !== undefined
        ),
      work: (command) => Effect.map(working({ ...command, asked: askedAt(command.now) }), Option.fromUndefinedOr),
      paused: (workspaceId) =>
        Effect.map(
          query("CampaignStore.paused", {
            text: `select ${campaignColumns} from campaigns c
            where c.state ->> 'status' = $1${workspaceId === null ? "" : " and c.workspace_id = $2"} order by c.id`,
            params: ["paused" satisfies Campaign.CampaignStatus, ...workspaceId === null ? [] : [workspaceId]]
          }),
          (rows) => rows.map(campaignOf)
        ),
      rows: (workspaceId, id, { after, limit }) =>
        Effect.map(
          query("CampaignStore.rows", { text: rowsText, params: [workspaceId, id, after, after + limit] }),
          (rows) => rows.map(checkedRowOf)
        )
    })
  })
)
