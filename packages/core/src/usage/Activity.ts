/**
 * A workspace's activity, counted by the hour. Pure.
 */
import { Duration } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/**
 * The counted activities, at their end: sends that the provider accepted, sends that it refused, sends of unknown
 * outcome, sends that our own rules or limits refused, and attempts at webhook deliveries.
 */
export const activities = [
  "sendsAccepted",
  "sendsFailed",
  "sendsUnknown",
  "sendsRefused",
  "attemptsDelivered",
  "attemptsFailed"
] as const
export type Activity = (typeof activities)[number]

/** One occurrence of an activity. */
export interface Happened {
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

/** The periods of a report, in days up to now. */
export const periods = { day: 1, week: 7, month: 30, quarter: 90 } as const
/** A period for which activity is shown. */
export type Period = keyof typeof periods

/** Sums occurrences by workspace, hour and activity. Pure. */
export const counted = (all: ReadonlyArray<Happened>): ReadonlyArray<Count> => {
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

/** The counts of one step of a series. */
export type Step = { readonly at: Instant } & { readonly [activity in Activity]: number }

/** Counts over time, oldest first. Steps without activity are included. */
export interface Series {
  readonly since: Instant
  /** The length of a step, in milliseconds. */
  readonly step: number
  readonly steps: ReadonlyArray<Step>
}

/** When a period up to now begins: on a whole hour for up to a week, on a whole day (UTC) for longer. */
export const begin = (now: Instant, period: Period): { readonly since: Instant; readonly step: number } => {
  const days = periods[period]
  const step = days <= periods.week ? hourLength : dayLength
  return { step, since: now - now % step - days * dayLength + step }
}

const nothing = Object.fromEntries(activities.map((activity) => [activity, 0])) as { [activity in Activity]: number }

/** Sums counts by step. Pure. */
export const series = (counts: ReadonlyArray<Count>, now: Instant, period: Period): Series => {
  const { since, step } = begin(now, period)
  const steps: Array<{ at: Instant } & { [activity in Activity]: number }> = []
  for (let at = since; at <= now; at += step) steps.push({ at, ...nothing })
  for (const { activity, count, hour } of counts) {
    const own = steps[Math.floor((hour - since) / step)]
    if (own !== undefined) own[activity] += count
  }
  return { since, step, steps }
}
