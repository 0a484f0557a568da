/**
 * Campaigns (contract §11): one template, or two variants of it, sent to many customers, once to each. The model and
 * its transitions; pure.
 */
import { Duration, Result, Schema } from "effect"
import { Forbidden, InvalidBody } from "../Errors.ts"
import type { CampaignId, WorkspaceId } from "../Id.ts"
import type { OutboundMessage } from "../messages/Message.ts"
import * as MessageFiles from "../messages/MessageFiles.ts"
import { TemplateContent } from "../messages/TemplateContent.ts"
import type { E164 } from "../numbers/E164.ts"
import * as PlainText from "../PlainText.ts"
import type { Instant } from "../Time.ts"
import type * as RateCard from "../usage/RateCard.ts"
import type * as CampaignCounts from "./CampaignCounts.ts"
import * as CampaignTally from "./CampaignTally.ts"
import * as FailureRate from "./FailureRate.ts"
import * as Forecast from "./Forecast.ts"
import type { ProblemKind } from "./ProblemKind.ts"
import type { QuietHours } from "./QuietHours.ts"

export const CampaignStatus = Schema.Literals([
  "draft",
  "checking",
  "ready",
  "scheduled",
  "running",
  "paused",
  "completed",
  "cancelled"
]).annotate({
  identifier: "CampaignStatus",
  description: "From `draft` to `completed` or `cancelled`; `running` and `paused` alternate."
})
export type CampaignStatus = typeof CampaignStatus.Type

export const PauseReason = Schema.Literals([
  "person",
  "template_not_approved",
  "template_category",
  "template_changed",
  "file_not_available",
  "sender_not_available",
  "quota_exhausted",
  "failure_rate",
  "provider_policy",
  "restored"
]).annotate({
  identifier: "PauseReason",
  description: "Why a campaign is paused: a person did it, or it paused itself."
})
export type PauseReason = typeof PauseReason.Type

const reasons: { readonly [reason in PauseReason]: string } = {
  person: "a person paused it",
  template_not_approved: "its template is not approved",
  template_category: "the provider has changed the category of its template",
  template_changed: "its template takes other values than when its recipients were checked",
  file_not_available: "a file in its template's values is missing, or the provider does not accept it",
  sender_not_available: "its phone number cannot send",
  quota_exhausted: "the workspace has used up its quota",
  failure_rate: "too many of its last messages failed",
  provider_policy: "the provider restricts the number or the account",
  restored: "the database was restored from a backup, so it may have sent more than is known here; or no " +
    "server ran for a while, so it would have sent late"
}

/** Describes why a campaign is paused, for people. */
export const describe = (reason: PauseReason): string => reasons[reason]

/** The share of a number's rate that a campaign may use (contract §11). The rest is for other sends. */
export const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0.01, maximum: 0.9 }))

/** The {@link Share} of a campaign that does not set one. */
export const defaultShare = 0.5

/** The share of failures above which a campaign pauses itself. */
export const FailureShare = Schema.Finite.check(Schema.isBetween({ minimum: 0.01, maximum: 1 }))

/** The {@link FailureShare} of a campaign that does not set one. */
export const defaultMaxFailureRate = 0.2

/** The share of a campaign's customers who get nothing, for comparison. */
export const Holdout = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 0.5 }))

/** How long a campaign sends after its start if it sets no `notAfter`. */
export const defaultPatience = Duration.hours(24)

/** The settings of a campaign, which people choose. */
export interface Plan {
  readonly name: string
  /** A text value may contain `{{name}}`, which each recipient's variable of that name replaces. */
  readonly template: TemplateContent
  /**
   * A second variant of the template, which half of the customers get, chosen at random; `null` if all get the same.
   */
  readonly templateB: TemplateContent | null
  /** The sender, as `from` in a send. */
  readonly from: string | null
  /** When a campaign that a person has started begins to send; `null` for immediately. */
  readonly startAt: Instant | null
  /** Nothing is sent after this time; `null` for {@link defaultPatience} after the start. */
  readonly notAfter: Instant | null
  /** When recipients get nothing, by their own clocks; `null` if they may get messages at any time. */
  readonly quietHours: QuietHours | null
  readonly share: number
  readonly maxFailureRate: number
  /**
   * The share of the customers, chosen at random, who get nothing, so that the campaign's effect on the others can be
   * measured.
   */
  readonly holdout: number
}

