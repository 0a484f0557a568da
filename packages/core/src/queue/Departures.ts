/**
 * Sends the queued messages that a process has taken, each at its slot, and passes the results to the runner that took
 * them, which records them (contract §11 and §15). Calls `QueuedMessages`.
 */
import { type Cause, Clock, Deferred, Duration, Effect, Fiber, FiberSet, Scope, Semaphore } from "effect"
import * as Elapsed from "../Elapsed.ts"
import type { PhoneNumberId } from "../Id.ts"
import type { Queue } from "../messages/MessageStore.ts"
import { Stopping } from "../Stopping.ts"
import * as StorageTime from "../StorageTime.ts"
import { orUnavailable, type StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as WholePieces from "../WholePieces.ts"
import * as Pace from "./Pace.ts"
import { type QueuedEnd, type QueuedMessage, QueuedMessages } from "./QueuedMessages.ts"
import * as SharedPlaces from "./SharedPlaces.ts"

/**
 * The maximum number of messages that a runner has taken and whose tries have not ended. It takes no more meanwhile.
 */
const maxTaken = 2_000

/**
 * The maximum number of a sender's messages among them, so that a provider that is slow for some leaves room for
 * others. The highest tier has 400 within the horizon of its slots (`Pace.horizon`).
 */
const maxTakenOfNumber = maxTaken / 4

/**
 * The maximum number of a queue's sends in flight. More would take the provider's connections from requests while the
 * process is overloaded, and leave more outcomes unknown when it dies.
 */
const maxInFlight = 320

/**
 * The maximum number of a sender's sends among them, so that a provider that does not answer for some leaves places for
 * others. With answers of half a second one process alone keeps half of the highest tier.
 */
const maxInFlightOfNumber = 256

/** A message that this process took. */
export interface Departing<Of extends Queue> extends QueuedMessage<Of> {
  /** When it is to be sent, by the storage's clock. */
  readonly slot: Instant
}

/** The pace at which messages leave that are late for their slots, one after another. */
export interface Lane {
  /** Messages with the same lane id share the pace. */
  readonly id: string
  /** The time between two slots, in milliseconds. */
  readonly interval: number
}

/**
 * The time between two messages of a late lane, as a part of its interval: a bit faster, so that it is on time again.
 */
const catchingUp = 0.98

/** The messages that one runner of a process has taken. */
export interface Departures {
  /** Whether the runner may take more messages. */
  readonly hasRoom: () => boolean
  /** How many more messages of a sender the runner may take. */
  readonly roomOf: (phoneNumberId: PhoneNumberId) => number
  /** Compares the clocks: the storage was asked at `asked`, by this process's clock, and has just returned `at`. */
  readonly measure: (asked: Instant, at: Instant) => Effect.Effect<void>
  /** How far this process's clock is ahead of the storage's, in milliseconds. */
  readonly ahead: () => number
  /**
   * Sends messages in the background, each at its slot, and calls `record` with the result and the time at which the
   * try began. If `record` fails, the message's lease ends, and another try finds out what came of it.
   *
   * A message whose `sendUntil` has passed meanwhile is not sent: its end is `TooLate`.
   *
   * When the departures end, messages whose tries have not begun are given back to their queue, with the end `TooLate`.
   * Tries that have begun end and are recorded before, up to the time that is left of the shutdown (`Stopping`).
   *
   * A message whose try has not begun when its lease is over is left to other processes: it is not sent and has no end.
   * The lease is counted from `takenAt`, the monotonic time (`Elapsed`) just before the storage was asked for messages.
   *
   * A message that is late for its slot leaves at the pace of its lane; without a lane it is not sent but waits for
   * another slot (`Pace.isMissed`). Either way, those that are late are not sent all at once.
   */
  readonly leave: <Of extends Queue, Taken extends Departing<Of>>(
    taken: ReadonlyArray<Taken>,
    takenAt: number,
    lane: Lane | null,
    record: (taken: Taken, ended: QueuedEnd<Of>, begunAt: Instant) => Effect.Effect<void, StoreError>
  ) => Effect.Effect<void>
}

/** Makes the function that paces lanes. It forgets a lane that has nothing to send and whose pace allows a message. */
const makeTurns = () => {
  const lanes = new Map<string, { readonly gate: Semaphore.Semaphore; freeAt: number; waiting: number }>()
  const laneOf = (id: string, now: number) => {
    for (const [id, { freeAt, waiting }] of lanes) if (waiting === 0 && freeAt <= now) lanes.delete(id)
    const lane = lanes.get(id) ?? { gate: Semaphore.makeUnsafe(1), freeAt: now, waiting: 0 }
    lanes.set(id, lane)
    return lane
  }
  /** Waits until `count` messages of a lane may leave, after the messages for which it was called before. */
  return ({ id, interval }: Lane, count: number) =>
    Effect.flatMap(Elapsed.now, (now) => {
      const lane = laneOf(id, now)
      lane.waiting++
      return Effect.gen(function*() {
        const wait = lane.freeAt - (yield* Elapsed.now)
        if (wait > 0) yield* Effect.sleep(Duration.millis(wait))
        // counted from the actual departure, so that a late wake-up does not bunch messages
        lane.freeAt = (yield* Elapsed.now) + count * interval * catchingUp
      }).pipe(
        lane.gate.withPermit,
        Effect.ensuring(Effect.sync(() => {
          lane.waiting--
        }))
      )
    })
}

/** Makes the departures. They work as long as the scope is open. A message that was taken is theirs for `lease`. */
export const make = Effect.fnUntraced(function*(lease: Duration.Duration) {
  const messages = yield* QueuedMessages
  const clock = yield* Clock.Clock
  /** How long a message is surely this process's: recording something about it takes a moment. */
  const safeLease = Duration.toMillis(Duration.subtract(lease, WholePieces.patience))
  /** How to give back each message that was taken and whose try has not begun: another process can send it at once. */
  const untried = new Map<QueuedMessage<Queue>, Effect.Effect<void>>()
  let hasEnded = false
  const giveBack = Effect.suspend(() => {
    const all = [...untried.values()]
    untried.clear()
    return Effect.forEach(all, (each) => each, { concurrency: "unbounded", discard: true })
  })
  const stopping = yield* Stopping
  /** Messages that wait for their tries. */
  const leaving = yield* FiberSet.make()
  /** Tries that have begun, each until its result is recorded. */
  const tries = yield* FiberSet.make()
  const triesEnd = Effect.flatMap(
    stopping.left,
    (left) => Effect.timeoutOption(FiberSet.awaitEmpty(tries), left)
  )
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      hasEnded = true
      return Effect.andThen(
        FiberSet.clear(leaving),
        Effect.all([Effect.timeoutOption(giveBack, WholePieces.patience), triesEnd], { concurrency: "unbounded" })
      )
    })
  )
  const occupy = SharedPlaces.make(maxInFlight, maxInFlightOfNumber)
  const turn = makeTurns()
  let taken = 0
  const takenOf = new Map<PhoneNumberId, number>()
  let ahead: number | undefined

  /**
   * Tries to send a message, unless it is too late. Returns when the provider has answered, with the effect that waits
   * until the result is recorded.
   */
  const attempt = Effect.fnUntraced(function*<Of extends Queue>(
    queued: QueuedMessage<Of>,
    isOurs: () => boolean,
    isMissed: Effect.Effect<boolean>,
    tooLate: Effect.Effect<void>,
    record: (ended: QueuedEnd<Of>, begunAt: Instant) => Effect.Effect<void>
  ): Effect.fn.Return<Effect.Effect<unknown>> {
    // it may have waited for its lane and its place, or in a process that was suspended
    if (!isOurs()) {
      untried.delete(queued)
      return Effect.void
    }
    const begunAt = yield* Clock.currentTimeMillis
    if (begunAt - (ahead ?? 0) >= (queued.sendUntil ?? Infinity) || (yield* isMissed)) {
      return Effect.andThen(tooLate, Effect.sync(() => untried.delete(queued)))
    }
    const answered = yield* Deferred.make<void>()
    const sent = Effect.suspend(() =>
      // it may be sent from now on, unless it was given back meanwhile
      untried.delete(queued)
        // asked again after the claim only on the first try, so that slow storage delays messages but never stops them
        ? messages.send(queued, queued.message.status === "queued" ? isMissed : Effect.succeed(false))
        : Effect.interrupt
    ).pipe(
      Effect.ensuring(Deferred.succeed(answered, undefined)),
      Effect.flatMap((ended) => record(ended, begunAt))
    )
    const begun = yield* FiberSet.run(tries, sent)
    yield* Deferred.await(answered)
    return Fiber.await(begun)
  })

  const count = ({ message: { phoneNumberId } }: Departing<Queue>, by: 1 | -1): void => {
    taken += by
    const left = (takenOf.get(phoneNumberId) ?? 0) + by
    if (left === 0) takenOf.delete(phoneNumberId)
    else takenOf.set(phoneNumberId, left)
  }

  const leave: Departures["leave"] = (all, takenAt, lane, record) => {
    const recorded = (one: typeof all[number], ended: Parameters<typeof record>[1], begunAt: Instant) =>
      orUnavailable(record(one, ended, begunAt))
    const logged = Effect.catchCause((cause: Cause.Cause<unknown>) =>
      Effect.logDebug("the outcome of a queued message is not recorded yet", cause)
    )
    // later, another process may have taken them again, and knows better what came of them and when to try again
    const areOurs = () => Elapsed.of(clock) - takenAt < safeLease
    const tooLate = (one: typeof all[number]) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => areOurs() ? logged(recorded(one, { _tag: "TooLate" }, now)) : Effect.void
      )
    for (const one of all) {
      count(one, 1)
      untried.set(one, tooLate(one))
    }
    if (hasEnded) return giveBack
    return Effect.forEach(
      Map.groupBy(all, ({ slot }) => Pace.departure(slot)),
      ([departure, group]) => {
        const at = departure + (ahead ?? 0)
        const depart = Effect.flatMap(
          Clock.currentTimeMillis,
          (now) => Effect.sleep(Duration.millis(Math.max(0, at - now)))
        )
        const isMissed = lane === null
          ? Effect.map(Clock.currentTimeMillis, (now) => Pace.isMissed(at, now))
          : Effect.succeed(false)
        const send = (one: typeof group[number]) =>
          attempt(one, areOurs, isMissed, tooLate(one), (ended, begunAt) => logged(recorded(one, ended, begunAt))).pipe(
            occupy(one.message.phoneNumberId),
            Effect.flatten,
            Effect.ensuring(Effect.sync(() => count(one, -1)))
          )
        return FiberSet.run(
          leaving,
          depart.pipe(
            Effect.andThen(lane === null ? Effect.void : turn(lane, group.length)),
            Effect.andThen(Effect.forEach(group, send, { concurrency: "unbounded", discard: true }))
          )
        )
      },
      { discard: true }
    )
  }

  return {
    hasRoom: () => taken < maxTaken,
    roomOf: (phoneNumberId) => Math.max(0, maxTakenOfNumber - (takenOf.get(phoneNumberId) ?? 0)),
    measure: (asked, at) =>
      Effect.map(Clock.currentTimeMillis, (answered) => {
        ahead = StorageTime.aheadAfter(ahead, { asked, at, answered })
      }),
    ahead: () => ahead ?? 0,
    leave
  } satisfies Departures
})

/**
 * Makes the departures of one runner, and the function that carries out the pieces of work that take its messages.
 * Closing the scope waits for both at the same time: one after the other could take longer than a shutdown may. A piece
 * that takes messages meanwhile gives them back.
 */
export const ofRunner = Effect.fnUntraced(function*(lease: Duration.Duration) {
  const both = yield* Effect.flatMap(Effect.scope, (runner) => Scope.fork(runner, "parallel"))
  const own = <A, R>(made: Effect.Effect<A, never, R>) =>
    Effect.flatMap(Scope.fork(both, "sequential"), (scope) => Scope.provide(made, scope))
  return { whole: yield* own(WholePieces.make), departures: yield* own(make(lease)) }
})
