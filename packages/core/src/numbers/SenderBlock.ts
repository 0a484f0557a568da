/**
 * The provider's block of a number: its cause, which messages it stops, and until when. While a block is in force,
 * sends are refused without calling the provider, since a call that must fail costs time and counts against us there.
 * Pure.
 */
import { Duration, Schema } from "effect"
import { Forbidden, type ProviderDetail, ServerError } from "../Errors.ts"
import type { Instant } from "../Time.ts"

/** The cause. We can fix `credentials`; every other cause is between the number's owner and the provider. */
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
 * The messages that it stops: all, or only those outside a service window. Some provider restrictions still allow
 * replies to customers who have written.
 */
export const SenderBlockScope = Schema.Literals(["all", "outside_window"])
export type SenderBlockScope = typeof SenderBlockScope.Type

/**
 * What a block rests on: the error of a `send`, a `report` of the provider without an end, or its report of a block with
 * an end (`term`). If a response refuses a message that the block before allowed, its error is a report too: that block
 * cannot be its cause.
 */
export const SenderBlockBasis = Schema.Literals(["send", "report", "term"])
export type SenderBlockBasis = typeof SenderBlockBasis.Type

/** A block of a number by the provider. */
export interface SenderBlock {
  readonly reason: SenderBlockReason
  readonly scope: SenderBlockScope
  readonly basis: SenderBlockBasis
  readonly since: Instant
  /** When sends are tried again; `null` if only the provider or the operator can lift the block. */
  readonly until: Instant | null
  /** The provider's error, or the cause that it reported. */
  readonly provider: ProviderDetail | null
}

/**
 * How long a block lasts if the provider gave no end. Afterwards sends go out again, and the first that the provider
 * refuses for the same reason renews the block. So this is how soon we notice that the cause is gone.
 */
export const trialAfter: Readonly<Record<SenderBlockReason, Duration.Duration>> = {
  // the provider judges quality over days, and each message that counts as spam makes it worse
  quality: Duration.hours(1),
  // people restore an account
  restricted: Duration.hours(1),
  // a token and its permissions may change at any time, even by a restart with a different environment, and a trial is
  // harmless
  credentials: Duration.minutes(1),
  // a person registers the number again within minutes
  registration: Duration.minutes(5),
  // a person enters a payment method within minutes
  payment: Duration.minutes(5),
  // people approve a name
  display_name: Duration.hours(1)
}

/**
 * A block of all messages without an end from the provider. If the provider gives one, set `until` to it and `basis` to
 * `term`.
 */
export const of = (
  reason: SenderBlockReason,
  now: Instant,
  provider: ProviderDetail | null,
  basis: "send" | "report" = "report"
): SenderBlock => ({
  reason,
  scope: "all",
  basis,
  since: now,
  until: now + Duration.toMillis(trialAfter[reason]),
  provider
})

/** Whether the block is in force at `now`. */
export const inForce = ({ until }: Pick<SenderBlock, "until">, now: Instant): boolean => until === null || now < until

/**
 * Whether the cause of the block may still exist at `now`. After a trial's time sends are tried, but only an accepted send
 * or a report of the provider shows that they work.
 */
export const mayLast = ({ basis, until }: Pick<SenderBlock, "basis" | "until">, now: Instant): boolean =>
  basis !== "term" || inForce({ until }, now)

/** Whether the block stops a message at `now`, given whether the customer's service window is open. */
export const stops = (block: Pick<SenderBlock, "scope" | "until">, isOpen: boolean, now: Instant): boolean =>
  inForce(block, now) && (block.scope === "all" || !isOpen)

/**
 * Whether `next` is the error of a send that came so late that its block has ended, while sends do not wait for the end
 * of the same cause. Sends may have been accepted since, so it shows nothing.
 */
export const isOver = (before: SenderBlock | null, next: SenderBlock, now: Instant): boolean =>
  next.basis === "send" && !inForce(next, now) && (before?.reason !== next.reason || !mayLast(before, now))

const endsLater = (a: SenderBlock, b: SenderBlock): boolean => (a.until ?? Infinity) > (b.until ?? Infinity)

/**
 * Whether `next` is the error of a send that says nothing against the block `before`, because that block has the same
 * reason and ends later: the send may have met it.
 */
export const hasMet = (before: SenderBlock | null, next: SenderBlock): boolean =>
  next.basis === "send" && before?.reason === next.reason && endsLater(before, next)

/**
 * The block after the provider has reported `next`. A block for the same reason continues and keeps its start. The error
 * of a send leaves a block that it may have met ({@link hasMet}) as it is. A later report replaces the block, such as the
 * ban of an account that was restricted. Errors of sends that meet the ban move only its end. The ban remains what the
 * block rests on, so that an earlier restriction does not replace it. The block keeps its cause, by which the provider
 * lifts it, and its scope, since most errors do not show whether the message was a reply.
 */
export const renewed = (before: SenderBlock | null, next: SenderBlock): SenderBlock => {
  if (before?.reason !== next.reason) return next
  const since = Math.min(before.since, next.since)
  if (next.basis !== "send") return { ...next, since }
  if (hasMet(before, next)) return { ...before, since }
  if (before.basis === "report") return { ...before, since, until: next.until }
  return { ...next, scope: before.scope === "all" ? "all" : next.scope, since }
}

/**
 * The block after a report that is older than `held`; undefined if the report changes nothing. It does if `held` rests on
 * the error of a send, which is newer than the report of its cause and may arrive first: a block for the same reason that
 * ends later replaces it, and a report without an end, before whose trial the first send was refused, is what it rests on.
 */
export const afterOlder = (held: SenderBlock, older: SenderBlock): SenderBlock | undefined => {
  if (older.reason !== held.reason || held.basis !== "send") return undefined
  if (endsLater(older, held)) return renewed(held, older)
  return older.basis === "report" && inForce(older, held.since) ? renewed(older, held) : undefined
}

const words: Readonly<Record<SenderBlockReason, string>> = {
  quality: "the provider has stopped this phone number because of its quality rating or reports of spam",
  restricted: "the provider has restricted or locked the account of this phone number",
  credentials: "the provider does not accept the credentials of this phone number, or they lack a permission",
  registration: "this phone number is not registered with the provider",
  payment: "the provider requires a payment problem on this phone number's account to be resolved",
  display_name: "the provider has not approved the display name of this phone number"
}

/** Describes the block for people. */
export const describe = ({ reason, scope }: Pick<SenderBlock, "reason" | "scope">): string =>
  scope === "all" ? words[reason] : `${words[reason]}; messages within a customer's service window are still allowed`

/** The error for a send from a number with this block in force. `param` is the field that named the number. */
export const refusal = (block: SenderBlock, param?: "from"): Forbidden | ServerError => {
  const described = {
    message: describe(block),
    ...(block.provider === null ? {} : { provider: block.provider })
  }
  return block.reason === "credentials"
    ? new ServerError({ reason: "provider_error", ...described })
    : new Forbidden({ reason: "sender_not_available", ...(param === undefined ? {} : { param }), ...described })
}
