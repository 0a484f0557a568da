/**
 * The handlers of `/v1/campaigns` and `/internal/campaigns`: making, running and reporting on campaigns.
 */
import { Api, Caller, type CampaignsApi } from "@wac/api"
import {
  type Campaign,
  CampaignCounts,
  Campaigns,
  type CampaignStore,
  CampaignTally,
  type CampaignTimeline,
  CheckedRow,
  Comparison,
  type Id,
  type Page,
  type ProblemKind,
  StoreError,
  Time
} from "@wac/core"
import { type DateTime, DateTime as DateTimes, Duration, Effect, Layer, Stream, Struct } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as PacedBody from "../bodies/PacedBody.ts"
import type { FileType } from "../bodies/RecordFile.ts"
import * as RequestBody from "../bodies/RequestBody.ts"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"
import * as RecipientFile from "./RecipientFile.ts"
import * as RecipientReport from "./RecipientReport.ts"

const withTotal = (counts: CampaignCounts.CampaignCounts) => ({ total: CampaignCounts.total(counts), ...counts })

const compared = ({ counts, ...differences }: Comparison.Comparison): typeof CampaignsApi.Comparison.Type => ({
  ...differences,
  counts: { a: withTotal(counts.a), b: withTotal(counts.b) }
})

/** A campaign as the dashboard shows it. */
export const shown = (campaign: Campaign.Campaign): typeof CampaignsApi.Campaign.Type => ({
  ...Struct.pick(campaign, [
    "id",
    "name",
    "status",
    "template",
    "templateB",
    "from",
    "checkedFrom",
    "quietHours",
    "share",
    "maxFailureRate",
    "holdout"
  ]),
  pausedReason: campaign.pausedFor,
  startAt: Time.isoOrNull(campaign.startAt),
  notAfter: Time.isoOrNull(campaign.notAfter),
  createdAt: Time.iso(campaign.createdAt),
  startedAt: Time.isoOrNull(campaign.startedAt),
  completedAt: Time.isoOrNull(campaign.completedAt),
  rows: campaign.rows,
  checked: campaign.checked,
  problems: campaign.problems,
  forecast: campaign.forecast && Struct.omit(campaign.forecast, ["perSecond"]),
  counts: withTotal(campaign.counts),
  reasons: CampaignTally.reasonsOf(campaign.tallies),
  comparison: campaign.templateB === null ? null : compared(Comparison.of(campaign.tallies))
})

/** A row of recipients as the dashboard shows it. */
export const shownRow = (
  row: CheckedRow.CheckedRow
): typeof CampaignsApi.CampaignRow.Type => {
  const { line, message, place, problem, value } = row
  return {
    row: place,
    problem: problem && { ...problem, line, value },
    messageId: message && message.id,
    to: message && message.content.to,
    variant: message && message.variant,
    status: message && message.status,
    outcome: CheckedRow.outcomeOf(row),
    error: message?.error ? Struct.pick(message.error, ["code", "reason", "message"]) : null
  }
}

/** A campaign's timeline as the dashboard shows it. */
const shownTimeline = (
  { step, steps }: CampaignTimeline.Timeline
): typeof CampaignsApi.CampaignTimeline.Type => ({
  stepSeconds: Duration.toSeconds(Duration.millis(step)),
  steps: steps.map(({ at, ...totals }) => ({ at: Time.iso(at), ...totals }))
})

/** The problems of a campaign's rows as the dashboard shows them. */
const shownProblems = (
  { reasons, rows, uncounted }: ProblemKind.ProblemReport
): typeof CampaignsApi.CampaignProblems.Type => ({
  rows,
  uncounted,
  reasons: reasons.map(({ messages, ...reason }) => ({
    ...reason,
    messages: messages.map(({ examples, ...message }) => ({
      ...message,
      examples: examples.map(({ place, ...origin }) => ({ row: place, ...origin }))
    }))
  }))
})

/** The report as a CSV file. If the storage fails meanwhile, the response is incomplete and its connection ends. */
const csvOf = <E>(id: string, pieces: Stream.Stream<ReadonlyArray<CheckedRow.CheckedRow>, E>) =>
  HttpServerResponse.stream(
    Stream.encodeText(Stream.concat(Stream.make(RecipientReport.header), Stream.map(pieces, RecipientReport.lines))),
    { contentType: "text/csv; charset=utf-8", headers: { "content-disposition": `attachment; filename="${id}.csv"` } }
  )

type ById = { readonly params: { readonly id: string } }

type PageQuery = Parameters<typeof Paging.request>[0]

type Times = { readonly startAt?: DateTime.Utc | null; readonly notAfter?: DateTime.Utc | null }

/** The plan in a request's body, with its times in milliseconds. */
export const planOf = <Body extends Times>({ notAfter, startAt, ...plan }: Body) => ({
  ...plan,
  ...(startAt === undefined ? {} : { startAt: startAt && DateTimes.toEpochMillis(startAt) }),
  ...(notAfter === undefined ? {} : { notAfter: notAfter && DateTimes.toEpochMillis(notAfter) })
})

/** A caller's workspace, and what the caller may do with campaigns. */
interface Held {
  readonly workspaceId: Id.WorkspaceId
  readonly campaigns: Campaigns.Operations
}

/**
 * The handlers under `/v1` or `/internal`. `held` finds the caller's workspace, and `pages` gives lists the form that
 * they have there.
 */
