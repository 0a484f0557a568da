/**
 * How many messages of a campaign were sent, delivered and read when (contract §11). Counts are kept by short spans of
 * time, so that whoever changes a message only adds differences, and a report sums them to few steps. Pure.
 */
import { Duration } from "effect"
import type { CampaignId } from "../Id.ts"
import type { Message } from "../messages/Message.ts"
import type { Instant } from "../Time.ts"
import * as CampaignCounts from "./CampaignCounts.ts"

/** How far a message came, in their order. A message that was read was delivered, and one that was delivered was sent. */
export const stages = ["sent", "delivered", "read"] as const satisfies ReadonlyArray<CampaignCounts.Outcome>
type Stage = (typeof stages)[number]

/** Numbers of messages by how far they came. As differences, they may be negative. */
export type Totals = { readonly [stage in Stage]: number }

const nothing: Totals = { sent: 0, delivered: 0, read: 0 }

/** The messages of a span of time that begins at `at`. */
export interface Count extends Totals {
  readonly at: Instant
}

/** A difference of the counts of a campaign. */
export interface Change extends Count {
  readonly campaignId: CampaignId
}

/** The lengths that a step may have, ascending. Each is a multiple of those before it. */
const stepLengths = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 7 * 1440].map((minutes) =>
  Duration.toMillis(Duration.minutes(minutes))
)

/** Steps that a person can tell apart. */
export const maxSteps = 60

/** The length of a step for a span of time of this length. */
const stepOf = (length: number): number => stepLengths.find((step) => length < maxSteps * step) ?? stepLengths.at(-1)!

const floor = (at: Instant, step: number): Instant => at - at % step

/**
 * The start of the span in which something about a message is counted. The longer after its sending, the longer the
 * span: a report that has it in it is of a time at least as long, and its steps are not shorter than the span.
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

/** How the counts of campaigns change with messages. */
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

/** The times of a report after the first message was sent, in milliseconds. */
export const periods = {
  hour: Duration.toMillis(Duration.hours(1)),
  day: Duration.toMillis(Duration.days(1)),
  week: Duration.toMillis(Duration.weeks(1))
} as const
/** A time of a report. */
export type Period = keyof typeof periods

/** A campaign's messages over time. */
export interface Timeline {
  /** The length of each step, in milliseconds. */
  readonly step: number
  /** Oldest first, without gaps, from the first message to the last change. */
  readonly steps: ReadonlyArray<Count>
}

/**
 * Sums counts, oldest first, to few steps, which begin at multiples of their length (UTC): those of a time after the
 * first message, or all.
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
