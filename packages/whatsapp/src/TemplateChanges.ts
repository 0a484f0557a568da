/**
 * Reads Meta's template webhooks into inbound items. `WebhookPost` calls it. Pure.
 */
import type { InboundItem } from "@wac/core"
import * as Payload from "./Payload.ts"
import { lower, type PostSource, skipped } from "./PostSource.ts"

/**
 * Whether a webhook field is about templates. Meta has moved information between these fields over the years, so all
 * are read the same way.
 */
export const isTemplateField = (field: string): boolean => /^(message_)?template_[a-z]+_update$/.test(field)

/** The statuses of a template by the events that set them. */
const statuses: ReadonlyMap<string, string> = new Map([
  ["approved", "approved"],
  ["reinstated", "approved"],
  ["unpaused", "approved"],
  ["unarchived", "approved"],
  ["pending", "pending"],
  ["in_appeal", "in_appeal"],
  ["rejected", "rejected"],
  ["paused", "paused"],
  ["disabled", "disabled"],
  ["archived", "archived"],
  ["pending_deletion", "pending_deletion"],
  ["deleted", "deleted"]
])

/**
 * Statuses that stop sends immediately. They trigger no new listing, because a list made slightly too early would allow
 * sends again. The others can be of a template that we have not seen yet, or that was edited.
 */
const stopping = new Set(["rejected", "paused", "disabled", "archived", "pending_deletion", "deleted"])

const Change = Payload.shape({
  message_template_name: Payload.word,
  message_template_language: Payload.word,
  event: lower,
  reason: lower,
  message_template_category: lower,
  new_category: lower,
  new_quality_score: lower
})

/** Returns what changed. Account flags, locks and limits are ignored, because they do not stop a template's sends. */
export const read = (value: Payload.Json, source: PostSource): ReadonlyArray<InboundItem.InboundItem> => {
  const { accountId, told } = source
  if (accountId === undefined) return [skipped("template:without_account")]
  const relist: InboundItem.InboundItem = { _tag: "TemplatesChanged", providerAccountId: accountId }
  const { event, message_template_category, message_template_language, message_template_name, ...words } = Change(value)
  const status = event === undefined ? undefined : statuses.get(event)
  const category = words.new_category ?? message_template_category
  const change = {
    ...(status === undefined ? {} : { status, rejectionReason: status === "rejected" ? words.reason ?? null : null }),
    ...(category === undefined ? {} : { category }),
    ...(words.new_quality_score === undefined ? {} : { quality: words.new_quality_score })
  }
  const hasChange = Object.keys(change).length > 0
  if (!hasChange || message_template_name === undefined || message_template_language === undefined) return [relist]
  const item: InboundItem.InboundItem = {
    _tag: "Template",
    providerAccountId: accountId,
    name: message_template_name,
    // the posts contain en-US; the list and the sends use en_US
    language: message_template_language.replace("-", "_"),
    at: told,
    change
  }
  return event === undefined || (status !== undefined && stopping.has(status)) ? [item] : [item, relist]
}
