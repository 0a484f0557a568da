/**
 * `/internal/campaigns`.
 */
import { Api, Caller, type CampaignsApi } from "@wac/api"
import { type Campaign, CampaignCounts, Campaigns, type CampaignStore, StoreError, Time } from "@wac/core"
import { type DateTime, DateTime as DateTimes, Effect, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as RequestBody from "../bodies/RequestBody.ts"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"
import * as RecipientFile from "./RecipientFile.ts"

/** A campaign as the dashboard shows it. */
export const shown = (campaign: Campaign.Campaign): typeof CampaignsApi.Campaign.Type => ({
  ...Struct.pick(campaign, ["id", "name", "status", "template", "from", "share", "maxFailureRate"]),
  pausedReason: campaign.pausedFor,
  startAt: Time.isoOrNull(campaign.startAt),
  notAfter: Time.isoOrNull(campaign.notAfter),
  createdAt: Time.iso(campaign.createdAt),
  startedAt: Time.isoOrNull(campaign.startedAt),
  completedAt: Time.isoOrNull(campaign.completedAt),
  rows: campaign.rows,
  checked: campaign.checked,
  problems: campaign.problems,
  counts: { total: CampaignCounts.total(campaign.counts), ...campaign.counts }
})

/** A row of recipients as the dashboard shows it. */
export const shownRow = (
  { message, place, problem }: CampaignStore.CheckedRow
): typeof CampaignsApi.CampaignRow.Type => ({
  row: place,
  problem,
  messageId: message && message.id,
  to: message && message.content.to,
  status: message && message.status,
  error: message?.error ? Struct.pick(message.error, ["code", "reason", "message"]) : null
})

type Times = { readonly startAt?: DateTime.Utc | null; readonly notAfter?: DateTime.Utc | null }

/** The plan of a body, with its times as instants. */
export const planOf = <Body extends Times>({ notAfter, startAt, ...plan }: Body) => ({
  ...plan,
  ...(startAt === undefined ? {} : { startAt: startAt && DateTimes.toEpochMillis(startAt) }),
  ...(notAfter === undefined ? {} : { notAfter: notAfter && DateTimes.toEpochMillis(notAfter) })
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const campaigns = yield* Campaigns.Campaigns

    const change = (change: Campaign.Change) =>
      Effect.fnUntraced(function*({ params }: { readonly params: { readonly id: string } }) {
        const { workspaceId } = yield* Caller.CurrentSession
        return shown(yield* campaigns.change(workspaceId, params.id, change))
      }, StoreError.orUnavailable)

    return HttpApiBuilder.group(Api, "campaigns", (handlers) =>
      handlers.handleAll({
        create: Effect.fnUntraced(function*({ payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const campaign = yield* campaigns.create(workspaceId, planOf(payload))
          const exchange = yield* Exchange
          exchange.changed = { target: campaign.id }
          return shown(campaign)
        }, StoreError.orUnavailable),
        list: Effect.fnUntraced(function*({ query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return Paging.internalList(yield* campaigns.list(workspaceId, yield* Paging.request(query)), shown)
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* campaigns.get(workspaceId, params.id))
        }, StoreError.orUnavailable),
        edit: Effect.fnUntraced(function*({ params, payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* campaigns.change(workspaceId, params.id, { _tag: "Edit", plan: planOf(payload) }))
        }, StoreError.orUnavailable),
        remove: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          yield* campaigns.remove(workspaceId, params.id)
        }, StoreError.orUnavailable),
        upload: Effect.fnUntraced(function*({ params, payload, request }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const type = RequestBody.essenceOf(request.headers["content-type"]) as RecipientFile.FileType
          return shown(yield* campaigns.upload(workspaceId, params.id, RecipientFile.rows(payload, type)))
        }, StoreError.orUnavailable),
        check: change({ _tag: "Check" }),
        start: change({ _tag: "Start" }),
        pause: change({ _tag: "Pause" }),
        resume: change({ _tag: "Resume" }),
        cancel: change({ _tag: "Cancel" }),
        recipients: Effect.fnUntraced(function*({ params, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const page = yield* Paging.request(query)
          return Paging.internalList(yield* campaigns.rows(workspaceId, params.id, query.outcome, page), shownRow)
        }, StoreError.orUnavailable)
      }))
  })
)
