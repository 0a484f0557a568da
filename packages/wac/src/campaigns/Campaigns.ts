/**
 * Campaigns (contract §11): one template to many customers, each once.
 */
import { CampaignsApi } from "@wac/api"
import { type Campaign as Core, Campaigns as Service, Errors, type Id, Recipient } from "@wac/core"
import { CampaignsHandlers } from "@wac/http"
import { Effect, Schema, Stream } from "effect"
import type {
  BodyParams,
  MessageStatus,
  TemplateButton,
  TemplateContent,
  TemplateHeader
} from "../generated/MessageContents.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import { iso, type Moment } from "../Moment.ts"
import type { Running } from "../Running.ts"
import type { UsageLine } from "../usage/Usage.ts"

/** From `draft` to `completed` or `cancelled`; `running` and `paused` alternate. */
export type CampaignStatus =
  | "draft"
  | "checking"
  | "ready"
  | "scheduled"
  | "running"
  | "paused"
  | "completed"
  | "cancelled"

/** The outcome under which a recipient is counted. */
export type CampaignOutcome = "queued" | "sent" | "delivered" | "read" | "failed" | "held" | "unknown" | "skipped"

/** Why a campaign is paused: a person did it, or it paused itself. */
export type PauseReason =
  | "person"
  | "template_not_approved"
  | "template_category"
  | "sender_not_available"
  | "quota_exhausted"
  | "failure_rate"
  | "provider_policy"
  | "restored"

/** A daily period, over midnight if it ends earlier than it begins: times of day as `HH:MM`. */
export interface QuietHours {
  readonly from: string
  readonly to: string
}

