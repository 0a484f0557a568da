/**
 * Decides which statuses the simulated Cloud API reports of an accepted message, and when. Source for a missing
 * `delivered`: developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status.
 */
import type { Problem } from "../CloudApiErrors.ts"
import type { Behaviour } from "../control/CloudApiBehaviour.ts"
import type { Dice } from "../control/CloudApiDice.ts"
import type { Settings } from "../control/CloudApiSettings.ts"

/** One status of a message, reported so many milliseconds after its acceptance. */
export interface Step {
  readonly after: number
  readonly status: "sent" | "delivered" | "read" | "failed"
  readonly problem?: Problem
}

const ranks = ["accepted", "sent", "delivered", "read"] as const

/** The statuses of the message with this name. `problem` is why it fails; undefined if it does not fail. */
export const steps = (
  settings: Settings,
  behaviour: Behaviour,
  dice: Dice,
  name: string,
  problem: Problem | undefined
): ReadonlyArray<Step> => {
  const start = behaviour.held === undefined ? 0 : settings.heldFor
  const at = (status: Step["status"], after: number | null, problem?: Problem): ReadonlyArray<Step> =>
    after === null ? [] : [{ after: start + after, status, ...(problem === undefined ? {} : { problem }) }]
  const sent = at("sent", settings.sentAfter)

  if (behaviour.held === "dropped") return at("failed", 0, { code: 132015 })
  if (problem !== undefined) {
    const failed = at("failed", settings.deliveredAfter ?? 0, problem)
    return behaviour.fail?.afterSent === true ? [...sent, ...failed] : failed
  }

  const last = ranks.indexOf(behaviour.until ?? "read")
  const read = at("read", settings.readAfter)
  const omitted = read.length > 0 && behaviour.until === undefined && dice.hits(settings.omitDelivered, "omit", name)
  const ordered = [...sent, ...(omitted ? [] : at("delivered", settings.deliveredAfter)), ...read]
    .filter((step) => ranks.indexOf(step.status as typeof ranks[number]) <= last)
  if (behaviour.disorderly !== true) return ordered
  // each status twice: first in reverse order at the usual times, then in order
  const backwards = ordered.map((step, i) => ({ ...step, status: ordered[ordered.length - 1 - i]!.status }))
  return [...backwards, ...ordered.map((step) => ({ ...step, after: step.after + (ordered.at(-1)?.after ?? 0) }))]
}