/** The name of a campaign. */
export const CampaignName = PlainText.between(1, 100)

/** The sender of a campaign, as `from` in a send. */
export const CampaignSender = PlainText.between(1, 64)

/** The template of a campaign. */
export const CampaignTemplate = TemplateContent

/** A campaign: its plan, its state and its counts. */
export interface Campaign extends Plan {
  readonly id: CampaignId
  readonly workspaceId: WorkspaceId
  readonly status: CampaignStatus
  /** Why the campaign is paused, or why the check of its rows stopped; else `null`. */
  readonly pausedFor: PauseReason | null
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  /** When a started or cancelled campaign had no recipient left in its queue. */
  readonly completedAt: Instant | null
  /** How many rows of recipients were uploaded. */
  readonly rows: number
  /** How many rows were replaced by later ones. The places of {@link rows} follow theirs. */
  readonly replaced: number
  /**
   * An upload that is not complete yet. The places of its rows follow those of {@link rows}. `null` if there is none.
   */
  readonly upload: { readonly id: string; readonly rows: number } | null
  /** How many of {@link rows} were checked. */
  readonly checked: number
  /** How many of the checked rows have a problem, so that nothing is sent to them. */
  readonly problems: number
  /** The problems of these rows by kind. Read them with `ProblemKind.countedIn`. */
  readonly problemKinds: ReadonlyArray<ProblemKind>
  /**
   * The categories of the campaign's templates (`Variant.templatesOf`) when its rows were checked. `null` if no row was
   * checked, or once a person has resumed the campaign after a change of category.
   */
  readonly categories: ReadonlyArray<string> | null
  /**
   * The number with which the rows of a campaign without {@link Plan.from} were checked; not its id, which changes if
   * the number is removed and added again. `null` if no row was checked, if an earlier version checked them, or if the
   * campaign names its number.
   */
  readonly checkedFrom: E164 | null
  /** How many customers of checked rows count against the messaging limit. */
  readonly limitedCustomers: number
  /** The prices that messages to the checked rows are expected to have. */
  readonly expected: ReadonlyArray<Forecast.Expected>
  /** The checked rows without a time zone, by the countries whose time zones decide for them, if these are several. */
  readonly zoneless: ReadonlyArray<Forecast.Zoneless>
  /** The estimate for the campaign, once its rows are checked. */
  readonly forecast: Forecast.Forecast | null
  /** The sums of {@link tallies} by outcome. */
  readonly counts: CampaignCounts.CampaignCounts
  readonly tallies: ReadonlyArray<CampaignTally.Tally>
  /** The snapshots of the counts from which {@link FailureRate} computes the share of failures. */
  readonly snapshots: FailureRate.Snapshots
  /**
   * Whether the quiet hours were changed after the campaign began to send, so that those who wait for the end of the
   * earlier ones are to be judged again.
   */
  readonly judgesAgain: boolean
  /** The first free slot at the campaign's pace. */
  readonly nextSlot: Instant
}

/** The fields of a campaign that hold its counts, from these tallies. */
export const counted = (
  tallies: ReadonlyArray<CampaignTally.Tally>
): Pick<Campaign, "counts" | "tallies"> => ({ counts: CampaignTally.countsOf(tallies), tallies })

/** The fields of a campaign that its check fills, before the check. */
const unchecked = {
  checked: 0,
  problems: 0,
  problemKinds: [],
  categories: null,
  checkedFrom: null,
  limitedCustomers: 0,
  expected: [],
  zoneless: [],
  forecast: null,
  ...counted([])
} satisfies Partial<Campaign>

/** The number of a campaign, as `from` in a send, even if another number has become the default since its check. */
export const senderOf = ({ from, checkedFrom }: Pick<Campaign, "from" | "checkedFrom">): string | null =>
  from ?? checkedFrom

