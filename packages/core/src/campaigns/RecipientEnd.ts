/**
 * What follows after a message to a campaign's recipient was tried (contract §11): the recipient is done, is tried
 * again or is skipped, and the campaign may pause. Pure.
 */
import { Duration } from "effect"
import { type DomainError, type InvalidBody, reasonOf, retryAfterOf } from "../Errors.ts"
import type { CampaignId } from "../Id.ts"
import { errorOf, type MessageError } from "../messages/Message.ts"
import * as SendBinding from "../messages/SendBinding.ts"
import type { QueuedEnd } from "../queue/QueuedMessages.ts"
import type { QueueEnd } from "../queue/QueueEndStep.ts"
import type { PauseReason } from "./Campaign.ts"

/** The delay after the first try that sent nothing. It doubles with each further try. */
const firstDelay = Duration.minutes(1)

/** The longest delay between two tries. */
const maxDelay = Duration.hours(1)

/** The delay after a try that the number's messaging limit refused. */
const limitDelay = Duration.minutes(10)

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

/** What to record about a recipient after a try, `null` if nothing, and why the campaign pauses, if it does. */
export interface After {
  readonly end: QueueEnd | null
  readonly pause?: PauseReason
}

const again = (after: Duration.Duration): After => ({ end: { _tag: "Again", after } })

/** Waits for something that is not the recipient's own, which does not count as a try: the provider was not called. */
const waiting = (after: Duration.Duration): After => ({ end: { _tag: "Missed", after } })

/** Refusals that would meet every other recipient too, so that the campaign pauses. */
const ofAll: { readonly [reason: string]: PauseReason } = {
  template_not_approved: "template_not_approved",
  template_not_found: "template_not_approved",
  sender_not_available: "sender_not_available",
  workspace_suspended: "sender_not_available",
  quota_exhausted: "quota_exhausted",
  provider_policy: "provider_policy"
}

/** Whether the value that was refused is one that all recipients share (`SharedValues`). */
type IsShared = (error: InvalidBody) => boolean

/** The reason to pause for a refusal that would meet every other recipient too. */
const pauseOf = (error: DomainError, isShared: IsShared): PauseReason | undefined => {
  const reason = reasonOf(error) ?? ""
  if (error._tag === "InvalidBody" && isShared(error)) {
    // the values fitted the template when the rows were checked
    return reason === "template_params_mismatch" ? "template_changed" : "file_not_available"
  }
  return ofAll[reason] ?? (reason === "provider_error" ? "sender_not_available" : undefined)
}

const afterRefusal = (error: DomainError, isShared: IsShared): After => {
  const pause = pauseOf(error, isShared)
  // the recipient is due immediately, so that they get the message once the campaign is resumed
  if (pause !== undefined) return { ...waiting(Duration.zero), pause }
  if (error._tag === "RateLimited") return waiting(error.retryAfter)
  if (error._tag === "ServerError") return again(retryAfterOf(error) ?? SendBinding.lease)
  if (reasonOf(error) === "messaging_limit_reached") return waiting(limitDelay)
  return { end: { _tag: "Skipped", error: errorOf(error) } }
}

/**
 * Decides what follows after a try. The recipient was tried `tries` times before. `isShared` tells whether a value that
 * was refused is one that all recipients share.
 */
export const after = (
  ended: QueuedEnd<{ readonly campaignId: CampaignId }>,
  tries: number,
  isShared: IsShared = () => false
): After => {
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
      return afterRefusal(ended.error, isShared)
    case "NotSent": {
      const delay = Duration.min(Duration.times(firstDelay, 2 ** Math.min(tries, 10)), maxDelay)
      return again(Duration.max(delay, retryAfterOf(ended.error) ?? Duration.zero))
    }
  }
}
