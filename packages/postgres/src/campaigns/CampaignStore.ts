/**
 * `CampaignStore` in PostgreSQL: combines the operations of this folder and adds the short statements.
 */
import { Campaign, CampaignStore, type CheckedRow, type Id, Page, Recipient, type StoreError } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import { list, result } from "../Columns.ts"
import { Database } from "../Database.ts"
import { message } from "../messages/StoredSend.ts"
import { filteredPages } from "../Pages.ts"
import { first, ifGiven, isAny, listOf, type Row, statement, value } from "../Statement.ts"
import * as ChangeCampaign from "./ChangeCampaign.ts"
import { campaignColumns, campaignOf, insertCampaign, numberOf } from "./StoredCampaign.ts"
import { countOf, timeline } from "./Timelines.ts"
import { work } from "./WorkOnCampaign.ts"

const id = value<Id.CampaignId>()

const workspaceId = value<Id.WorkspaceId>()

const get = statement({ workspaceId, id }, ({ id, workspaceId }) => `
  select ${campaignColumns} from wac.campaigns c where c.workspace_id = ${workspaceId} and c.id = ${id}`)

/**
 * Reads a page of the list in the order of an index, with or without filters. The range is not written with "=", with
 * which the planner may use the primary key and read other workspaces' campaigns too.
 */
const listed = filteredPages(
  { workspaceId },
  { status: value<Campaign.CampaignStatus>(), namePattern: value<string>() },
  ({ workspaceId }, { namePattern, status }, { isAfter, limit }) =>
    `select ${campaignColumns} from wac.campaigns c
  where c.workspace_id between ${workspaceId} and ${workspaceId} and ${isAfter("c.id")}${
      ifGiven(status, (status) => ` and c.state ->> 'status' = ${status}`)
    }${ifGiven(namePattern, (pattern) => ` and c.state ->> 'name' ~ ${pattern}`)}
  order by c.workspace_id, c.id desc limit ${limit}`
)

const takingRows = Campaign.CampaignStatus.literals.filter((status) => Campaign.takesRows({ status }))

const remove = statement({ workspaceId, id }, ({ id, workspaceId }) =>
  `with c as materialized (
    select c.id from wac.campaigns c where c.id = ${id} and c.workspace_id = ${workspaceId}
      and c.state ->> 'status' in ${listOf(takingRows)} for no key update
  ), m as (
    delete from wac.messages m where m.id in (
      select r.message_id from c join wac.campaign_rows r on r.campaign_id = c.id where r.message_id is not null
    )
  )
  delete from wac.campaigns g using c where g.id = c.id returning g.id`)

const pausedText = (isOf: string): string =>
  `select ${campaignColumns} from wac.campaigns c
  where c.state ->> 'status' = '${"paused" satisfies Campaign.CampaignStatus}'${isOf} order by c.id`

const pausedOf = statement({ workspaceId }, ({ workspaceId }) => pausedText(` and c.workspace_id = ${workspaceId}`))

const place = value<number>()

const rowsText = (workspaceId: string, id: string, isOf: string): string => `
  with c as materialized (
    select ${numberOf("replaced")} + ${numberOf("checked")} as last_checked from wac.campaigns c
    where c.id = ${id} and c.workspace_id = ${workspaceId}
  )
  select r.place, r.content, case when r.place <= c.last_checked then r.problem end as problem, to_json(m.m) as message
  from c
  join wac.campaign_rows r on r.campaign_id = ${id}
  left join lateral (
    select m from wac.messages m where m.id = r.message_id and r.place <= c.last_checked offset 0
  ) m on true
  where ${isOf}
  order by r.place`

const rows = statement(
  { workspaceId, id, after: place, upTo: place },
  ({ after, id, upTo, workspaceId }) => rowsText(workspaceId, id, `r.place > ${after} and r.place <= ${upTo}`)
)

const rowsAt = statement(
  { workspaceId, id, places: list<number>("integer") },
  ({ id, places, workspaceId }) => rowsText(workspaceId, id, `r.place = any (${places})`)
)

const checkedRow = result<
  Omit<CheckedRow.CheckedRow, "line" | "value"> & { readonly content: Recipient.Row }