/** A new campaign: a draft without recipients. Fields that the plan omits have their defaults. */
export const make = (
  created: Pick<Campaign, "id" | "workspaceId" | "createdAt">,
  { from, holdout, maxFailureRate, name, notAfter, quietHours, share, startAt, template, templateB }:
    & Pick<Plan, "name" | "template">
    & Partial<Plan>
): Campaign => ({
  ...created,
  name,
  template,
  templateB: templateB ?? null,
  from: from ?? null,
  startAt: startAt ?? null,
  notAfter: notAfter ?? null,
  quietHours: quietHours ?? null,
  share: share ?? defaultShare,
  maxFailureRate: maxFailureRate ?? defaultMaxFailureRate,
  holdout: holdout ?? 0,
  status: "draft",
  pausedFor: null,
  startedAt: null,
  completedAt: null,
  rows: 0,
  replaced: 0,
  upload: null,
  ...unchecked,
  snapshots: FailureRate.beginning,
  judgesAgain: false,
  nextSlot: 0
})

/** A change that a person makes. */
export type Change =
  | { readonly _tag: "Edit"; readonly plan: Partial<Plan> }
  | { readonly _tag: "Check" | "Start" | "Pause" | "Resume" | "Cancel" }

/**
 * The error for an action that the campaign's status does not allow. `what` completes the sentence "a campaign cannot
 * …".
 */
export const misplaced = ({ status }: Pick<Campaign, "status">, what: string): Forbidden =>
  new Forbidden({ reason: "campaign_state", message: `a campaign with status ${status} cannot ${what}` })

/** The error for a campaign whose sender was changed after the caller was allowed to act for it. */
export const moved = (): Forbidden =>
  new Forbidden({
    reason: "campaign_state",
    message: "the campaign's phone number was changed at the same time: repeat the request"
  })

/** The error for a part of an upload that the campaign did not accept. */
export const misuploaded = (campaign: Campaign): Forbidden =>
  takesRows(campaign)
    ? new Forbidden({
      reason: "campaign_state",
      message: "another upload of recipients to the campaign has begun: wait for its end, and upload the file again"
    })
    : misplaced(campaign, "take more recipients")

const wrong = (campaign: Campaign, what: string): Result.Result<never, Forbidden> =>
  Result.fail(misplaced(campaign, what))

/** Fields that can change without another check of the recipients. */
const adjustable = new Set<string>(["name", "notAfter", "quietHours", "share", "maxFailureRate", "startAt"])

/** The forecast of a campaign after this change of its plan. */
const forecastAfter = (
  { expected, forecast, zoneless, ...campaign }: Campaign,
  { quietHours = campaign.quietHours, share, startAt }: Partial<Plan>,
  now: Instant,
  card: RateCard.RateCard | undefined
): Forecast.Forecast | null => {
  if (forecast === null) return null
  const at = (startAt === undefined ? campaign.startAt : startAt) ?? now
  const shared = share === undefined ? forecast : Forecast.withShare(forecast, share)
  const priced = startAt === undefined || card === undefined
    ? shared
    : Forecast.withPrices(shared, { expected, at }, card)
  return Forecast.withNights(priced, { quietHours, zoneless, at })
}

const edit = (
  campaign: Campaign,
  plan: Partial<Plan>,
  now: Instant,
  card: RateCard.RateCard | undefined
): Result.Result<Campaign, Forbidden> => {
  if (hasEnded(campaign)) return wrong(campaign, "be changed")
  const frozen = Object.keys(plan).find((field) => !adjustable.has(field))
  if (frozen !== undefined && !takesRows(campaign)) {
    return wrong(campaign, `change its ${frozen}: its recipients were checked with it`)
  }
  if (plan.startAt !== undefined && campaign.startedAt !== null) return wrong(campaign, "be started at another time")
  // checked rows hold the messages that will be sent
  const after = frozen === undefined ? campaign : withoutCheck(campaign)
  const edited: Campaign = {
    ...after,
    ...plan,
    forecast: forecastAfter(after, plan, now, card),
    judgesAgain: campaign.judgesAgain || (plan.quietHours !== undefined && campaign.startedAt !== null)
  }
  // a campaign in another status sends nothing before it is started or resumed, which asks for its end
  const isSending = edited.status === "scheduled" || edited.status === "running"
  const movesEnd = plan.startAt !== undefined || plan.notAfter !== undefined
  const refusal = isSending && movesEnd ? endRefusal(edited, now) : undefined
  return refusal === undefined ? Result.succeed(edited) : Result.fail(refusal)
}

