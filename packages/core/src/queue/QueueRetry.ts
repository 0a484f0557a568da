/**
 * Decides what happens after a try to a message that its caller queued (contract §15): whether it is tried again, and
 * when. Pure.
 */
import { Duration } from "effect"
import { type DomainError, retryAfterOf } from "../Errors.ts"
import { errorOf, type Message } from "../messages/Message.ts"
import * as SendBinding from "../messages/SendBinding.ts"
import type { Instant } from "../Time.ts"
import type { QueuedEnd } from "./QueuedMessages.ts"
import type { QueueEnd } from "./QueueEndStep.ts"
import type { Queued } from "./QueueWorkStep.ts"

/** The delays after the first tries. The last delay repeats. */
export const delays: readonly [Duration.Duration, ...ReadonlyArray<Duration.Duration>] = [
  Duration.seconds(5),
  Duration.seconds(15),
  Duration.minutes(1),
  Duration.minutes(5),
  Duration.minutes(15)
]

/** The delay before the next try, given how many tries came before the one that failed with this temporary error. */
export const delayOf = (tries: number, error: DomainError): Duration.Duration =>
  Duration.max(delays[Math.min(tries, delays.length - 1)]!, retryAfterOf(error) ?? Duration.zero)

/**
 * When a message is tried again whose number is blocked until this time: then, and meanwhile at the pace of the last
 * delay, because the block may be lifted before.
 */
export const afterBlock = (until: Instant) => ({ _tag: "Again", after: delays.at(-1)!, until }) as const

/**
 * Decides what happens to a queued message, given how often it was tried before; `null` if there is nothing to record.
 * After a temporary error it is tried again, and so it is because of a block of its number that ends in time; any other
 * refusal of ours fails it. One that was never tried keeps its place in the line of its number.
 */
export const after = (
  ended: QueuedEnd<{ readonly campaignId: null }>,
  { message, sendUntil, tries }: Pick<Queued, "tries" | "sendUntil"> & { readonly message: Pick<Message, "sendAt"> }
): QueueEnd | null => {
  const again = (error: DomainError): QueueEnd => ({
    _tag: "Again",
    after: delayOf(tries, error),
    until: sendUntil
  })
  switch (ended._tag) {
    case "Settled":
      return null
    case "Ended":
      return { _tag: "Done" }
    case "TooLate":
      return tries === 0 && message.sendAt !== null ? { _tag: "Missed", dueAt: message.sendAt } : { _tag: "Missed" }
    case "Busy":
      return { _tag: "Again", after: SendBinding.lease, until: sendUntil }
    case "NotSent":
      return again(ended.error)
    case "Refused":
      // a number that is busy with requests sends its queue later; that is no failure of the message
      if (ended.error._tag === "RateLimited" && ended.error.reason === "phone_number") {
        return { _tag: "Missed", after: ended.error.retryAfter }
      }
      // the provider itself would have it tried again, and failing would cost the number's whole queue
      if (ended.blockedUntil !== undefined && ended.blockedUntil < sendUntil) {
        return afterBlock(ended.blockedUntil)
      }
      return ended.error._tag === "RateLimited" || ended.error._tag === "ServerError"
        ? again(ended.error)
        : { _tag: "Failed", error: errorOf(ended.error) }
  }
}
