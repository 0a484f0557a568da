/**
 * Why the provider lets nothing be sent from a number at the moment. While a block is in force, sends are refused
 * before the provider is asked: a call that must fail costs its time, and counts against us upstream.
 */
import { Duration, Schema } from "effect"
import { Forbidden, type ProviderDetail, ServerError } from "../Errors.ts"
import type { Instant } from "../Time.ts"

/** What is in the way. `credentials` is ours to mend, every other a matter between the number's owner and upstream. */
export const SenderBlockReason = Schema.Literals([
  "quality",
  "restricted",
  "credentials",
  "registration",
  "payment",
  "display_name"
])
export type SenderBlockReason = typeof SenderBlockReason.Type

/**
 * Which messages it stops: all, or only those outside a service window. Some restrictions of upstream's leave customers
 * who have written to be answered.
 */
export const SenderBlockScope = Schema.Literals(["all", "outside_window"])
export type SenderBlockScope = typeof SenderBlockScope.Type

export interface SenderBlock {
  readonly reason: SenderBlockReason
  readonly scope: SenderBlockScope
  readonly since: Instant
  /** From then on sends are tried again; `null`: not before upstream or the operator lifts the block. */
  readonly until: Instant | null
  /** What upstream said. */
  readonly provider: ProviderDetail | null
}

/**
 * How long a block holds that upstream has not dated. Then sends go out again, and the first of them that upstream
 * refuses for the same reason renews it; so this is how soon we notice, unasked, that the cause is gone.
 */
export const trialAfter: Readonly<Record<SenderBlockReason, Duration.Duration>> = {
  // upstream judges quality over days; each message that it counts as spam makes matters worse
  quality: Duration.hours(1),
  // an account is given back by people
  restricted: Duration.hours(1),
  // a token is exchanged at any moment, also by a start with another environment, and the trial harms nothing
  credentials: Duration.minutes(1),
  // registered anew by a person, within minutes
  registration: Duration.minutes(5),
  // a payment method is entered by a person, within minutes
  payment: Duration.minutes(5),
  // a name is approved by people
  display_name: Duration.hours(1)
}

/** A block of all messages that upstream has not dated; with a date of upstream's own, `until` is that. */
export const of = (reason: SenderBlockReason, now: Instant, provider: ProviderDetail | null): SenderBlock => ({
  reason,
  scope: "all",
  since: now,
  until: now + Duration.toMillis(trialAfter[reason]),
  provider
})

/** Whether it stops messages of its scope at `now`. */
export const inForce = ({ until }: Pick<SenderBlock, "until">, now: Instant): boolean => until === null || now < until

/** Whether it stops a message at `now`, to a customer whose service window is open or not. */
export const stops = (block: Pick<SenderBlock, "scope" | "until">, isOpen: boolean, now: Instant): boolean =>
  inForce(block, now) && (block.scope === "all" || !isOpen)

/** The block once upstream has told of `next`: of the same reason, it is one block that goes on. */
export const renewed = (before: SenderBlock | null, next: SenderBlock): SenderBlock =>
  before?.reason === next.reason ? { ...next, since: Math.min(before.since, next.since) } : next

const words: Readonly<Record<SenderBlockReason, string>> = {
  quality: "the provider has stopped this phone number because of its quality rating or reports of spam",
  restricted: "the provider has restricted or locked the account of this phone number",
  credentials: "the provider does not accept the credentials of this phone number",
  registration: "this phone number is not registered with the provider",
  payment: "the provider waits for a payment matter of this phone number's account to be settled",
  display_name: "the provider has not approved the display name of this phone number"
}

/** The block in words, for people. */
export const describe = ({ reason, scope }: Pick<SenderBlock, "reason" | "scope">): string =>
  scope === "all" ? words[reason] : `${words[reason]}; customers may be answered within their service window`

/** The error for a send from a number with this block in force; `param` is the field that named the number. */
export const refusal = (block: SenderBlock, param?: "from"): Forbidden | ServerError => {
  const described = {
    message: describe(block),
    ...(block.provider === null ? {} : { provider: block.provider })
  }
  return block.reason === "credentials"
    ? new ServerError({ reason: "provider_error", ...described })
    : new Forbidden({ reason: "sender_not_available", ...(param === undefined ? {} : { param }), ...described })
}