/** Whether only a person lets the campaign be checked, started or resumed. */
export const waitsForPerson = ({ status }: Pick<Campaign, "status">): boolean =>
  status === "draft" || status === "ready" || status === "paused"

/** The statuses that a campaign never leaves. */
export const endings = ["completed", "cancelled"] as const satisfies ReadonlyArray<CampaignStatus>

/** Whether nothing more can be done with a campaign. */
export const hasEnded = ({ status }: Pick<Campaign, "status">): boolean =>
  endings.includes(status as (typeof endings)[number])

/** The statuses of a campaign that a person has started and that may not have sent anything. */
export const awaiting = ["scheduled", "paused"] as const satisfies ReadonlyArray<CampaignStatus>

/**
 * Whether nobody has started a campaign. Its queued messages do not count as sends yet, and never will if it has ended.
 */
export const isUnstarted = ({ startedAt, status }: Pick<Campaign, "startedAt" | "status">): boolean =>
  startedAt === null && !awaiting.includes(status as (typeof awaiting)[number])

/** Whether rows of recipients may be added. */
export const takesRows = ({ status }: Pick<Campaign, "status">): boolean => status === "draft" || status === "ready"

/**
 * The maximum number of rows of a campaign: more than there are customers of one business, and few enough that one
 * campaign cannot fill the storage.
 */
export const maxRows = 10_000_000

/** The number of the campaign's rows after an upload of `uploaded` rows that is added to the others or replaces them. */
const rowsAfter = ({ rows }: Pick<Campaign, "rows">, uploaded: number, end: "add" | "replace"): number =>
  end === "add" ? rows + uploaded : uploaded

/** The error for an upload after which the campaign would have too many rows; `undefined` if there is room. */
export const rowsRefusal = (
  campaign: Pick<Campaign, "rows">,
  uploaded: number,
  end: "add" | "replace"
): InvalidBody | undefined =>
  rowsAfter(campaign, uploaded, end) <= maxRows
    ? undefined
    : new InvalidBody({ reason: "too_large", message: `a campaign may have at most ${maxRows} rows of recipients` })

/** The place of the campaign's last row. */
export const lastPlace = ({ replaced, rows }: Pick<Campaign, "replaced" | "rows">): number => replaced + rows

/** The place of the last row that was checked. */
export const lastChecked = ({ checked, replaced }: Pick<Campaign, "checked" | "replaced">): number => replaced + checked

/** The campaign after a complete upload of more rows. Its rows must be checked before it can start. */
export const withUpload = (campaign: Campaign, rows: number): Campaign =>
  rows === 0 ? { ...campaign, upload: null } : {
    ...campaign,
    status: "draft",
    rows: campaign.rows + rows,
    upload: null
  }

/** The campaign as it was before its rows were checked. Only for a campaign that has sent nothing. */
export const withoutCheck = (campaign: Campaign): Campaign => ({
  ...campaign,
  ...unchecked,
  status: "draft",
  pausedFor: null
})

/** The campaign after a complete upload that replaces all earlier rows. Only for a campaign that has sent nothing. */
export const withFile = (campaign: Campaign, rows: number): Campaign => ({
  ...withoutCheck(campaign),
  replaced: lastPlace(campaign),
  rows,
  upload: null
})

/** When a campaign that a person lets send sends first. */
const sendsFrom = ({ startAt }: Pick<Campaign, "startAt">, now: Instant): Instant => Math.max(startAt ?? now, now)

/**
 * The error for a campaign that ends before it could send to those who are left: all of them would be skipped, which
 * nobody can undo. `undefined` if there is time.
 */
const endRefusal = (campaign: Campaign, now: Instant): Forbidden | undefined => {
  const from = sendsFrom(campaign, now)
  return campaign.counts.queued > 0 && endsAt(campaign, from) <= from
    ? new Forbidden({
      reason: "campaign_state",
      message: `the campaign's end (notAfter) ${from > now ? "is before its start" : "has passed"}, so all ` +
        "recipients that are left would be skipped: set a later notAfter first"
    })
    : undefined
}