const handlersFor = <R, List, RowList>(
  held: Effect.Effect<Held, never, R>,
  pages: {
    readonly list: (page: Page.Page<Campaign.Campaign>) => List
    readonly rows: (page: Page.Page<CheckedRow.CheckedRow>) => RowList
  }
) => {
  const change = (change: Campaign.Change) =>
    Effect.fnUntraced(function*({ params }: ById) {
      const { campaigns, workspaceId } = yield* held
      return shown(yield* campaigns.change(workspaceId, params.id, change))
    }, StoreError.orUnavailable)

  return {
    create: Effect.fnUntraced(function*({ payload }: { readonly payload: typeof CampaignsApi.CreateCampaign.Type }) {
      const { campaigns, workspaceId } = yield* held
      const campaign = yield* campaigns.create(workspaceId, planOf(payload))
      const exchange = yield* Exchange
      exchange.changed = { target: campaign.id }
      return shown(campaign)
    }, StoreError.orUnavailable),
    list: Effect.fnUntraced(function*({ query }: { readonly query: PageQuery & CampaignStore.CampaignFilter }) {
      const { campaigns, workspaceId } = yield* held
      const filter = Struct.pick(query, ["status", "nameContains"])
      return pages.list(yield* campaigns.list(workspaceId, filter, yield* Paging.request(query, "cmp")))
    }, StoreError.orUnavailable),
    get: Effect.fnUntraced(function*({ params }: ById) {
      const { campaigns, workspaceId } = yield* held
      return shown(yield* campaigns.get(workspaceId, params.id))
    }, StoreError.orUnavailable),
    edit: Effect.fnUntraced(
      function*({ params, payload }: ById & { readonly payload: typeof CampaignsApi.EditCampaign.Type }) {
        const { campaigns, workspaceId } = yield* held
        return shown(yield* campaigns.change(workspaceId, params.id, { _tag: "Edit", plan: planOf(payload) }))
      },
      StoreError.orUnavailable
    ),
    remove: Effect.fnUntraced(function*({ params }: ById) {
      const { campaigns, workspaceId } = yield* held
      yield* campaigns.remove(workspaceId, params.id)
    }, StoreError.orUnavailable),
    upload: Effect.fnUntraced(
      function*({ params, query }: ById & { readonly query: RecipientFile.Reading & { readonly replace?: boolean } }) {
        const { campaigns, workspaceId } = yield* held
        const request = yield* HttpServerRequest.HttpServerRequest
        const { confirm } = yield* Exchange
        const type = RequestBody.essenceOf(request.headers["content-type"]) as FileType
        const { replace = false, ...reading } = query
        const rows = Stream.concat(
          RecipientFile.rows(PacedBody.read(request), type, reading),
          Stream.drain(Stream.fromEffect(confirm))
        )
        const end = replace ? "replace" : "add"
        return shown(yield* PacedBody.inTime(campaigns.upload(workspaceId, params.id, rows, end)))
      },
      StoreError.orUnavailable
    ),
    check: change({ _tag: "Check" }),
    start: change({ _tag: "Start" }),
    pause: change({ _tag: "Pause" }),
    resume: change({ _tag: "Resume" }),
    cancel: change({ _tag: "Cancel" }),
    recipients: Effect.fnUntraced(
      function*(
        { params, query, request }: ById & {
          readonly query: PageQuery & CheckedRow.RowFilter
          readonly request: HttpServerRequest.HttpServerRequest
        }
      ) {
        const { campaigns, workspaceId } = yield* held
        const filter = Struct.pick(query, ["outcome", "reason"])
        if (request.headers["accept"]?.toLowerCase().includes("text/csv") === true) {
          return csvOf(params.id, yield* campaigns.allRows(workspaceId, params.id, filter))
        }
        return pages.rows(yield* campaigns.rows(workspaceId, params.id, filter, yield* Paging.request(query, "rows")))
      },
      StoreError.orUnavailable
    )
  }
}

const programs = HandlerGroup.layer(
  Effect.map(
    Campaigns.Campaigns,
    (campaigns) =>
      HttpApiBuilder.group(Api, "campaigns", (handlers) =>
        handlers.handleAll(handlersFor(
          Effect.map(Caller.Caller, ({ key, workspace }) => ({
            workspaceId: workspace.id,
            campaigns: campaigns.boundTo(key.phoneNumberIds)
          })),
          {
            list: (page) => Paging.list(page, shown),
            rows: (page) => Paging.list(page, shownRow)
          }
        )))
  )
)

const people = HandlerGroup.layer(
  Effect.map(
    Campaigns.Campaigns,
    (campaigns) =>
      HttpApiBuilder.group(Api, "campaignsDashboard", (handlers) =>
        handlers.handleAll({
          ...handlersFor(
            Effect.map(Caller.CurrentSession, ({ workspaceId }) => ({ workspaceId, campaigns })),
            {
              list: (page) => Paging.internalList(page, shown),
              rows: (page) => Paging.internalList(page, shownRow)
            }
          ),
          problems: Effect.fnUntraced(function*({ params }) {
            const { workspaceId } = yield* Caller.CurrentSession
            return shownProblems(yield* campaigns.problems(workspaceId, params.id))
          }, StoreError.orUnavailable),
          timeline: Effect.fnUntraced(function*({ params, query }) {
            const { workspaceId } = yield* Caller.CurrentSession
            return shownTimeline(yield* campaigns.timeline(workspaceId, params.id, query.period))
          }, StoreError.orUnavailable)
        }))
  )
)

export const layer = Layer.merge(programs, people)
