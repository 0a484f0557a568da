/**
 * A workspace's activity (sends, arrivals and attempts at deliveries): counts by the hour, and the ranges and steps of
 * reports on them. Pure.
 */
import { Duration } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/**
 * The counted activities: sends that the provider accepted, sends that it refused, sends of unknown outcome, sends that
 * our own rules or limits refused, messages that arrived, and attempts at webhook deliveries. A send counts at the time
 * of its outcome, an attempt at its start, and a message that arrived at the time when it was sent, so that arrivals
 * compare with the accepted sends.
 */
export const activities = [
  "sendsAccepted",
  "sendsFailed",
  "sendsUnknown",
  "sendsRefused",
  "sendsDelivered",
  "attemptsDelivered",
  "attemptsFailed"
] as const
/** One of {@link activities}. */
export type Activity = (typeof activities)[number]

/** One occurrence of an activity. */
export interface Occurrence {
  readonly workspaceId: WorkspaceId
  readonly at: Instant
  readonly activity: Activity
}

/** How often an activity occurred in an hour. */
export interface Count {
  readonly workspaceId: WorkspaceId
  /** The start of the hour. */
  readonly hour: Instant
  readonly activity: Activity
  readonly count: number
}

const hourLength = Duration.toMillis(Duration.hours(1))
const dayLength = Duration.toMillis(Duration.days(1))

/** How long counts are kept. */
export const retention = Duration.days(91)

/** The periods of a report and their lengths in days, up to now. */
export const periods = { day: 1, week: 7, month: 30, quarter: 90 } as const
/** One of {@link periods}. */
export type Period = keyof typeof periods

/** A range of time: [since, until). */
export interface Range {
  readonly since: Instant
  readonly until: Instant
}

/** The times that a request for a report gives. */
export interface RangeRequest {
  /** The period before the end, if `since` is omitted; defaults to a week. */
  readonly period?: Period | undefined
  /** The start; if omitted, `period` before the end. */
  readonly since?: Instant | undefined
  /** The end; now if omitted. */
  readonly until?: Instant | undefined
}

/** The lengths that a step may have, ascending. Counts are by the hour, so no step is shorter. */
const stepLengths = [1, 3, 6, 24].map((hours) => hours * hourLength)

/** The maximum number of steps: as many bars as a person can tell apart, and touch on a phone. */
const maxSteps = 48

/** The step for a range of this length, both in milliseconds: the shortest that gives at most 48 steps, a day if none does. */
export const stepOf = (length: number): number => stepLengths.find((step) => length <= maxSteps * step) ?? dayLength

/**
 * The range that is reported and the length of its steps, which begin at multiples of that length (UTC). A start that
 * the request gives is rounded down to an hour only, so that the sums of the range have no more than it; its first step
 * then begins earlier. The last step may be in progress. The range leaves out the future, and times whose counts are no
 * longer kept.
 */
export const rangeOf = (
  now: Instant,
  { period = "week", since, until }: RangeRequest
): Range & { readonly step: number } => {
  const end = Math.min(until ?? now + 1, now + 1)
  const length = periods[period] * dayLength
  const step = stepOf(since === undefined ? length : end - since)
  // the first step begins within the period, or there would be one step more
  const first = since ?? end - length + step - 1
  const oldest = now - Duration.toMillis(retention)
  const from = Math.max(first, oldest)
  const begin = from - from % (since === undefined ? step : hourLength)
  return { since: begin, until: Math.max(end, begin), step }
}

/** Sums occurrences by workspace, hour and activity. Pure. */
export const counted = (all: ReadonlyArray<Occurrence>): ReadonlyArray<Count> => {
  const counts = new Map<string, { -readonly [field in keyof Count]: Count[field] }>()
  for (const { activity, at, workspaceId } of all) {
    const hour = at - at % hourLength
    const name = `${workspaceId} ${hour} ${activity}`
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { workspaceId, hour, activity, count: 1 })
    else known.count++
  }
  return [...counts.values()]
}

/**
 * The same range earlier by as many whole steps as it is long, for a comparison; `undefined` if not all of it is kept.
 */
export const before = (now: Instant, { since, step, until }: ReturnType<typeof rangeOf>): Range | undefined => {
  const shift = Math.ceil((until - since) / step) * step
  return shift === 0 || since - shift < now - Duration.toMillis(retention) ?
    undefined :
    { since: since - shift, until: until - shift }
}

/** How often each activity occurred. */
export type Totals = { readonly [activity in Activity]: number }

const nothing = Object.fromEntries(activities.map((activity) => [activity, 0])) as { [activity in Activity]: number }

/** Sums counts. */
export const totals = (counts: ReadonlyArray<Count>): Totals => {
  const all = { ...nothing }
  for (const { activity, count } of counts) all[activity] += count
  return all
}

/** Divides counts among the steps of a range. The first step may begin before the range. */
export const byStep = <Counted extends { readonly hour: Instant }>(
  counts: ReadonlyArray<Counted>,
  { since, step, until }: ReturnType<typeof rangeOf>
): ReadonlyArray<{ readonly at: Instant; readonly counts: ReadonlyArray<Counted> }> => {
  const steps: Array<{ readonly at: Instant; readonly counts: Array<Counted> }> = []
  if (since >= until) return steps
  const first = since - since % step
  for (let at = first; at < until; at += step) steps.push({ at, counts: [] })
  for (const count of counts) steps[Math.floor((count.hour - first) / step)]?.counts.push(count)
  return steps
}