/** Makes the campaign run, or schedules it if its start time is in the future. Fails if the campaign ends before. */
const begin = (campaign: Campaign, now: Instant): Result.Result<Campaign, Forbidden> => {
  const refusal = endRefusal(campaign, now)
  if (refusal !== undefined) return Result.fail(refusal)
  return Result.succeed(
    sendsFrom(campaign, now) > now
      ? { ...campaign, status: "scheduled", pausedFor: null }
      : { ...campaign, status: "running", pausedFor: null, startedAt: campaign.startedAt ?? now }
  )
}

/**
 * Applies a change. A change that has already happened succeeds and changes nothing, so that it is safe to repeat.
 * Fails if the campaign's status does not allow it. With a rate card, the forecast follows a change of the start.
 */
export const change = (
  campaign: Campaign,
  asked: Change,
  now: Instant,
  card?: RateCard.RateCard
): Result.Result<Campaign, Forbidden> => {
  const { status } = campaign
  switch (asked._tag) {
    case "Edit":
      return edit(campaign, asked.plan, now, card)
    case "Check":
      if (status === "checking" || status === "ready") return Result.succeed(campaign)
      if (status !== "draft") return wrong(campaign, "be checked")
      return campaign.rows === 0
        ? Result.fail(new Forbidden({ reason: "campaign_state", message: "the campaign has no recipients yet" }))
        : Result.succeed({ ...campaign, status: "checking", pausedFor: null })
    case "Start":
      if (status === "running" || status === "scheduled") return Result.succeed(campaign)
      return status === "ready" ? begin(campaign, now) : wrong(campaign, "be started")
    case "Pause":
      if (status === "paused") return Result.succeed(campaign)
      return status === "running" || status === "scheduled"
        ? Result.succeed({ ...campaign, status: "paused", pausedFor: "person" })
        : wrong(campaign, "be paused")
    case "Resume":
      if (status === "running" || status === "scheduled") return Result.succeed(campaign)
      return status === "paused"
        // a person has seen the failures so far, so they do not pause the campaign again
        ? Result.map(begin(campaign, now), (begun) => ({
          ...begun,
          snapshots: [FailureRate.taken(campaign.counts)],
          categories: campaign.pausedFor === "template_category" ? null : campaign.categories
        }))
        : wrong(campaign, "be resumed")
    case "Cancel":
      if (status === "cancelled") return Result.succeed(campaign)
      return status === "completed"
        ? wrong(campaign, "be cancelled")
        : Result.succeed({ ...campaign, status: "cancelled", pausedFor: null })
  }
}

/** Pauses a running campaign for a reason of the service's own. Any other campaign stays as it is. */
export const pauseFor = (campaign: Campaign, reason: PauseReason): Campaign =>
  campaign.status === "running" ? { ...campaign, status: "paused", pausedFor: reason } : campaign

/** The files of ours in the values that a campaign's templates have for all recipients, with the campaign's fields. */
export const filesOf = (
  { template, templateB }: Pick<Plan, "template" | "templateB">
): ReadonlyArray<MessageFiles.File> => [
  ...MessageFiles.ofTemplate(template),
  ...templateB === null ? [] : MessageFiles.ofTemplate(templateB).map((file) => ({
    ...file,
    param: file.param.replace(/^template/, "templateB")
  }))
]

/** Whether a field of a recipient's message holds a file that the campaign has for all recipients. */
export const sharesFile = (
  plan: Pick<Plan, "template" | "templateB">,
  message: OutboundMessage,
  param: string
): boolean =>
  MessageFiles.of(message).some((file) => file.param === param && filesOf(plan).some(({ id }) => id === file.id))

/** Until when a campaign that a person has started may send; `undefined` if it may not. */
export const sendsUntil = (campaign: Campaign, now: Instant): Instant | undefined =>
  isUnstarted(campaign) || hasEnded(campaign) ? undefined : endsAt(campaign, sendsFrom(campaign, now))

/** When a running campaign stops sending. */
export const endsAt = ({ notAfter, startedAt }: Campaign, now: Instant): Instant =>
  notAfter ?? (startedAt ?? now) + Duration.toMillis(defaultPatience)