>({ place: "integer", problem: "json", content: "json", message })

const checkedRowOf = (row: Row): CheckedRow.CheckedRow => {
  const { content, ...checked } = checkedRow.read(row)
  return { ...checked, ...Recipient.originOf(content) }
}

export const layer = Layer.effect(
  CampaignStore.CampaignStore,
  Effect.gen(function*() {
    const { planned, query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const clear = Effect.fnUntraced(function*(operation: string, id: Id.CampaignId, after: number) {
      let place: number | null = after
      while (place !== null) {
        const [page, queue]: ReturnType<typeof ChangeCampaign.clear> = ChangeCampaign.clear(id, place)
        place = ChangeCampaign.reached(yield* planned(operation, page))
        yield* planned(operation, queue)
      }
    })
    const cleared = <Command extends { readonly id: Id.CampaignId }, A>(
      operation: string,
      step: (command: Command) => Effect.Effect<ChangeCampaign.Answer<A, Command>, StoreError.StoreError>
    ) =>
      Effect.fnUntraced(function*(first: Command) {
        let command = first
        while (true) {
          const { again, answer, clearAfter } = yield* step(command)
          const clearing = clearAfter === null ? Effect.void : clear(operation, command.id, clearAfter)
          // the step is done, and the next one that the rows would disturb clears them
          if (again === null) return yield* Effect.as(Effect.ignore(clearing), answer)
          yield* clearing
          command = again
        }
      })
    const change = cleared("CampaignStore.change", yield* stepped("CampaignStore.change", ChangeCampaign.change))
    const addRows = cleared("CampaignStore.addRows", yield* stepped("CampaignStore.addRows", ChangeCampaign.addRows))
    const replaceAll = yield* stepped("CampaignStore.remove", ChangeCampaign.addRows)
    const working = yield* stepped("CampaignStore.work", work)

    return CampaignStore.CampaignStore.of({
      create: (campaign) => Effect.asVoid(query("CampaignStore.create", insertCampaign(campaign))),
      get: (workspaceId, id) => Effect.map(query("CampaignStore.get", get({ workspaceId, id })), first(campaignOf)),
      timeline: (workspaceId, id) =>
        Effect.map(query("CampaignStore.timeline", timeline({ workspaceId, id })), (rows) => rows.map(countOf)),
      list: (workspaceId, { nameContains, status }, page) => {
        const namePattern = nameContains === undefined ? undefined : CampaignStore.patternOf(nameContains)
        return Effect.map(
          query("CampaignStore.list", listed({ workspaceId }, { status, namePattern }, page)),
          (rows) => Page.fromOverread(rows.map(campaignOf), page, ({ id }) => id)
        )
      },
      change: (command) => Effect.map(change(command), Option.fromUndefinedOr),
      addRows,
      // first, nothing replaces its rows: if the removal is interrupted, the campaign has no recipients
      remove: Effect.fnUntraced(function*(workspaceId, id) {
        const { answer } = yield* replaceAll({ workspaceId, id, rows: [], upload: "", isFirst: true, end: "replace" })
        if (!answer) return false
        yield* clear("CampaignStore.remove", id, 0)
        return isAny(yield* query("CampaignStore.remove", remove({ workspaceId, id })))
      }),
      work: (command) => Effect.map(working({ ...command, asked: callerNow(command.now) }), Option.fromUndefinedOr),
      paused: (workspaceId) =>
        Effect.map(
          query("CampaignStore.paused", workspaceId === null ? { text: pausedText("") } : pausedOf({ workspaceId })),
          (rows) => rows.map(campaignOf)
        ),
      rows: (workspaceId, id, { after, limit }) =>
        Effect.map(
          query("CampaignStore.rows", rows({ workspaceId, id, after, upTo: after + limit })),
          (rows) => rows.map(checkedRowOf)
        ),
      rowsAt: (workspaceId, id, places) =>
        Effect.map(
          query("CampaignStore.rowsAt", rowsAt({ workspaceId, id, places })),
          (rows) => rows.map(checkedRowOf)
        )
    })
  })
)
