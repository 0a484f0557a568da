/** The names of the states of deliveries and attempts. */
import type { Attempt, Delivery, DeliveryStatus } from "@wac/client/internal"
import type { ReactNode } from "react"
import type { IconName } from "../ui/Icon.tsx"
import { Status, type Tone } from "../ui/Status.tsx"
import { isTriedAgain } from "./RoundWords.ts"

const statuses: Record<DeliveryStatus, readonly [Tone, string, IconName]> = {
  pending: ["calm", "Pending", "clock"],
  held: ["warn", "Held", "pause"],
  delivered: ["good", "Delivered", "check"],
  exhausted: ["bad", "Exhausted", "cross"],
  skipped: ["calm", "Skipped", "minus"]
}

export const deliveryStatuses = Object.keys(statuses) as ReadonlyArray<DeliveryStatus>

const triedAgain = ["warn", "Trying again", "refresh"] as const

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
    {attempt.statusCode === null ? outcomes[attempt.outcome] : `Status ${attempt.statusCode}`}
  </Status>
)

/** The result of an attempt, in words. */
const outcomes: Record<Attempt["outcome"], string> = {
  delivered: "Delivered",
  dns: "Name not found",
  connect: "Not reachable",
  tls: "TLS failed",
  timeout: "Timed out",
  status: "Refused",
  redirect: "Redirected",
  blocked_address: "Address not allowed"
}

/** The name of an outcome. */
export const outcomeName = (outcome: Attempt["outcome"]): string => outcomes[outcome]

/** Every outcome of an attempt with its name. */
export const outcomeNames: ReadonlyArray<readonly [Attempt["outcome"], string]> = Object.entries(outcomes)
  .map(([outcome, name]) => [outcome as Attempt["outcome"], name])

/** The cause of a round of attempts, in words. */
export const triggers: Record<Attempt["trigger"], string> = {
  automatic: "Automatic",
  manual: "By hand",
  replay: "By a replay",
  test: "Test event",
  probe: "Probe before a resume"
}