/** A campaign to create. */
export interface NewCampaign {
  readonly name: string
  /** As in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly templateB?: TemplateContent
  /** A phone number of the workspace, by id or in E.164; defaults to the default number. */
  readonly from?: string
  /** When it starts, once it was started; defaults to that moment. */
  readonly startAt?: Moment
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly notAfter?: Moment
  /** When nothing is sent, by each recipient's own clock. */
  readonly quietHours?: QuietHours
  /** The share of the phone number's rate that it may use, 0.01 to 0.9; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly maxFailureRate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** A change of a campaign. Omitted fields stay; `null` restores a default. */
export interface CampaignChange {
  readonly name?: string
  /**
   * Only before the campaign is started, as `templateB`, `from` and `holdout`. Its recipients must be checked again.
   */
  readonly template?: TemplateContent
  readonly templateB?: TemplateContent | null
  readonly from?: string | null
  readonly startAt?: Moment | null
  readonly notAfter?: Moment | null
  readonly quietHours?: QuietHours | null
  readonly share?: number
  readonly maxFailureRate?: number
  readonly holdout?: number
}

/** What is to be expected of a campaign. Other sends, quiet hours and failures make it take longer. */
export interface CampaignForecast {
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limitedCustomers: number
  readonly messagingLimit: number | null
  /** How many days the messaging limit makes it take; `null` if the limit is 0. */
  readonly days: number | null
  /** How long it takes at its pace. */
  readonly seconds: number
  /** The messages by the price that they are expected to have. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency; empty without the option `rateCard`. */
  readonly costs: ReadonlyArray<{ readonly currency: string; readonly amount: string }>
}

/** How many recipients have which outcome. Each is in exactly one of the counts, and `total` is their sum. */
export type CampaignCounts = { readonly [count in CampaignOutcome | "total"]: number }

/** The variant of a campaign's template: `a` is `template`, `b` is `templateB`. */
export type CampaignVariant = "a" | "b"

/** The difference of two shares with its 95 % confidence interval (Newcombe's hybrid score interval). */
export interface CampaignDifference {
  /** The share of variant `a`, from 0 to 1. */
  readonly a: number
  readonly b: number
  /** `b` less `a`. */
  readonly difference: number
  readonly low: number
  readonly high: number
  /** Whether the difference can be told from chance: the interval from `low` to `high` does not contain 0. */
  readonly isDistinguishable: boolean
}

/** The result by variant of the template. The shares are those of the messages that were tried. */
export interface CampaignComparison {
  readonly counts: { readonly [variant in CampaignVariant]: CampaignCounts }
  /** The shares that were delivered; `null` until both variants were sent to a customer. */
  readonly delivered: CampaignDifference | null
  /** The shares that were read. */
  readonly read: CampaignDifference | null
}

/** A campaign and its counts as of now. */
export interface Campaign {
  readonly id: string
  readonly name: string
  readonly status: CampaignStatus
  /** Why it is paused, or why its check stopped. */
  readonly pausedReason: PauseReason | null
  readonly template: TemplateContent
  readonly templateB: TemplateContent | null
  readonly from: string | null
  readonly startAt: string | null
  readonly notAfter: string | null
  readonly quietHours: QuietHours | null
  readonly share: number
  readonly maxFailureRate: number
  readonly holdout: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** How many recipients were added. */
  readonly rows: number
  /** How many of them were checked. */
  readonly checked: number
  /** How many of the checked ones are not sent to. */
  readonly problems: number
  /** What is to be expected; `null` until its recipients are checked. */
  readonly forecast: CampaignForecast | null
  readonly counts: CampaignCounts
  /** Why recipients failed or were skipped, the most frequent reason first. */
  readonly reasons: ReadonlyArray<{
    readonly outcome: "failed" | "skipped"
    readonly reason: string
    readonly recipients: number
  }>
  /** The result by variant; `null` without `templateB`. */
  readonly comparison: CampaignComparison | null
}

/** A customer to write to. What is omitted comes from the campaign's template. */
export interface CampaignRecipient {
  /** A phone number in E.164, or a customer's user id. */
  readonly to: string
  readonly bodyParams?: BodyParams
  readonly header?: TemplateHeader
  readonly buttons?: ReadonlyArray<TemplateButton>
  /** For quiet hours, in the IANA database: `Europe/Paris`; if omitted, the zones of the country in `to`. */
  readonly timeZone?: string
  /** What replaces `{{name}}` in the template's values. */
  readonly variables?: { readonly [name: string]: string }
}

/** What became of an added recipient. */
export interface CampaignRow {
  /** Its place among those that were added, from 1. */
  readonly row: number
  /** Why it is not sent to; `null` if it is, or was not checked yet. */
  readonly problem: {
    readonly reason: "malformed" | "duplicate" | "opted_out" | "phone_number_required" | "template_params_mismatch"
    readonly message: string
    /** The line of its file in which the row begins; `null` for a recipient that was added from code. */
    readonly line: number | null
    /** What is wrong, else the customer's name, as it was given. */
    readonly value: string | null
  } | null
  readonly messageId: string | null
  readonly to: string | null
  /** The variant of the template that its customer gets; `null` in a campaign without variants. */
  readonly variant: CampaignVariant | null
  readonly status: MessageStatus | null
  /** The count that its recipient is in. */
  readonly outcome: CampaignOutcome | null
  /** Why the message failed, or was skipped. */
  readonly error: { readonly code: string; readonly reason?: string; readonly message: string } | null
}

/** The campaigns of a workspace. An action that has already happened changes nothing, so each is safe to repeat. */
export interface Campaigns {
  /** Creates a draft. Nothing is sent before it was checked and started. */
  readonly create: (campaign: NewCampaign) => Promise<Campaign>
  /** Newest first. */
  readonly list: () => Listing.Listing<Campaign>
  readonly get: (id: string) => Promise<Campaign>
  readonly edit: (id: string, change: CampaignChange) => Promise<Campaign>
  /** Deletes a campaign that was not started, with its recipients. */
  readonly remove: (id: string) => Promise<void>
  /**
   * Adds recipients to a campaign that was not started. They are read one after another, so that memory use does not
   * depend on their number, and count together: if reading them throws, the promise rejects with that error, and the
   * campaign stays as it was. It also does if another call begins meanwhile. The check reports malformed recipients.
   */
  readonly addRecipients: (
    id: string,
    recipients: Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>
  ) => Promise<Campaign>
  /** As `addRecipients`, in place of all recipients that the campaign has, which then are not checked. */
  readonly replaceRecipients: (
    id: string,
    recipients: Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>
  ) => Promise<Campaign>
  /** Checks the recipients in the background; the campaign is `ready` afterwards. */
  readonly check: (id: string) => Promise<Campaign>
  readonly start: (id: string) => Promise<Campaign>
  /** Within a second nothing more is sent. */
  readonly pause: (id: string) => Promise<Campaign>
  readonly resume: (id: string) => Promise<Campaign>
  /** Skips every recipient that is not sent to yet. */
  readonly cancel: (id: string) => Promise<Campaign>
  /** The added recipients in their order, or those with an outcome or a reason, or those that are not sent to. */
  readonly recipients: (
    id: string,
    filter?: { readonly outcome?: CampaignOutcome | "left_out"; readonly reason?: string }
  ) => Listing.Listing<CampaignRow>
}

const readCampaign = Input.read(CampaignsApi.CreateCampaign)
const readChange = Input.read(CampaignsApi.EditCampaign)
const readFilter = Input.read(Schema.Struct(CampaignsApi.rowFilter))

/** Times as ISO 8601 text, for a schema to decode. */
const timed = <Fields extends { readonly startAt?: Moment | null; readonly notAfter?: Moment | null }>(
  fields: Fields
) => ({
  ...fields,
  ...(fields?.startAt == null ? {} : { startAt: iso(fields.startAt) }),
  ...(fields?.notAfter == null ? {} : { notAfter: iso(fields.notAfter) })
})

type Recipients = Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>

async function* each(recipients: Recipients): AsyncGenerator<CampaignRecipient> {
  yield* recipients
}

export const make = Effect.map(
  Service.Campaigns,
  (campaigns) => (running: Running, workspaceId: Id.WorkspaceId): Campaigns => {
    const { run } = running
    const act = (_tag: "Check" | "Start" | "Pause" | "Resume" | "Cancel") => (id: string): Promise<Campaign> =>
      run(Effect.map(campaigns.change(workspaceId, id, { _tag }), CampaignsHandlers.shown))
    const shown = <E>(campaign: Effect.Effect<Core.Campaign, E>) => Effect.map(campaign, CampaignsHandlers.shown)
    const upload = (end: "add" | "replace") => async (id: string, recipients: Recipients): Promise<Campaign> => {
      const failed: { cause?: unknown } = {}
      const rows = Stream.fromAsyncIterable(each(recipients), (cause) => {
        failed.cause = cause
        return new Errors.InvalidBody({ reason: "invalid_field", message: "the recipients could not be read" })
      })
      try {
        return await run(shown(campaigns.upload(workspaceId, id, Stream.map(rows, Recipient.parse), end)))
      } catch (error) {
        throw "cause" in failed ? failed.cause : error
      }
    }
    return {
      create: (campaign) =>
        run(shown(Effect.flatMap(
          readCampaign(timed(campaign)),
          (plan) => campaigns.create(workspaceId, CampaignsHandlers.planOf(plan))
        ))),
      list: () => Listing.make(running, (page) => campaigns.list(workspaceId, page), CampaignsHandlers.shown),
      get: (id) => run(shown(campaigns.get(workspaceId, id))),
      edit: (id, change) =>
        run(shown(Effect.flatMap(
          readChange(timed(change)),
          (plan) => campaigns.change(workspaceId, id, { _tag: "Edit", plan: CampaignsHandlers.planOf(plan) })
        ))),
      remove: (id) => run(campaigns.remove(workspaceId, id)),
      addRecipients: upload("add"),
      replaceRecipients: upload("replace"),
      check: act("Check"),
      start: act("Start"),
      pause: act("Pause"),
      resume: act("Resume"),
      cancel: act("Cancel"),
      recipients: (id, filter = {}) =>
        Listing.make(
          running,
          (page) => Effect.flatMap(readFilter(filter), (filter) => campaigns.rows(workspaceId, id, filter, page)),
          CampaignsHandlers.shownRow
        )
    }
  }
)
