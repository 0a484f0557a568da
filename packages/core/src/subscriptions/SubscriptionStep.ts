/**
 * Decides which events of a durable subscription a process may handle now, and what the ends of its handlers change
 * (contract §16). Pure.
 */
import { Duration } from "effect"
import type { Event, EventType } from "../events/Event.ts"
import type { EventId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Subscription from "./Subscription.ts"

/** The end of a try to handle an event. */
export interface Ended {
  readonly eventId: EventId
  /** `null` if the event is handled. */
  readonly failure: string | null
}

/** The command of a process: it reports the ends of tries, and requests events to handle. */
export interface Work extends Subscription.Key {
  readonly now: Instant
  /** The token of the process's claim. */
  readonly owner: string
  /**
   * The event types that the process's handler handles. If one of the subscription's types is missing, no event begins.
   */
  readonly types: ReadonlyArray<EventType>
  readonly ended: ReadonlyArray<Ended>
  /** The events whose handlers are still running. */
  readonly running: ReadonlyArray<EventId>
  /** How many more handlers may run. */
  readonly room: number
  /** A random number in [0, 1), for the delays before retries. */
  readonly jitter: number
}

/** An entry with its event. */
export interface Taken {
  readonly entry: Subscription.Entry
  readonly event: Event
}

/** An event after the subscription's place. */
export interface Fresh {
  readonly event: Event
  readonly place: number
  /**
   * An unfinished entry of the same message, for which this event must wait; `null` if there is none. It is a running
   * entry, which the command may end, only if there is no other. (An entry that a person retried may run or wait beside
   * later entries.)
   */
  readonly behind: EventId | null
}

/** The entries and events that the work needs, once it is clear that the process may do it. */
export interface Tasks {
  /** Every entry in the state `running`: its handler runs, or ran when its process was lost. */
  readonly running: ReadonlyArray<Subscription.Entry>
  /** The first held entry of each message that has a running one, unless an earlier entry of the message is waiting. */
  readonly followers: ReadonlyArray<Taken>
  /**
   * Waiting entries that are due, the longest waiting first, and if there are enough, at least as many as there is room
   * for. Excludes messages with a running entry that the command does not end.
   */
  readonly due: ReadonlyArray<Taken>
  /** Events of the subscription's types after the place, in the order of recording, as many as there is room for. */
  readonly fresh: ReadonlyArray<Fresh>
  /** The place up to which `fresh` was searched. */
  readonly settled: number
  /** When the next waiting entry is due that is not due yet; `null` if there is none. */
  readonly nextAt: Instant | null
}

/** The records that the work loads, under a lock on the subscription. */
export interface LoadedWork extends Known {
  /** `undefined` if there is no such subscription. */
  readonly subscription: Subscription.Subscription | undefined
  /** `null` if they are not loaded yet. */
  readonly tasks: Tasks | null
}

/** The need to load {@link Tasks} of a subscription at a time. */
export interface Need {
  readonly subscription: Subscription.Subscription
  readonly now: Instant
  /** How many more handlers may run. */
  readonly room: number
}

/** An event to handle. */
export interface Begun {
  readonly event: Event
  /** How many tries of the event have begun, including this one. */
  readonly attempt: number
}

/**
 * The result of work. `working`: the ends are recorded, and the caller owns the events in `begun`. `held`: another
 * process handles events now, or must, because the caller's handler lacks a type. `lost`: another process has taken
 * over the caller's claim, and nothing was recorded. `removed`: there is no such subscription.
 */
export type WorkResult =
  | { readonly _tag: "held" | "lost" | "removed" }
  | {
    readonly _tag: "working"
    readonly begun: ReadonlyArray<Begun>
    /** Whether there is room left and there may be more events to begin now. */
    readonly isMore: boolean
    /** In how many milliseconds the next waiting event is due; `null` if none waits. */
    readonly nextIn: number | null
  }

/** The changes that the work writes. */
export interface WorkWrites {
  readonly subscription: Subscription.Subscription | undefined
  readonly entries: ReadonlyArray<Subscription.Entry>
  /** Entries of handled events. */
  readonly removed: ReadonlyArray<Subscription.Entry>
}

/**
 * How many places an idle subscription may stay behind the last event if no event in between is of its types, so that
 * not each of these events costs a write.
 */
const idlePlaces = 1000

const nothing: WorkWrites = { subscription: undefined, entries: [], removed: [] }

/** Decides `SubscriptionStore.work` for one command. */
export const work: Decide<Work, LoadedWork, WorkResult, WorkWrites, Need> = (loaded, [command]) => {
  const { ended, jitter, owner, running, types } = command!
  const { subscription, tasks } = loaded
  const now = loaded.now(command!.now)
  if (subscription === undefined) return { answers: [{ _tag: "removed" }], writes: nothing }
  if (subscription.owner !== owner && running.length + ended.length > 0) {
    return { answers: [{ _tag: "lost" }], writes: nothing }
  }
  const isAble = subscription.types.every((type) => types.includes(type))
  if (!Subscription.mayWork(subscription, owner, now) || !isAble && running.length + ended.length === 0) {
    return { answers: [{ _tag: "held" }], writes: nothing }
  }
  const room = isAble ? command!.room : 0
  if (tasks === null) return { needs: [{ subscription, now, room }] }

  const entries = new Map<EventId, Subscription.Entry>()
  const removed: Array<Subscription.Entry> = []
  /** Events that are handled or set aside, so that later events of their messages no longer wait for them. */
  const over = new Set<EventId>()
  const isOver = new Set<string>()

  const failures = new Map(ended.map(({ eventId, failure }) => [eventId, failure]))
  for (const entry of tasks.running) {
    if (running.includes(entry.eventId)) continue
    const failure = failures.has(entry.eventId) ? failures.get(entry.eventId)! : Subscription.unfinished
    const after = failure === null ? undefined : Subscription.failed(entry, failure, now, jitter)
    if (after === undefined) removed.push(entry)
    else entries.set(entry.eventId, after)
    if (after === undefined || after.state === "failed") {
      over.add(entry.eventId)
      if (entry.orderKey !== null) isOver.add(entry.orderKey)
    }
  }

  const begun: Array<Begun> = []
  const busy = new Set<string>()
  const isFree = (orderKey: string | null) => orderKey === null || !busy.has(orderKey)
  const begin = (entry: Subscription.Entry, event: Event) => {
    const after = Subscription.begun(entry, now)
    entries.set(entry.eventId, after)
    begun.push({ event, attempt: after.attempts })
    if (entry.orderKey !== null) busy.add(entry.orderKey)
  }

  const freed = tasks.followers
    .filter(({ entry: { orderKey } }) => isOver.has(orderKey!))
    .map(({ entry, event }) => ({ entry: Subscription.released(entry, now), event }))
  for (const { entry } of freed) entries.set(entry.eventId, entry)
  const due = [...freed, ...tasks.due].sort((a, b) => a.entry.place - b.entry.place)
  for (const { entry, event } of due) {
    if (begun.length < room && isFree(entry.orderKey)) begin(entry, event)
  }

  let { place } = subscription
  let isExhausted = tasks.fresh.length < room
  for (const { behind, event, place: at } of tasks.fresh) {
    if (begun.length === room) {
      isExhausted = false
      break
    }
    const entry = Subscription.entryOf(command!, event, at)
    const isHeld = behind !== null && !over.has(behind) || !isFree(event.orderKey)
    if (isHeld) entries.set(entry.eventId, entry)
    else begin(entry, event)
    if (event.orderKey !== null) busy.add(event.orderKey)
    place = at
  }
  if (isExhausted) place = Math.max(place, tasks.settled)

  const isBusy = running.length + begun.length > 0
  const after: Subscription.Subscription = {
    ...subscription,
    place,
    owner: isBusy ? owner : null,
    leaseUntil: isBusy ? now + Duration.toMillis(Subscription.lease) : null
  }
  const isChanged = isBusy || subscription.owner !== null || entries.size + removed.length > 0 ||
    place - subscription.place >= idlePlaces
  const waits = [
    ...entries.values(),
    ...tasks.nextAt === null ? [] : [{ state: "waiting", nextAt: tasks.nextAt, orderKey: null }]
  ]
    .flatMap(({ nextAt, orderKey, state }) => state === "waiting" && isFree(orderKey) ? [nextAt!] : [])
  return {
    answers: [{
      _tag: "working",
      begun,
      isMore: begun.length < room && !isExhausted,
      nextIn: waits.length === 0 ? null : Math.max(0, Math.min(...waits) - now)
    }],
    writes: isChanged ? { subscription: after, entries: [...entries.values()], removed } : nothing
  }
}
