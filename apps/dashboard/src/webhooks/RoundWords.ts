/**
 * The rules and words for rounds of attempts: what a delivery waits for, whether it can be repeated, and the result.
 * Pure.
 */
import type { Delivery, DeliveryDetail, DeliveryStatus, Webhook } from "@wac/client/internal"
import { plural, t } from "../ui/Language.ts"

/** What each status of a delivery means, in sentences. */
export const meanings: Record<DeliveryStatus, string> = {
  pending: t("It is being delivered, or waits for its next attempt."),
  held: t("The webhook is paused. It is delivered after the webhook is resumed."),
  delivered: t("The receiver returned status 200."),
  exhausted: t("Every attempt within 24 hours failed. Deliver it again by hand, or replay a range."),
  skipped: t(
    "A resume left it out, or its webhook was removed. Unless that was removed, it can still be delivered again by hand, or by a replay."
  )
}

/** Whether a delivery can be started again; a test event, and the probe before a resume, cannot. */
export const isRepeatable = ({ eventType }: Pick<Delivery, "eventType">): boolean => eventType !== "webhook.test"

/**
 * Whether the webhook of a delivery was removed, which nothing brings back: no webhook is set, or the present one is
 * newer than the delivery. A webhook that is not loaded, and one whose deliveries can be signed, were not removed.
 */
export const isOfRemoved = (
  { createdAt, curl }: Pick<DeliveryDetail, "createdAt" | "curl">,
  webhook: Pick<Webhook, "createdAt"> | null | undefined
): boolean =>
  curl === null && webhook !== undefined &&
  (webhook === null || Date.parse(createdAt) < Date.parse(webhook.createdAt))

type Standing = Pick<Delivery, "attemptCount" | "eventType" | "nextAttemptAt" | "status">

/** Whether a delivery waits for an earlier event of the same message. */
export const waitsItsTurn = (delivery: Standing): boolean =>
  delivery.status === "pending" && delivery.nextAttemptAt === null && isRepeatable(delivery)

/** The delivery that this one waits for, among the deliveries of its message; `undefined` if it is not among them. */
export const earlierOf = <D extends Pick<Delivery, "id" | "nextAttemptAt" | "status">>(
  { id }: Pick<Delivery, "id">,
  ofMessage: ReadonlyArray<D>
): D | undefined =>
  ofMessage.find((other) => other.id < id && other.status === "pending" && other.nextAttemptAt !== null)

/** Whether a delivery was attempted and will be attempted again. */
export const isTriedAgain = ({ attemptCount, status }: Pick<Delivery, "attemptCount" | "status">): boolean =>
  status === "pending" && attemptCount > 0

/** What a delivery's status means and what it waits for, in sentences. */
export const meaningOf = (delivery: Standing, isRemoved = false): string => {
  if (delivery.status === "exhausted" && !isRepeatable(delivery)) {
    return t("Its attempt failed. Test events, and the probe before a resume, are attempted once.")
  }
  if (isRemoved && delivery.status === "exhausted") {
    return t("Every attempt within 24 hours failed. Its webhook was removed, so it cannot be delivered again.")
  }
  if (isRemoved && delivery.status === "skipped") {
    return t("It is not delivered. Its webhook was removed, so it cannot be delivered again.")
  }
  if (waitsItsTurn(delivery)) {
    return t("It waits for an earlier event of the same message: a message’s events are delivered in their order.")
  }
  return isTriedAgain(delivery)
    ? t("It was attempted, and waits for its next attempt.")
    : meanings[delivery.status]
}

/** A sentence about deliveries that were started again, from their new statuses. */
export const begunWords = (statuses: ReadonlyArray<DeliveryStatus>): string => {
  const held = statuses.filter((status) => status === "held").length
  const begun = statuses.length - held
  if (held === 0) return begun === 1 ? t("It is on its way.") : t("Every one of them is on its way.")
  if (statuses.length === 1) return t("It is held until the webhook is resumed.")
  return begun === 0
    ? t("None of them is on its way: all are held until the webhook is resumed.")
    : t("{begun}, {held} until the webhook is resumed.", {
      begun: plural(begun, "{count} is on the way", "{count} are on the way"),
      held: plural(held, "{count} is held", "{count} are held")
    })
}
