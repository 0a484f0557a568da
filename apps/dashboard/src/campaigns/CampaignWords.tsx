/** The words for campaigns: statuses, reasons of pauses, outcomes of recipients, and problems of rows. */
import type { CampaignOutcome, CampaignRow, CampaignStatus, PauseReason } from "@wac/client/internal"
import type { IconName } from "../ui/Icon.tsx"
import { Status, type Tone } from "../ui/Status.tsx"
import { asSentence, counted } from "../ui/Words.ts"

const statuses: Record<CampaignStatus, readonly [Tone, string, IconName]> = {
  draft: ["calm", "Draft", "circle"],
  checking: ["calm", "Checking", "clock"],
  ready: ["good", "Ready", "check"],
  scheduled: ["calm", "Scheduled", "clock"],
  running: ["good", "Running", "arrow"],
  paused: ["warn", "Paused", "pause"],
  completed: ["good", "Completed", "check"],
  cancelled: ["calm", "Cancelled", "cross"]
}

/** Every status of a campaign with its name. */
export const campaignStatuses = (Object.keys(statuses) as ReadonlyArray<CampaignStatus>)
  .map((status) => [status, statuses[status][1]] as const)

export const CampaignState = ({ status }: { readonly status: CampaignStatus }) => {
  const [tone, name, icon] = statuses[status]
  return <Status tone={tone} icon={icon}>{name}</Status>
}

/** Why a campaign is paused, in a sentence. */
export const pauseReasons: Record<PauseReason, string> = {
  person: "Someone paused it.",
  template_not_approved: "The provider no longer approves its template.",
  template_category: "The provider has changed the category of its template, which may change what it costs.",
  template_changed: "Its template takes other values than when its recipients were checked.",
  file_not_available: "A file in its template's values is missing, or the provider does not accept it.",
  sender_not_available: "Its phone number cannot send.",
  quota_exhausted: "The workspace has used up its quota.",
  failure_rate: "Too many of its last messages failed.",
  provider_policy: "The provider restricts the number or the account.",
  restored: "The database was restored from a backup, so the campaign may have sent more than is known here; or no " +
    "server ran for a while, so it would have sent late."
}

/** The name of each outcome of a recipient, and what it means. */
export const outcomes: Record<CampaignOutcome, readonly [name: string, definition: string]> = {
  queued: ["Waiting", "Not sent to yet."],
  sent: ["Sent", "The provider accepted the message."],
  delivered: ["Delivered", "It arrived at the phone."],
  read: ["Read", "The customer read it."],
  failed: ["Failed", "It did not arrive, as far as the provider has reported."],
  held: ["Held", "The provider assesses it before it delivers it."],
  unknown: ["Unknown", "The provider did not confirm the outcome. It is not sent again."],
  skipped: ["Skipped", "It was never sent."]
}

/** All outcomes, in the order in which pages show them. */
export const outcomeNames = Object.keys(outcomes) as ReadonlyArray<CampaignOutcome>

/** The customers who get nothing, by their number. */
export const withoutTime = (customers: number): string =>
  `${counted(customers, "customer", "customers")}, who ${customers === 1 ? "gets" : "get"} nothing`

/** Why a row is left out, in short. */
export const reasonWords: Record<NonNullable<CampaignRow["problem"]>["reason"], string> = {
  malformed: "Not a recipient",
  duplicate: "Duplicate",
  opted_out: "Opted out",
  phone_number_required: "Needs a phone number",
  template_params_mismatch: "Does not fit the template"
}

/**
 * The service's message about a row's problem (`variables.Name is required …`, `to: is empty`) as a sentence about the
 * file.
 */
export const problemSentence = (message: string): string => {
  const [, variable] = /^variables\.(.+) is required by the template's values$/.exec(message) ?? []
  return variable === undefined
    ? asSentence(message.replace(/^to: (?=(?:is|has|may|must) )/, "the number ").replace(/^to: /, ""))
    : `The value of “${variable}” is missing.`
}

/** What to do about rows with a problem. */
export const reasonAdvice: typeof reasonWords = {
  malformed: "Correct these rows in the file.",
  duplicate: "Nothing to do: each customer gets one message.",
  opted_out: "Nothing to do: they get no marketing until they opt in again.",
  phone_number_required: "Give the phone numbers of these customers in the file.",
  template_params_mismatch: "Complete the values in the file, or change what fills the template’s placeholders."
}
