/**
 * How many messages of a campaign were sent, delivered and read, and when (contract §11). Messages are counted by short
 * spans of time, so that a change of one message only adds differences, and a report sums the counts to a few steps.
 * Pure.
 */
import { Duration } from "effect"
import type { CampaignId } from "../Id.ts"
import type { Message } from "../messages/Message.ts"
import type { Instant } from "../Time.ts"
import * as CampaignCounts from "./CampaignCounts.ts"

/**
 * The stages of a message, in their order. A message that was read was delivered, and one that was delivered was sent.
 */
export const stages = ["sent", "delivered", "read"] as const satisfies ReadonlyArray<CampaignCounts.Outcome>
type Stage = (typeof stages)[number]

/** Numbers of messages by the stage that they reached. As differences, they may be negative. */
export type Totals = { readonly [stage in Stage]: number }

const nothing: Totals = { sent: 0, delivered: 0, read: 0 }

/** The messages that reached each stage within the span of time that begins at `at`. */
export interface Count extends Totals {
  readonly at: Instant
}

/** A difference of the counts of a campaign. */
export interface Change extends Count {
  readonly campaignId: CampaignId
}

/** The lengths that a step may have, ascending. Each is a multiple of the previous ones. */
const stepLengths = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 7 * 1440].map((minutes) =>
  Duration.toMillis(Duration.minutes(minutes))
)

/** The maximum number of steps in a report: as many as a person can tell apart. */
export const maxSteps = 60

/** The length of each step in a report on a period of this length, in milliseconds. */
const stepOf = (length: number): number => stepLengths.find((step) => length < maxSteps * step) ?? stepLengths.at(-1)!

const floor = (at: Instant, step: number): Instant => at - at % step

/**
 * The start of the span in which a stage of a message is counted. The longer after the sending it was reached, the
 * longer the span. A report that contains the stage covers a period at least as long as that, so its steps are not
 * shorter than the span.
 */
const spanOf = (at: Instant, { sentAt }: Pick<Message, "sentAt">): Instant =>
  floor(at, stepOf((at - (sentAt ?? at)) / 2))

/** The parts of a message that decide when it is counted. */
export type Counted = Pick<Message, "status" | "isHeld" | "sentAt" | "deliveredAt" | "readAt">

/** A message counts as in `CampaignCounts`: one that failed after it was sent does not count as sent any more. */
const countsOf = (message: Counted): ReadonlyArray<readonly [stage: Stage, at: Instant]> => {
  const reached = stages.findIndex((stage) => stage === CampaignCounts.outcomeOf(message))
  return stages.slice(0, reached + 1).flatMap((stage) => {
    const at = message[`${stage}At`]
    return at === null ? [] : [[stage, spanOf(at, message)] as const]
  })
}

/** How changes of messages change the counts of their campaigns. */
export const changes = (
  messages: Iterable<{ readonly before: Counted; readonly after: Counted & Pick<Message, "campaignId"> }>
): ReadonlyArray<Change> => {
  const all = new Map<string, { -readonly [Field in keyof Change]: Change[Field] }>()
  const add = (campaignId: CampaignId, message: Counted, by: number) => {
    for (const [stage, at] of countsOf(message)) {
      const name = `${campaignId} ${at}`
      const known = all.get(name) ?? { campaignId, at, ...nothing }
      known[stage] += by
      all.set(name, known)
    }
  }
  for (const { after, before } of messages) {
    if (after.campaignId === null) continue
    add(after.campaignId, before, -1)
    add(after.campaignId, after, 1)
  }
  return [...all.values()].filter((change) => stages.some((stage) => change[stage] !== 0))
}

/** The periods that a report may cover, from the first message on, in milliseconds. */
export const periods = {
  hour: Duration.toMillis(Duration.hours(1)),
  day: Duration.toMillis(Duration.days(1)),
  week: Duration.toMillis(Duration.weeks(1))
} as const
/** The period that a report covers. */
export type Period = keyof typeof periods

/** A campaign's messages over time. */
export interface Timeline {
  /** The length of each step, in milliseconds. */
  readonly step: number
  /** Oldest first, without gaps, from the first message to the last change. */
  readonly steps: ReadonlyArray<Count>
}

/**
 * Builds a report from counts that are sorted oldest first. It covers a period after the first message, or all of the
 * time. Its steps begin at multiples of their length (UTC).
 */
export const of = (counts: ReadonlyArray<Count>, period?: Period): Timeline => {
  const some = counts.filter((count) => stages.some((stage) => count[stage] !== 0))
  const [first] = some
  if (first === undefined) return { step: stepOf(0), steps: [] }
  const end = period === undefined ? Infinity : first.at + periods[period]
  const inTime = some.filter(({ at }) => at < end)
  const last = inTime.at(-1)!
  const step = stepOf(last.at - first.at)
  const begin = floor(first.at, step)
  const steps: Array<{ -readonly [Field in keyof Count]: Count[Field] }> = []
  for (let at = begin; at <= last.at; at += step) steps.push({ at, ...nothing })
  for (const count of inTime) {
    const into = steps[(floor(count.at, step) - begin) / step]!
    for (const stage of stages) into[stage] += count[stage]
  }
  return { step, steps }
}
