/**
 * Determines from a request to send later when its message may be sent, and until when it is tried (contract §15).
 * Pure.
 */
import { Duration, Result } from "effect"
import { InvalidBody } from "../Errors.ts"
import type * as Time from "../Time.ts"

/** How far ahead a message may be queued, and how long it may be tried from then on. */
export const longest = Duration.days(90)

/** How long a message is tried from its `sendAt` on, if its caller sets no `sendUntil`. */
export const standardTrial = Duration.hours(24)

/** The times in a request to send later. */
export interface RequestedTimes {
  /** The message is not sent before this time. A time in the past means now. */
  readonly sendAt?: Time.Instant
  /** The message is not tried any more from this time on; {@link standardTrial} after `sendAt` if omitted. */
  readonly sendUntil?: Time.Instant
}

/** The times of a queued message. */
export interface SendTimes {
  readonly sendAt: Time.Instant
  /** Later than `sendAt`. */
  readonly sendUntil: Time.Instant
}

const invalid = (param: string, message: string) =>
  Result.fail(new InvalidBody({ reason: "invalid_field", param, message: `${param} ${message}` }))

/** The times of a message that is queued at `now`, by the storage's clock. */
export const of = (asked: RequestedTimes, now: Time.Instant): Result.Result<SendTimes, InvalidBody> => {
  const limit = Duration.toMillis(longest)
  const sendAt = Math.max(asked.sendAt ?? now, now)
  const sendUntil = asked.sendUntil ?? sendAt + Duration.toMillis(standardTrial)
  if (sendAt > now + limit) return invalid("send_at", `must be at most ${Duration.toDays(longest)} days ahead`)
  if (sendUntil <= sendAt) {
    return invalid(
      "send_until",
      `must be after ${asked.sendAt === undefined || asked.sendAt < now ? "now" : "send_at"}`
    )
  }
  return sendUntil > sendAt + limit
    ? invalid("send_until", `must be at most ${Duration.toDays(longest)} days after send_at`)
    : Result.succeed({ sendAt, sendUntil })
}
