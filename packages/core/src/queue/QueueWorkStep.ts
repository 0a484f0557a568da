/**
 * Decides which of the messages that callers queued are handed out (contract §15): a number's messages in the order of
 * their due times, at a pace that leaves some of the number's rate to requests. Pure.
 */
import { Duration } from "effect"
import type { MessageId, PhoneNumberId, WorkspaceId } from "../Id.ts"
import * as Limits from "../limits/Limits.ts"
import type { Message } from "../messages/Message.ts"
import type { KeyedRequest } from "../messages/MessageStore.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Pace from "./Pace.ts"

/** How long a process has to send the messages that it took, before another one takes them again. */
export const lease = Duration.minutes(1)

/** How soon a number that has more to send is looked at again. */
const busyDelay = Duration.millis(200)

/** The part of a number's rate that queued sends may use (contract §15). */
export const share = 0.8

/** A number's queue: when it next needs work, and its pace. */
export interface Lane {
  readonly phoneNumberId: PhoneNumberId
  readonly workspaceId: WorkspaceId
  /** `null` if nothing is queued. */
  readonly workAt: Instant | null
  /** The first free slot. */
  readonly nextSlot: Instant
}

/** The command to hand out messages of the number whose turn it is. */
export interface Work {
  readonly now: Instant
  /** The maximum number of messages to hand out. */
  readonly limit: number
  /** How many more messages of a number the process may take; no fewer than {@link limit} if omitted. */
  readonly roomOf?: ((phoneNumberId: PhoneNumberId) => number) | undefined
  readonly limits: Limits.Limits
}

/** A message that waits in the queue. */
export interface Queued {
  readonly message: Message
  /** The request that queued it, by whose key it is sent once. */
  readonly request: KeyedRequest
  /** How often it was tried. */
  readonly tries: number
  /** `SendTimes.sendUntil`. */
  readonly sendUntil: Instant
}

/** A message that a process took to send. */
export interface Claimed extends Queued {
  /** When it is to be sent, by the storage's clock. */
  readonly slot: Instant
}

/** A number's due messages, and when the next one is due. */
export interface Due {
  /** Messages that are due, the longest waiting first, and no more than needed. */
  readonly messages: ReadonlyArray<Queued>
  /** When the next message is due that is not due yet; `null` if there is none. */
  readonly nextAt: Instant | null
}

/** What a piece of work loads: the number's lane, locked. The number may be a moment old. */
export interface LoadedWork extends Known {
  readonly lane: Lane
  /** `undefined` if the number was removed; its messages fail when they are tried. */
  readonly number: PhoneNumber.PhoneNumber | undefined
  /** The due messages; `null` if they are not loaded yet. */
  readonly due: Due | null
}

/** The messages that the work needs. */
export interface Need {
  readonly limit: number
}

/** What a piece of work writes. */
export interface WorkWrites {
  readonly lane: Lane
  /** Messages that were taken, each with the end of its lease. */
  readonly leased: ReadonlyArray<{ readonly messageId: MessageId; readonly dueAt: Instant }>
}

/** The work that was done. */
export interface WorkResult {
  readonly phoneNumberId: PhoneNumberId
  /** The storage's time. */
  readonly at: Instant
  /** The time between two slots, in milliseconds. */
  readonly interval: number
  readonly claimed: ReadonlyArray<Claimed>
  /** Messages that were not sent in time. They take no slot. */
  readonly expired: ReadonlyArray<Queued>
}

/** Decides one piece of a number's work: hands out messages that are due. */
export const work: Decide<Work, LoadedWork, WorkResult, WorkWrites, Need> = (
  { due, lane, now: judged, number },
  [command]
) => {
  const { limit, limits, now: asked, roomOf } = command!
  const now = judged(asked)
  const { phoneNumberId } = lane
  const most = roomOf === undefined ? limit : Math.min(limit, roomOf(phoneNumberId))
  const { perSecond } = Limits.phoneNumberTier(limits, number === undefined ? null : PhoneNumber.tierOf(number))
  const slots = Pace.slots({ next: lane.nextSlot, rate: perSecond, share }, now)
  const room = Math.min(slots.count, most)
  if (room === 0) {
    const workAt = Math.max(slots.from, most === 0 ? now + Duration.toMillis(busyDelay) : slots.from)
    return {
      answers: [{ phoneNumberId, at: now, interval: slots.interval, claimed: [], expired: [] }],
      writes: { lane: { ...lane, workAt }, leased: [] }
    }
  }
  if (due === null) return { needs: [{ limit: room }] }
  const until = now + Duration.toMillis(lease)
  const taken = due.messages.slice(0, room)
  const expired = taken.filter(({ sendUntil }) => sendUntil <= now)
  const claimed = taken.filter(({ sendUntil }) => sendUntil > now)
    .map((queued, i) => ({ ...queued, slot: Pace.slotAt(slots, i) }))
  const isFull = taken.length === room
  const next = [...due.nextAt === null ? [] : [due.nextAt], ...taken.length === 0 ? [] : [until]]
  return {
    answers: [{ phoneNumberId, at: now, interval: slots.interval, claimed, expired }],
    writes: {
      lane: {
        ...lane,
        workAt: isFull ? now + Duration.toMillis(busyDelay) : next.length === 0 ? null : Math.min(...next),
        nextSlot: claimed.length === 0 ? lane.nextSlot : Pace.slotAt(slots, claimed.length)
      },
      leased: taken.map(({ message: { id } }) => ({ messageId: id, dueAt: until }))
    }
  }
}
