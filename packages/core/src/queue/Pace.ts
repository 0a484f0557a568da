/**
 * The pace of queued messages, of a campaign (contract §11) or of a number (contract §15): they get slots at equal
 * distances, so that no second holds more than the share. A late poll, or a message that is late for its slot, delays
 * messages instead of bunching them. Pure.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** How far ahead slots are handed out. Longer than the time between two polls, so that no slot is missed. */
export const horizon = Duration.millis(500)

/** Messages leave in groups, at multiples of this many milliseconds, since storage steps for a group cost less. */
const together = Duration.toMillis(Duration.millis(25))

/**
 * How late a message may leave, and how late the provider may be called for it. The calls of a second then have slots
 * within less than 1.07 seconds. So there are less than 10 % more than the share, even if their way to the provider
 * takes longer now and then.
 */
const tolerance = Duration.toMillis(Duration.millis(40))

/** Slots from an instant on, at equal distances in milliseconds. */
export interface Slots {
  readonly from: Instant
  readonly interval: number
  /** The number of slots until the horizon. */
  readonly count: number
}

/**
 * The slots that may be handed out now. `rate` is in messages per second, of which the queue may use `share`. `next` is
 * the first free slot. Slots before `now` are lost, since catching up would exceed the share.
 */
export const slots = (
  { next, rate, share }: { readonly next: Instant; readonly rate: number; readonly share: number },
  now: Instant
): Slots => {
  const interval = 1000 / (rate * share)
  const end = now + Duration.toMillis(horizon)
  // a slot that is further ahead was handed out before the clock was set back
  const from = Math.max(now, Math.min(next, end + interval))
  return { from, interval, count: from >= end ? 0 : Math.ceil((end - from) / interval) }
}

/** The time of the `n`th slot, counted from zero. */
export const slotAt = ({ from, interval }: Slots, n: number): Instant => from + n * interval

/** When the message of a slot leaves. */
export const departure = (slot: Instant): Instant => Math.ceil(slot / together) * together

/** Whether it is too late to send a message that was to leave at `departure`, as when a process is overloaded. */
export const isMissed = (departure: Instant, now: Instant): boolean => now - departure > tolerance
