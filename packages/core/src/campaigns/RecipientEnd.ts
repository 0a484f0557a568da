/**
 * What becomes of a campaign's recipient after a try (contract §11): it is done, waits, or is skipped, and whether the
 * campaign pauses. Pure.
 */
import { Duration } from "effect"
import { type DomainError, reasonOf, retryAfterOf } from "../Errors.ts"
import type { CampaignId } from "../Id.ts"
import { errorOf, type MessageError } from "../messages/Message.ts"
import * as SendBinding from "../messages/SendBinding.ts"
import type { QueuedEnd } from "../queue/QueuedMessages.ts"
import type { QueueEnd } from "../queue/QueueEndStep.ts"
import type { PauseReason } from "./Campaign.ts"

/** The delay after the first try that the provider did not take. It doubles with each further one. */
const firstDelay = Duration.minutes(1)

/** The longest delay between two tries. */
const maxDelay = Duration.hours(1)

/** How long a recipient waits whose number has reached its messaging limit. */
const patience = Duration.minutes(10)

const capped: MessageError = {
  code: "forbidden",
  reason: "frequency_cap",
  message: "the recipient has received as many marketing messages as the cap allows"
}

const duplicate: MessageError = {
  code: "forbidden",
  reason: "duplicate",
  message: "the campaign has already written to the customer under another name"
}

/** A recipient's end, `null` if there is nothing to record, and why its campaign pauses. */
export interface After {
  readonly end: QueueEnd | null
  readonly pause?: PauseReason
}

const again = (after: Duration.Duration): After => ({ end: { _tag: "Again", after } })

/** Refusals that every other recipient would meet too. */
const ofAll: { readonly [reason: string]: PauseReason } = {
  template_not_approved: "template_not_approved",
  template_not_found: "template_not_approved",
  sender_not_available: "sender_not_available",
  workspace_suspended: "sender_not_available",
  quota_exhausted: "quota_exhausted",
  provider_policy: "provider_policy"
}

const afterRefusal = (error: DomainError): After => {
  const reason = reasonOf(error) ?? ""
  const pause = ofAll[reason] ?? (reason === "provider_error" ? "sender_not_available" : undefined)
  // due at once, so that the resume sends to it; until then the campaign is paused
  if (pause !== undefined) return { ...again(Duration.zero), pause }
  if (error._tag === "RateLimited") return again(error.retryAfter)
  if (error._tag === "ServerError") return again(retryAfterOf(error) ?? SendBinding.lease)
  if (reason === "messaging_limit_reached") return again(patience)
  return { end: { _tag: "Skipped", error: errorOf(error) } }
}

/** Decides what becomes of a recipient that was tried `tries` times before. */
export const after = (ended: QueuedEnd<{ readonly campaignId: CampaignId }>, tries: number): After => {
  switch (ended._tag) {
    case "Settled":
      return { end: null }
    case "Ended":
      return { end: { _tag: "Done" } }
    case "TooLate":
      return { end: { _tag: "Missed" } }
    case "Busy":
      return again(SendBinding.lease)
    case "Capped":
      return { end: { _tag: "Skipped", error: capped } }
    case "Duplicate":
      return { end: { _tag: "Skipped", error: duplicate } }
    case "Refused":
      return afterRefusal(ended.error)
    case "NotSent": {
      const delay = Duration.min(Duration.times(firstDelay, 2 ** Math.min(tries, 10)), maxDelay)
      return again(Duration.max(delay, retryAfterOf(ended.error) ?? Duration.zero))
    }
  }
}
