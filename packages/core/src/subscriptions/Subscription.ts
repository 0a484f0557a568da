/**
 * Durable subscriptions (contract §16): a named place in a workspace's events, and the events that were taken up and
 * are not handled yet. Pure.
 */
import { Duration } from "effect"
import type { EventType } from "../events/Event.ts"
import type { EventId, MessageId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as RetrySchedule from "../webhooks/RetrySchedule.ts"

/** How long a process may handle events without reporting before another process takes over. */
export const lease = Duration.seconds(10)

/** How often a process with running handlers reports. */
export const renewEvery = Duration.seconds(3)

/** How long events wait for a subscription beyond their retention. */
export const keptFor = Duration.days(90)

/** How old the oldest unhandled event of a subscription may become without an alert. */
export const patience = Duration.days(3)

/** The maximum length of a name, in characters. */
export const maxName = 100

/** The maximum number of events that a subscription handles at a time. */
export const maxConcurrency = 100

/** The maximum length of a failure that is kept, in characters. */
const maxFailure = 500

/** The failure of a try whose process ended, or lost its claim, before the handler was done. */
export const unfinished = "the process ended before the handler was done"

/** What identifies a subscription. */
export interface Key {
  readonly workspaceId: WorkspaceId
  readonly name: string
}

export interface Subscription extends Key {
  /** The types that it was last opened with. A process whose handler lacks one of them begins nothing. */
  readonly types: ReadonlyArray<EventType>
  /** Events up to this place, in the order of recording, are handled or have an {@link Entry}. */
  readonly place: number
  /** The token of the process that handles its events now; `null` if none is being handled. */
  readonly owner: string | null
  /** When another process may take over; `null` without an owner. */
  readonly leaseUntil: Instant | null
  readonly createdAt: Instant
}

/**
 * `running` while a handler handles it, `waiting` for its time, `held` while an earlier event of its message is not
 * handled, `failed` once it was set aside.
 */
export const states = ["running", "waiting", "held", "failed"] as const
/** One of {@link states}. */
export type State = (typeof states)[number]

/** An event that was taken up and is not handled yet. */
export interface Entry extends Key {
  readonly eventId: EventId
  /** The place of the event in the order of recording. */
  readonly place: number
  /** Events with the same key are handled one at a time, in the order of their places. */
  readonly orderKey: MessageId | null
  /** When the event was recorded. */
  readonly recordedAt: Instant
  readonly state: State
  /** How many tries have begun. */
  readonly attempts: number
  /** How many of them since the event was taken up or retried by a person. */
  readonly roundAttempts: number
  /** When the first of these began. */
  readonly roundStartedAt: Instant | null
  /** When the last try began. */
  readonly startedAt: Instant | null
  /** When a `waiting` event is tried. */
  readonly nextAt: Instant | null
  /** When a `failed` event was set aside. */
  readonly failedAt: Instant | null
  /** Why the last try failed. */
  readonly failure: string | null
}

/** An event as it is taken up. */
export const entryOf = (
  { name, workspaceId }: Key,
  event: { readonly id: EventId; readonly orderKey: MessageId | null; readonly createdAt: Instant },
  place: number
): Entry => ({
  workspaceId,
  name,
  eventId: event.id,
  place,
  orderKey: event.orderKey,
  recordedAt: event.createdAt,
  state: "held",
  attempts: 0,
  roundAttempts: 0,
  roundStartedAt: null,
  startedAt: null,
  nextAt: null,
  failedAt: null,
  failure: null
})

/** Begins a try. */
export const begun = (entry: Entry, now: Instant): Entry => ({
  ...entry,
  state: "running",
  attempts: entry.attempts + 1,
  roundAttempts: entry.roundAttempts + 1,
  roundStartedAt: entry.roundStartedAt ?? now,
  startedAt: now,
  nextAt: null
})

/** Makes an event due, since its predecessor no longer holds it up. */
export const released = (entry: Entry, now: Instant): Entry => ({ ...entry, state: "waiting", nextAt: now })

/**
 * Ends a try that failed. It is tried again as a webhook's delivery is (`RetrySchedule`), and set aside when the try
 * at the end of the 24 hours fails.
 */
export const failed = (entry: Entry, failure: string, now: Instant, jitter: number): Entry => {
  const nextAt = RetrySchedule.next({
    number: entry.roundAttempts,
    firstStartedAt: entry.roundStartedAt!,
    startedAt: entry.startedAt!,
    endedAt: now,
    retryAfter: null
  }, jitter)
  const after = { ...entry, failure: failure.slice(0, maxFailure).toWellFormed(), nextAt }
  return nextAt === null ? { ...after, state: "failed", failedAt: now } : { ...after, state: "waiting" }
}

/** Retries an event that was set aside, for another 24 hours. */
export const retried = (entry: Entry, now: Instant): Entry => ({
  ...entry,
  state: "waiting",
  roundAttempts: 0,
  roundStartedAt: null,
  nextAt: now,
  failedAt: null
})

/** Whether a process may handle the events of a subscription. */
export const mayWork = ({ leaseUntil, owner }: Subscription, token: string, now: Instant): boolean =>
  owner === null || owner === token || leaseUntil! <= now
