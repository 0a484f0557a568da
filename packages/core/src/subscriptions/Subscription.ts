/**
 * Durable subscriptions (contract §16), by which a host handles a workspace's events in its own process: a named place
 * in the sequence of events, and an entry for each event before it that is not handled yet. Pure.
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

/** The age of a subscription's oldest unhandled event from which there is an alert. */
export const patience = Duration.days(3)

/** The maximum length of a name, in characters. */
export const maxName = 100

/** The maximum number of events that a subscription handles at a time. */
export const maxConcurrency = 100

/** The maximum length of a stored failure, in characters. */
const maxFailure = 500

/** The failure of a try whose process ended, or lost its claim, before the handler was done. */
export const unfinished = "the process ended before the handler was done"

/** Identifies a subscription: by its workspace and its name. */
export interface Key {
  readonly workspaceId: WorkspaceId
  readonly name: string
}

/** A subscription: its place in the events, and the process that handles them. */
export interface Subscription extends Key {
  /** The event types with which it was last opened. A process whose handler lacks one of them begins no event. */
  readonly types: ReadonlyArray<EventType>
  /** Every event up to this place, in the order of recording, is handled or has an {@link Entry}. */
  readonly place: number
  /** The token of the process that handles its events now; `null` if no event is being handled. */
  readonly owner: string | null
  /** When another process may take over; `null` without an owner. */
  readonly leaseUntil: Instant | null
  readonly createdAt: Instant
}

/**
 * The states of an entry: `running` while a handler works on the event, `waiting` until it is due, `held` while an
 * earlier event of the same message is not handled, `failed` once it is set aside.
 */
export const states = ["running", "waiting", "held", "failed"] as const
/** One of {@link states}. */
export type State = (typeof states)[number]

/** An event that a subscription has taken up and not handled yet. */
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
  /**
   * How many tries of the present round have begun. A round begins when the event is taken up or a person retries it.
   */
  readonly roundAttempts: number
  /** When the first try of the round began. */
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

/**
 * The subscription after it was opened with other types. Its place may be behind events of types that it did not have:
 * it first moves to just before `next`, the place of its next event, or without one to `settled`, the place up to which
 * the events are known. So of a type that is added, it gets none of these events.
 */
export const retyped = (
  subscription: Subscription,
  types: ReadonlyArray<EventType>,
  { next, settled }: { readonly next: number | null; readonly settled: number }
): Subscription => ({
  ...subscription,
  types,
  place: Math.max(subscription.place, Math.min(settled, next === null ? settled : next - 1))
})

/** The entry of an event that is taken up: `held` and untried. */
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

/** The entry after a try has begun. */
export const begun = (entry: Entry, now: Instant): Entry => ({
  ...entry,
  state: "running",
  attempts: entry.attempts + 1,
  roundAttempts: entry.roundAttempts + 1,
  roundStartedAt: entry.roundStartedAt ?? now,
  startedAt: now,
  nextAt: null
})

/** The entry after its predecessor is done: it is due now. */
export const released = (entry: Entry, now: Instant): Entry => ({ ...entry, state: "waiting", nextAt: now })

/**
 * The entry after a try has failed. It is tried again on the schedule of webhook deliveries (`RetrySchedule`), and set
 * aside (`failed`) when the try at the end of the round's 24 hours fails.
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

/** The entry after a person has retried it: a new round of 24 hours begins, due now. */
export const retried = (entry: Entry, now: Instant): Entry => ({
  ...entry,
  state: "waiting",
  roundAttempts: 0,
  roundStartedAt: null,
  nextAt: now,
  failedAt: null
})

/** Whether a process may handle the events of a subscription: nobody else does, or its lease has ended. */
export const mayWork = ({ leaseUntil, owner }: Subscription, token: string, now: Instant): boolean =>
  owner === null || owner === token || leaseUntil! <= now
