/** The words for deliveries and attempts: statuses, outcomes, causes, and a sentence about the result of an attempt. */
import type { Attempt, Delivery, DeliveryStatus } from "@wac/client/internal"
import type { ReactNode } from "react"
import type { IconName } from "../ui/Icon.tsx"
import { language, t } from "../ui/Language.ts"
import { Status, type Tone } from "../ui/Status.tsx"
import { asSentence } from "../ui/Words.ts"
import { isTriedAgain } from "./RoundWords.ts"

const statuses: Record<DeliveryStatus, readonly [Tone, string, IconName]> = {
  pending: ["calm", t("Pending"), "clock"],
  held: ["warn", t("Held"), "pause"],
  delivered: ["good", t("Delivered"), "check"],
  exhausted: ["bad", t("Exhausted"), "cross"],
  skipped: ["calm", t("Skipped"), "minus"]
}

/** Every status of a delivery with its name. */
export const statusNames: ReadonlyArray<readonly [DeliveryStatus, string]> = Object.entries(statuses)
  .map(([status, [, name]]) => [status as DeliveryStatus, name])

const triedAgain = ["warn", t("Trying again"), "refresh"] as const

export const DeliveryState = (
  { delivery }: { readonly delivery: Pick<Delivery, "attemptCount" | "status"> }
): ReactNode => {
  const [tone, name, icon] = isTriedAgain(delivery) ? triedAgain : statuses[delivery.status]
  return <Status tone={tone} icon={icon}>{name}</Status>
}

export const AttemptState = (
  { attempt }: { readonly attempt: Pick<Attempt, "outcome" | "statusCode"> }
): ReactNode => (
  <Status tone={attempt.outcome === "delivered" ? "good" : "bad"}>
    {attempt.statusCode === null ? outcomes[attempt.outcome] : t("Status {code}", { code: attempt.statusCode })}
  </Status>
)

/** The name of each outcome of an attempt. */
const outcomes: Record<Attempt["outcome"], string> = {
  delivered: t("Delivered"),
  dns: t("Name not found"),
  connect: t("Not reachable"),
  tls: t("TLS failed"),
  timeout: t("Timed out"),
  status: t("Refused"),
  redirect: t("Redirected"),
  blocked_address: t("Address not allowed")
}

/** The name of an outcome. */
export const outcomeName = (outcome: Attempt["outcome"]): string => outcomes[outcome]

/** Every outcome of an attempt with its name. */
export const outcomeNames: ReadonlyArray<readonly [Attempt["outcome"], string]> = Object.entries(outcomes)
  .map(([outcome, name]) => [outcome as Attempt["outcome"], name])

/** The name of what caused an attempt. */
export const triggers: Record<Attempt["trigger"], string> = {
  automatic: t("Automatic"),
  manual: t("By hand"),
  replay: t("By a replay"),
  test: t("Test event"),
  probe: t("Probe before a resume")
}

/** A sentence about each outcome of an attempt, for languages other than English. */
const sentences: Record<Attempt["outcome"], (status: number | string) => string> = {
  delivered: (status) => t("The receiver answered {status}.", { status }),
  status: (status) => t("The receiver answered {status}; only 200 counts.", { status }),
  redirect: (status) => t("The receiver answered {status}, a redirect; redirects are not followed.", { status }),
  timeout: () => t("The receiver did not answer in time."),
  dns: () => t("The receiver’s name was not found."),
  connect: () => t("The connection to the receiver failed."),
  tls: () => t("The secure connection to the receiver failed."),
  blocked_address: () => t("The receiver’s address is not allowed.")
}

/**
 * The result of an attempt in a sentence: in English, the service's message; in other languages, a translated sentence,
 * followed by the service's message if that contains more.
 */
export const attemptWords = (
  { message, outcome, statusCode }: Pick<Attempt, "message" | "outcome" | "statusCode">
): string => {
  const english = asSentence(message)
  if (language === "en") return english
  const sentence = sentences[outcome](statusCode ?? "–")
  return outcome === "delivered" || outcome === "status" ? sentence : `${sentence} (“${english}”)`
}
