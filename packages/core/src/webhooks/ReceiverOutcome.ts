/**
 * Maps the outcome of an attempt to the outcomes that reports on a receiver count (`Timing.AttemptOutcome`). Pure.
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
 * Whether the duration of an attempt with this outcome measures the receiver, because the receiver responded or failed
 * to respond in time. Other attempts ended before there was a request, often immediately, so a receiver that is down
 * would look fast.
 */
export const isMeasured = (outcome: Timing.AttemptOutcome): boolean =>
  !["connect", "tls", "dns", "blockedAddress"].includes(outcome)
