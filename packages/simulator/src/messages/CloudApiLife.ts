/**
 * The life of a message that the simulated Cloud API accepted: which words of it are told, and when. That `delivered`
 * may be left out:
 * developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status.
 */
import type { Problem } from "../CloudApiErrors.ts"
import type { Behaviour } from "../control/CloudApiBehaviour.ts"
import type { Dice } from "../control/CloudApiDice.ts"
import type { Settings } from "../control/CloudApiSettings.ts"

/** One word of a message, so many milliseconds after its acceptance. */
export interface Step {
  readonly after: number
  readonly status: "sent" | "delivered" | "read" | "failed"
  readonly problem?: Problem
}

const ranks = ["accepted", "sent", "delivered", "read"] as const

/** The life of the message of this name; `problem` is why it fails, if it does. */
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
  const told = [...sent, ...(omitted ? [] : at("delivered", settings.deliveredAfter)), ...read]
    .filter((step) => ranks.indexOf(step.status as typeof ranks[number]) <= last)
  if (behaviour.disorderly !== true) return told
  // twice: the last word first, at each of their times
  const backwards = told.map((step, i) => ({ ...step, status: told[told.length - 1 - i]!.status }))
  return [...backwards, ...told.map((step) => ({ ...step, after: step.after + (told.at(-1)?.after ?? 0) }))]
}
