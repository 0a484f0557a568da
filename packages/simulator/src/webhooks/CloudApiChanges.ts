/** Changes of numbers, templates and the account of the simulated Cloud API, and the webhooks that report them. */
import { Schema } from "effect"
import type { BusinessNumber } from "../numbers/CloudApiNumbers.ts"
import { type Component, Template } from "../templates/CloudApiTemplates.ts"
import type { Update } from "./CloudApiUpdates.ts"

const digitsOf = (number: BusinessNumber) => number.display_phone_number.replace(/\D/g, "")

/** The tiers from the lowest; unknown tiers rank lowest. */
const tiers = ["TIER_50", "TIER_250", "TIER_1K", "TIER_2K", "TIER_10K", "TIER_100K", "TIER_UNLIMITED"]

/** The webhooks about a change of a number. A change of quality alone is not reported, only flagging is. */
export const ofNumber = (account: string, before: BusinessNumber, after: BusinessNumber): ReadonlyArray<Update> => {
  const limit = after.whatsapp_business_manager_messaging_limit
  const limitBefore = before.whatsapp_business_manager_messaging_limit
  const quality = (event: string): Update => ({
    account,
    field: "phone_number_quality_update",
    value: { display_phone_number: digitsOf(after), event, current_limit: limit }
  })
  const updates: Array<Update> = []
  if (before.throughput.level !== "HIGH" && after.throughput.level === "HIGH") {
    updates.push(quality("THROUGHPUT_UPGRADE"))
  }
  if (before.status !== "FLAGGED" && after.status === "FLAGGED") updates.push(quality("FLAGGED"))
  if (before.status === "FLAGGED" && after.status === "CONNECTED") updates.push(quality("UNFLAGGED"))
  if (limit !== limitBefore) {
    updates.push(quality(tiers.indexOf(limit) > tiers.indexOf(limitBefore) ? "UPGRADE" : "DOWNGRADE"), {
      account,
      field: "business_capability_update",
      value: { max_daily_conversations_per_business: limit, max_phone_numbers_per_business: 20 }
    })
  }
  if (before.verified_name !== after.verified_name || before.name_status !== after.name_status) {
    updates.push({
      account,
      field: "phone_number_name_update",
      value: {
        display_phone_number: digitsOf(after),
        decision: after.name_status,
        requested_verified_name: after.verified_name,
        rejection_reason: null
      }
    })
  }
  return updates
}

/** A change of the template with this name and language, which is added if it does not exist. */
export const TemplateChange = Schema.Struct({
  name: Schema.String,
  language: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.String),
  quality: Schema.optionalKey(Schema.String),
  category: Schema.optionalKey(Schema.String),
  rejectedReason: Schema.optionalKey(Schema.String),
  parameterFormat: Schema.optionalKey(Template.fields.parameter_format),
  components: Schema.optionalKey(Template.fields.components),
  /** Whether webhooks report the change; true by default. */
  tell: Schema.optionalKey(Schema.Boolean)
})
export type TemplateChange = typeof TemplateChange.Type

const welcome: ReadonlyArray<Component> = [{ type: "BODY", text: "Hello." }]

/** The template after the change. */
export const changed = (
  before: Template | undefined,
  change: TemplateChange,
  id: string,
  now: number
): Template => ({
  id: before?.id ?? id,
  name: change.name,
  language: before?.language ?? change.language ?? "en_US",
  status: change.status ?? before?.status ?? "APPROVED",
  category: change.category ?? before?.category ?? "UTILITY",
  parameter_format: change.parameterFormat ?? before?.parameter_format ?? "POSITIONAL",
  components: change.components ?? before?.components ?? welcome,
  quality_score: change.quality === undefined
    ? before?.quality_score ?? { score: "UNKNOWN", date: Math.floor(now / 1000) }
    : { score: change.quality, date: Math.floor(now / 1000) },
  rejected_reason: change.rejectedReason ?? before?.rejected_reason ?? "NONE"
})

/** The further fields of a webhook about a template's status. */
const explained = (before: Template | undefined, after: Template, now: number): Schema.JsonObject => {
  switch (after.status) {
    case "PAUSED":
      return { other_info: { title: "FIRST_PAUSE", description: "Paused for 3 hours due to low quality." } }
    case "DISABLED":
      return {
        other_info: { title: "DISABLED", description: "Disabled due to low quality." },
        disable_info: { disable_date: Math.floor(now / 1000) }
      }
    case "REJECTED":
      return { rejection_info: { reason: "The template does not fit.", recommendation: "Change its text." } }
    default:
      return before?.status === "PAUSED"
        ? { other_info: { title: "UNPAUSE", description: "The pause is over." } }
        : {}
  }
}

/** The webhooks about a changed or new template. */
export const ofTemplate = (
  account: string,
  before: Template | undefined,
  after: Template,
  now: number
): ReadonlyArray<Update> => {
  const about = {
    message_template_id: Number(after.id),
    message_template_name: after.name,
    message_template_language: after.language
  }
  const updates: Array<Update> = []
  if (before?.status !== after.status) {
    updates.push({
      account,
      field: "message_template_status_update",
      value: {
        event: after.status,
        ...about,
        reason: after.rejected_reason,
        message_template_category: after.category,
        ...explained(before, after, now)
      }
    })
  }
  if (before === undefined) return updates
  if (before.quality_score.score !== after.quality_score.score) {
    updates.push({
      account,
      field: "message_template_quality_update",
      value: {
        previous_quality_score: before.quality_score.score,
        new_quality_score: after.quality_score.score,
        ...about
      }
    })
  }
  if (before.category !== after.category) {
    updates.push({
      account,
      field: "template_category_update",
      value: { ...about, previous_category: before.category, new_category: after.category }
    })
  }
  if (before.components !== after.components) {
    updates.push({
      account,
      field: "message_template_components_update",
      value: { ...about, message_template_element: after.components.find(({ type }) => type === "BODY")?.text ?? "" }
    })
  }
  return updates
}

/** An alert about the business or one of its numbers. */
export const Alert = Schema.Struct({
  severity: Schema.optionalKey(Schema.Literals(["CRITICAL", "WARNING", "INFORMATIONAL"])),
  type: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  /** The id of the number that the alert is about; the alert is about the business if omitted. */
  number: Schema.optionalKey(Schema.String)
})
export type Alert = typeof Alert.Type

export const alert = (account: string, about: Alert): Update => ({
  account,
  field: "account_alerts",
  value: {
    entity_type: about.number === undefined ? "BUSINESS" : "PHONE_NUMBER",
    entity_id: about.number ?? account,
    alert_info: {
      alert_severity: about.severity ?? "WARNING",
      alert_status: "ACTIVE",
      alert_type: about.type ?? "INCREASED_CAPABILITIES_ELIGIBILITY_DEFERRED",
      alert_description: about.description ?? "Limits cannot be increased for your business."
    }
  }
})
