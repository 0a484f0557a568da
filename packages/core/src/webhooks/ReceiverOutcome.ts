/**
 * The outcomes of attempts as a report of the receiver tells them apart. Pure.
 */
import type * as Timing from "../usage/Timing.ts"
import type { Attempt, AttemptOutcome } from "./Delivery.ts"

const outcomes: { readonly [outcome in Exclude<AttemptOutcome, "status">]: Timing.AttemptOutcome } = {
  delivered: "delivered",
  redirect: "redirect",
  timeout: "timeout",
  connect: "connect",
  tls: "tls",
  dns: "dns",
  blocked_address: "blockedAddress"
}

const classes: { readonly [firstDigit: number]: Timing.AttemptOutcome } = {
  2: "status2xx",
  4: "status4xx",
  5: "status5xx"
}

/** The outcome of an attempt: what failed, or the class of the status that is not 200. */
export const outcomeOf = ({ outcome, statusCode }: Pick<Attempt, "outcome" | "statusCode">): Timing.AttemptOutcome =>
  outcome === "status" ? classes[Math.floor((statusCode ?? 0) / 100)] ?? "statusOther" : outcomes[outcome]

/**
 * Whether an attempt with this outcome measured the receiver: it responded, or it did not in time. The others ended
 * before there was a request, often at once, so a receiver that is down would look fast.
 */
export const isMeasured = (outcome: Timing.AttemptOutcome): boolean =>
  !["connect", "tls", "dns", "blockedAddress"].includes(outcome)
