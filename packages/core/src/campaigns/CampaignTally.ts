/**
 * How many recipients of a campaign share an outcome, its reason, and a variant (contract §11). A campaign's counts are
 * sums of tallies, so that a change of one message only adds differences. Pure.
 */
import type { Message } from "../messages/Message.ts"
import * as CampaignCounts from "./CampaignCounts.ts"
import type { Variant } from "./Variant.ts"

/** Recipients of the same variant with the same outcome. As a difference, their number may be negative. */
export interface Tally {
  readonly outcome: CampaignCounts.Outcome
  /** Why the recipients failed or were skipped: the error's reason, or its code; `null` for every other outcome. */
  readonly reason: string | null
  /** The variant of the template that the recipients get; `null` in a campaign without variants. */
  readonly variant: Variant | null
  readonly recipients: number
}

/** The parts of a message that decide how its recipient is counted. */
export type Counted = Pick<Message, "status" | "isHeld" | "error" | "variant">

/** Why the recipient of a message failed or was skipped; `null` for every other outcome. */
export const reasonOf = ({ error, status }: Pick<Message, "status" | "error">): string | null =>
  status === "failed" || status === "skipped" ? error?.reason ?? error?.code ?? null : null

const tallyOf = (message: Counted, recipients: number): Tally => ({
  outcome: CampaignCounts.outcomeOf(message),
  reason: reasonOf(message),
  variant: message.variant,
  recipients
})

const isAlike = (one: Tally, other: Tally): boolean =>
  one.outcome === other.outcome && one.reason === other.reason && one.variant === other.variant

/** Adds differences to tallies. Leaves out tallies that become zero. */
export const add = (tallies: ReadonlyArray<Tally>, changes: ReadonlyArray<Tally>): ReadonlyArray<Tally> => {
  const sums: Array<Tally> = [...tallies]
  for (const change of changes) {
    const at = sums.findIndex((tally) => isAlike(tally, change))
    if (at < 0) sums.push(change)
    else sums[at] = { ...change, recipients: sums[at]!.recipients + change.recipients }
  }
  return sums.filter(({ recipients }) => recipients !== 0)
}

/** The tallies to add for new messages. */
export const ofNew = (messages: ReadonlyArray<Counted>): ReadonlyArray<Tally> =>
  add([], messages.map((message) => tallyOf(message, 1)))

/** The tallies to add when a message changes; empty if its recipient is counted as before. */
export const change = (before: Counted, after: Counted): ReadonlyArray<Tally> =>
  add([], [tallyOf(before, -1), tallyOf(after, 1)])

/** The number of recipients by outcome. */
export const countsOf = (tallies: ReadonlyArray<Tally>): CampaignCounts.CampaignCounts => {
  const counts = { ...CampaignCounts.none }
  for (const { outcome, recipients } of tallies) counts[outcome] += recipients
  return counts
}

/** Recipients that failed or were skipped for the same reason. */
export interface ReasonTally {
  readonly outcome: "failed" | "skipped"
  readonly reason: string
  readonly recipients: number
}

/** The reasons in the tallies of all variants, the most frequent one first. */
export const reasonsOf = (tallies: ReadonlyArray<Tally>): ReadonlyArray<ReasonTally> =>
  add([], tallies.map((tally) => ({ ...tally, variant: null })))
    .filter((tally): tally is Tally & ReasonTally => tally.reason !== null)
    .map(({ outcome, reason, recipients }) => ({ outcome, reason, recipients }))
    .toSorted((one, other) => other.recipients - one.recipients || (one.reason < other.reason ? -1 : 1))
