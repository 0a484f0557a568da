/**
 * Durations of attempts at webhook deliveries and of the arrival of messages, counted by spans of time and in groups of
 * similar durations, and the percentiles of such counts. Pure.
 */
import { Duration } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as Activity from "./Activity.ts"

/** The outcomes of attempts that are counted: those of `Delivery.AttemptOutcome`, with statuses except 200 by class. */
export const attemptOutcomes = [
  "delivered",
  "status2xx",
  "status4xx",
  "status5xx",
  "statusOther",
  "redirect",
  "timeout",
  "connect",
  "tls",
  "dns",
  "blockedAddress"
] as const
/** One of {@link attemptOutcomes}. */
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** The kinds of timed occurrences: attempts, by outcome, and messages, from when they were sent until they arrived. */
export const kinds = [...attemptOutcomes, "arrival"] as const
/** One of {@link kinds}. */
export type Kind = (typeof kinds)[number]

/** An occurrence of an activity, and its duration if durations of this activity are counted. */
export interface Occurrence extends Activity.Occurrence {
  readonly timed?: { readonly kind: Kind; readonly durationMs: number } | undefined
}

/** How many occurrences of a step of time had a duration in a group. */
export interface StepCount {
  /** The start of the step. */
  readonly at: Instant
  readonly kind: Kind
  /** The index of the group ({@link groupOf}). */
  readonly durationGroup: number
  readonly count: number
}

/** How many occurrences of a workspace and a span of time had a duration in a group, as stored. */
export interface Count extends StepCount {
  readonly workspaceId: WorkspaceId
  /** The length of the span, in milliseconds: one of {@link spans}. */
  readonly span: number
}

/**
 * The spans by which occurrences are counted, in milliseconds: short ones for the last days, hours for longer reports.
 */
export const spans = {
  short: Duration.toMillis(Duration.minutes(5)),
  hour: Duration.toMillis(Duration.hours(1))
} as const

/** How long counts of short spans are kept. Counts of hours are kept for `Activity.retention`. */
export const shortRetention = Duration.days(2)

/** The largest duration of a group, in relation to the largest of the group before: a quarter higher. */
const growth = 1.25

/** Durations from this on are all in the last group. */
const longest = Duration.toMillis(Duration.days(30))

/** The largest duration of each group, in milliseconds. */
const bounds: ReadonlyArray<number> = (() => {
  const all = [1]
  while (all.at(-1)! < longest) all.push(Math.max(all.at(-1)! + 1, Math.round(all.at(-1)! * growth)))
  return all
})()

/** The index of a duration's group, from 0 for the shortest. */
export const groupOf = (durationMs: number): number => {
  let [low, high] = [0, bounds.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (bounds[middle]! < durationMs) low = middle + 1
    else high = middle
  }
  return low
}

/** Sums the counts of the same workspace, span, kind and group. */
const summed = (all: Iterable<Count>): ReadonlyArray<Count> => {
  const counts = new Map<string, { -readonly [field in keyof Count]: Count[field] }>()
  for (const count of all) {
    const name = `${count.workspaceId} ${count.at} ${count.kind} ${count.durationGroup}`
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { ...count })
    else known.count += count.count
  }
  return [...counts.values()]
}

const ofSpan = (count: Count, span: number): Count => ({ ...count, span, at: count.at - count.at % span })

/** Counts occurrences by workspace, span, kind and group of durations. Occurrences without a duration do not count. */
export const counted = (all: ReadonlyArray<Occurrence>): ReadonlyArray<Count> => {
  const span = spans.short
  const short = summed(all.flatMap(({ at, timed, workspaceId }) =>
    timed === undefined ? [] : [{
      workspaceId,
      span,
      at: at - at % span,
      kind: timed.kind,
      durationGroup: groupOf(timed.durationMs),
      count: 1
    }]
  ))
  return [...short, ...summed(short.map((count) => ofSpan(count, spans.hour)))]
}

/** The periods of a report, up to now. */
export type Period = "hour" | Activity.Period

/** The times that a request for a report gives. They default to the last day. */
export interface RangeRequest extends Omit<Activity.RangeRequest, "period"> {
  readonly period?: Period | undefined
}

/** A range of time, with the length of its steps and the span of the counts to read, in milliseconds. */
export type Range = ReturnType<typeof Activity.rangeOf> & { readonly span: number }

/** The longest range that has short steps: they are then no more than the steps of other ranges. */
const shortest = Duration.toMillis(Duration.hours(4))

/**
 * The range that is reported. The last hour, and at most four hours of the last two days, have steps of five minutes;
 * other ranges have the steps of activity (`Activity.rangeOf`).
 */
export const rangeOf = (now: Instant, { period = "day", since, until }: RangeRequest): Range => {
  const end = Math.min(until ?? now + 1, now + 1)
  // the first step begins within the hour, or there would be one step more
  const first = since ?? (period === "hour" ? end - spans.hour + spans.short - 1 : undefined)
  const isShort = first !== undefined && end - first <= shortest &&
    first >= now - Duration.toMillis(shortRetention)
  if (!isShort) {
    return {
      ...Activity.rangeOf(now, { period: period === "hour" ? "day" : period, since: first, until }),
      span: spans.hour
    }
  }
  const from = first - first % spans.short
  return { since: from, until: Math.max(end, from), step: spans.short, span: spans.short }
}

/** The durations that half and 19 of 20 occurrences do not exceed, in milliseconds; `null` without an occurrence. */
export interface Percentiles {
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/**
 * The percentiles of counts. Each is the largest duration of its group, so it is never too low, and at most a quarter
 * too high. None is above `most`, if given.
 */
export const percentiles = (
  counts: ReadonlyArray<Pick<StepCount, "durationGroup" | "count">>,
  most = Infinity
): Percentiles => {
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const sorted = counts.toSorted((a, b) => a.durationGroup - b.durationGroup)
  const at = (share: number): number | null => {
    let sum = 0
    const found = sorted.find(({ count }) => (sum += count) >= share * total)
    return found === undefined ? null : Math.min(bounds[found.durationGroup]!, most)
  }
  return total === 0 ? { p50Ms: null, p95Ms: null } : { p50Ms: at(0.5), p95Ms: at(0.95) }
}

/** Divides counts among the steps of a range. */
export const byStep = (counts: ReadonlyArray<StepCount>, range: Range) =>
  Activity.byStep(counts.map((count) => ({ ...count, hour: count.at })), range)
