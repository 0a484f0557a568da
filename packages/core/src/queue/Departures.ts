/**
 * Sends the queued messages that a process took, each at its slot, and has their outcomes recorded (contract §11 and
 * §15). Calls `QueuedMessages`.
 */
import { Clock, Duration, Effect, FiberSet, Semaphore } from "effect"
import type { Queue } from "../messages/MessageStore.ts"
import * as StorageTime from "../StorageTime.ts"
import { orUnavailable, type StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as Pace from "./Pace.ts"
import { type QueuedEnd, type QueuedMessage, QueuedMessages } from "./QueuedMessages.ts"

/** The maximum number of messages that a process has taken and not ended. Beyond, other processes take them. */
const maxTaken = 2_000

/**
 * The maximum number of a queue's sends in flight. With answers of half a second one process alone keeps half of the
 * highest tier. More would take the provider's connections from requests while the process is overloaded, and leave
 * more outcomes unknown when it dies.
 */
const maxInFlight = 256

/** A message that this process took. */
export interface Departing<Of extends Queue> extends QueuedMessage<Of> {
  /** When it is to be sent, by the storage's clock. */
  readonly slot: Instant
}

/** The messages that one runner of a process has taken. */
export interface Departures {
  /** Whether it may take more. */
  readonly hasRoom: () => boolean
  /** Compares the clocks by a time that the storage has just answered with. */
  readonly measure: (asked: Instant, at: Instant) => Effect.Effect<void>
  /** How far this process's clock is ahead of the storage's, in milliseconds. */
  readonly ahead: () => number
  /**
   * Sends messages in the background, each at its slot unless that has passed by then, and calls `record` with the
   * result and the time at which the try began. If `record` fails, the message's lease ends, and another try finds out what came of it.
   */
  readonly leave: <Of extends Queue, Taken extends Departing<Of>>(
    taken: ReadonlyArray<Taken>,
    record: (taken: Taken, ended: QueuedEnd<Of>, begunAt: Instant) => Effect.Effect<void, StoreError>
  ) => Effect.Effect<void>
}

/**
 * For one runner, as long as its scope is open. With a strict pace, a message that is late for its slot is not sent but
 * waits for another one (`Pace.isMissed`), so that late ones are not sent all at once; otherwise it is sent late.
 */
export const make = Effect.fnUntraced(function*({ isStrict }: { readonly isStrict: boolean }) {
  const messages = yield* QueuedMessages
  const leaving = yield* FiberSet.make()
  const places = yield* Semaphore.make(maxInFlight)
  let taken = 0
  let ahead: number | undefined

  const attempt = Effect.fnUntraced(function*<Of extends Queue>(
    queued: QueuedMessage<Of>,
    at: Instant
  ): Effect.fn.Return<QueuedEnd<Of>> {
    const isMissed = Effect.map(Clock.currentTimeMillis, (now) => isStrict && Pace.isMissed(at, now))
    if (yield* isMissed) return { _tag: "TooLate" }
    // only once, so that a storage that is always slow delays messages, and does not hold them back
    return yield* messages.send(
      queued,
      isStrict && queued.message.status === "queued" ? isMissed : Effect.succeed(false)
    )
  })

  const leave: Departures["leave"] = (all, record) => {
    taken += all.length
    return Effect.forEach(
      Map.groupBy(all, ({ slot }) => Pace.departure(slot)),
      ([departure, group]) => {
        const at = departure + (ahead ?? 0)
        const depart = Effect.flatMap(
          Clock.currentTimeMillis,
          (now) => Effect.sleep(Duration.millis(Math.max(0, at - now)))
        )
        const send = (one: typeof group[number]) =>
          places.withPermit(Effect.all([Clock.currentTimeMillis, attempt(one, at)])).pipe(
            Effect.flatMap(([begunAt, ended]) => orUnavailable(record(one, ended, begunAt))),
            Effect.catchCause((cause) => Effect.logDebug("the outcome of a queued message is not recorded yet", cause)),
            Effect.ensuring(Effect.sync(() => {
              taken--
            }))
          )
        return FiberSet.run(
          leaving,
          Effect.andThen(depart, Effect.forEach(group, send, { concurrency: "unbounded", discard: true }))
        )
      },
      { discard: true }
    )
  }

  return {
    hasRoom: () => taken < maxTaken,
    measure: (asked, at) =>
      Effect.map(Clock.currentTimeMillis, (answered) => {
        ahead = StorageTime.aheadAfter(ahead, { asked, at, answered })
      }),
    ahead: () => ahead ?? 0,
    leave
  } satisfies Departures
})
