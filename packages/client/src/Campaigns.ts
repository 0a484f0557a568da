/**
 * Campaigns under `/v1` (contract §11), in plain types, and the words that the dashboard's have in common with them.
 */
import type { TemplateContent } from "./MessageContents.ts"
import type { MessageStatus } from "./Wire.ts"

/** From `draft` to `completed` or `cancelled`. */
export type CampaignStatus =
  | "draft"
  | "checking"
  | "ready"
  | "scheduled"
  | "running"
  | "paused"
  | "completed"
  | "cancelled"

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

/** The outcome under which a recipient is counted. */
export type CampaignOutcome = "queued" | "sent" | "delivered" | "read" | "failed" | "held" | "unknown" | "skipped"

/** A daily period, over midnight if it ends earlier than it begins: times of day as `HH:MM`. */
export interface QuietHours {
  readonly from: string
  readonly to: string
}

/** How many recipients have which outcome. Each is in exactly one of the counts, and `total` is their sum. */
export type CampaignCounts = { readonly [count in CampaignOutcome | "total"]: number }

/** The variant of a campaign's template: `a` is `template`, `b` is `templateB`. */
export type CampaignVariant = "a" | "b"

/** A file of recipients. */
export interface CampaignFile {
  readonly bytes: Uint8Array
  readonly type: "application/x-ndjson" | "text/csv"
}

/** A new campaign. */
export interface CreateCampaign {
  readonly name: string
  /** As in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly template_b?: TemplateContent
  /** A phone number of the workspace, by id or in E.164; defaults to the default number. */
  readonly from?: string
  /** When it starts, once it was started; defaults to that moment. */
  readonly start_at?: string
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly not_after?: string
  /** When nothing is sent, by each recipient's own clock. */
  readonly quiet_hours?: QuietHours
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly max_failure_rate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** A change of a campaign. Omitted fields stay; `null` restores a default. */
export interface EditCampaign {
  readonly name?: string
  readonly template?: TemplateContent
  readonly template_b?: TemplateContent | null
  readonly from?: string | null
  readonly start_at?: string | null
  readonly not_after?: string | null
  readonly quiet_hours?: QuietHours | null
  readonly share?: number
  readonly max_failure_rate?: number
  readonly holdout?: number
}

/** What is to be expected of a campaign. Other sends, quiet hours and failures make it take longer. */
export interface CampaignForecast {
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limited_customers: number
  readonly messaging_limit: number | null
  /** How many days the messaging limit makes it take; `null` if the limit is 0. */
  readonly days: number | null
  /** How long it takes at its pace. */
  readonly seconds: number
  /** The messages by the price that they are expected to have. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency; empty if the operator has loaded no rate card. */
  readonly costs: ReadonlyArray<{ readonly currency: string; readonly amount: string }>
}

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
  readonly is_distinguishable: boolean
}

/** The result by variant of the template. The shares are those of the messages that were tried. */
export interface CampaignComparison {
  readonly counts: { readonly [variant in CampaignVariant]: CampaignCounts }
  /** The shares that were delivered; `null` until both variants were sent to a customer. */
  readonly delivered: CampaignDifference | null
  /** The shares that were read. */
  readonly read: CampaignDifference | null
}

/** One template to many customers, each once. */
export interface Campaign {
  readonly id: string
  readonly name: string
  readonly status: CampaignStatus
  /** Why it is paused, or why its check stopped. */
  readonly paused_reason: PauseReason | null
  readonly template: TemplateContent
  readonly template_b: TemplateContent | null
  readonly from: string | null
  readonly start_at: string | null
  readonly not_after: string | null
  readonly quiet_hours: QuietHours | null
  readonly share: number
  readonly max_failure_rate: number
  readonly holdout: number
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
  /** How many rows of recipients were uploaded. */
  readonly rows: number
  /** How many of them were checked. */
  readonly checked: number
  /** How many checked rows are not sent to. */
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
  /** The result by variant; `null` without `template_b`. */
  readonly comparison: CampaignComparison | null
}

/** An uploaded row of recipients. */
export interface CampaignRow {
  /** Its place in the uploads, from 1. */
  readonly row: number
  /** Why it is not sent to; `null` if it is, or was not checked yet. */
  readonly problem: {
    readonly reason: "malformed" | "duplicate" | "opted_out" | "phone_number_required" | "template_params_mismatch"
    readonly message: string
    /** The line of its file in which the row begins; `null` if it came from no file. */
    readonly line: number | null
    /** What the file has in the place of what is wrong, else of the customer's name. */
    readonly value: string | null
  } | null
  readonly message_id: string | null
  readonly to: string | null
  /** The variant of the template that its customer gets; `null` in a campaign without variants. */
  readonly variant: CampaignVariant | null
  readonly status: MessageStatus | null
  /** The count that its recipient is in. */
  readonly outcome: CampaignOutcome | null
  /** Why the message failed, or was skipped. */
  readonly error: { readonly code: string; readonly reason?: string; readonly message: string } | null
}

/** Messages of one price. */
export interface UsageLine {
  /** The customer's country, ISO 3166-1 alpha-2; `ZZ` if not known. */
  readonly market: string
  /** As the provider reported it, such as `marketing`. */
  readonly category: string
  /** As the provider reported it, such as `regular` or `free_customer_service`. */
  readonly type: string
  /** `null` if the provider says nothing of it; then `cost` is what the messages cost if they are charged. */
  readonly billable: boolean | null
  readonly messages: number
  /** `null` if nothing is charged, or if the operator has loaded no rate for it. */
  readonly cost: {
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
    /** The day from which the rates used are valid. */
    readonly rates_from: string
  } | null
}
