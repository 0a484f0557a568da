/**
 * Handles the events of a durable subscription in this process (contract §16). Calls `SubscriptionStore`.
 */
import { Cause, Clock, Duration, Effect, Fiber, Latch, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Elapsed from "../Elapsed.ts"
import type { EventType } from "../events/Event.ts"
import type { EventId } from "../Id.ts"
import { Polling } from "../Polling.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import type { StoreError } from "../StoreError.ts"
import * as Subscription from "./Subscription.ts"
import type { Begun, Ended } from "./SubscriptionStep.ts"
import { SubscriptionStore } from "./SubscriptionStore.ts"

/** The longest wait before the storage is asked again, since events of other processes give no hint. */
const every = Duration.seconds(1)

/** The wait after the storage failed. */
const retryAfter = Duration.seconds(1)

/** The subscription that this process handles, and the handler. */
export interface Options extends Subscription.Key {
  readonly types: ReadonlyArray<EventType>
  /** How many events are handled at a time, from 1 to `Subscription.maxConcurrency`. */
  readonly concurrency: number
  /**
   * Handles an event, or fails with the reason. It is interrupted when another process may have taken over, and when
   * the scope closes.
   */
  readonly handle: (begun: Begun) => Effect.Effect<unknown, string>
  /** Hints of new events in this process: how often events were recorded, and a wait until that count changes. */
  readonly recorded: {
    readonly count: () => number
    readonly after: (count: number) => Effect.Effect<void>
  }
}

/** A running subscription. */
export interface Running {
  /**
   * Begins no more events, waits for the running handlers, records their ends and gives the claim back. A handler that
   * is interrupted meanwhile counts as a failed try, and its event is tried again later.
   */
  readonly stop: Effect.Effect<void>
}

/**
 * Creates a subscription, or changes its types. Once started, a new one handles the events recorded since this call.
 */
export const open = ({ name, types, workspaceId }: Pick<Options, "name" | "types" | "workspaceId">) =>
  Effect.gen(function*() {
    const store = yield* SubscriptionStore
    yield* store.open({ workspaceId, name, types, now: yield* Clock.currentTimeMillis })
  })

/**
 * Handles the events of a subscription in the background, until it is stopped or its scope is closed. Closing the scope
 * interrupts the running handlers. Several processes may run the same subscription; one of them at a time handles
 * events. {@link open} it first: this opens it only if it was removed, since another process may have changed its types
 * meanwhile.
 */
export const start = (options: Options) =>
  Effect.gen(function*() {
    const store = yield* SubscriptionStore
    const random = yield* SecureRandom.SecureRandom
    const { rest } = yield* Polling
    const { concurrency, handle, name, recorded, types, workspaceId } = options
    const key: Subscription.Key = { workspaceId, name }

    /** The fiber that handles each event. An event is removed when its handler has ended or is given up. */
    const handlers = new Map<EventId, { fiber: Fiber.Fiber<void> | undefined }>()
    let ended: Array<Ended> = []
    let isStopping = false
    /** Open when a handler has ended or the subscription is stopped. */
    const news = Latch.makeUnsafe(false)
    const scope = yield* Effect.scope

    const run = Effect.fnUntraced(function*(begun: Begun) {
      const { attempt, event: { id } } = begun
      const handler: { fiber: Fiber.Fiber<void> | undefined } = { fiber: undefined }
      handlers.set(id, handler)
      const end = (failure: string | null) => {
        if (handlers.get(id) !== handler) return
        handlers.delete(id)
        ended.push({ eventId: id, failure })
        Latch.openUnsafe(news)
      }
      // an event of another type was taken up before the types were reduced: it counts as handled
      handler.fiber = yield* (types.includes(begun.event.type) ? handle(begun) : Effect.void).pipe(
        Effect.matchCauseEffect({
          onSuccess: () => Effect.sync(() => end(null)),
          onFailure: (cause) => {
            // an interrupted handler reports no end, so the try counts as failed later
            if (Cause.hasInterruptsOnly(cause)) return Effect.void
            const failure = Option.getOrElse(Cause.findErrorOption(cause), () => String(Cause.squash(cause)))
            end(failure)
            return Effect.logWarning(`the subscription ${name} failed at ${id} (attempt ${attempt}): ${failure}`)
          }
        }),
        Effect.forkIn(scope)
      )
    })

    /** Interrupts all handlers, because another process may be handling their events. */
    const interrupt = (): void => {
      const fibers = [...handlers.values()]
      handlers.clear()
      // without waiting: a handler may ignore its signal
      for (const { fiber } of fibers) fiber?.interruptUnsafe()
    }

    /** Gives up all events, because the claim of this process has ended. */
    const giveUp = (): void => {
      interrupt()
      ended = []
    }

    /** The elapsed time from which the lease runs at least: the start of the last step that has succeeded. */
    let renewedAt = 0
    let isGuarded = false
    /**
     * While handlers run, interrupts them once the lease has ended, even if the storage has not answered by then. Ends
     * that are not reported yet are kept: the storage accepts them if no other process has taken over.
     */
    const guard = Effect.gen(function*() {
      while (handlers.size > 0) {
        const left = renewedAt + Duration.toMillis(Subscription.lease) - (yield* Elapsed.now)
        if (left > 0) {
          yield* Effect.sleep(left)
          continue
        }
        yield* Effect.logWarning(
          `the storage did not answer in time for the subscription ${name}: its handlers are aborted, since another ` +
            "process may handle their events"
        )
        interrupt()
      }
      isGuarded = false
    })

    const reopen = Effect.provideService(open(options), SubscriptionStore, store)
    let owner = yield* random.uuidV4()

    /** Reports ends and begins new events. Returns how long to wait before the next step, unless there is news. */
    const step: Effect.Effect<Duration.Duration, StoreError> = Effect.gen(function*() {
      const begunAt = yield* Elapsed.now
      const reported = ended
      ended = []
      Latch.closeUnsafe(news)
      const room = isStopping ? 0 : concurrency - handlers.size
      const worked = yield* store.work({
        ...key,
        types,
        owner,
        ended: reported,
        running: [...handlers.keys(), ...ended.map(({ eventId }) => eventId)],
        room,
        now: yield* Clock.currentTimeMillis,
        jitter: (yield* random.intBetween(0, 1_000_000)) / 1_000_000
      }).pipe(Effect.onError(() => Effect.sync(() => ended = [...reported, ...ended])))
      switch (worked._tag) {
        case "working":
          renewedAt = begunAt
          // after an answer as late as that, another process may have taken over: the next step tells
          if ((yield* Elapsed.now) - begunAt >= Duration.toMillis(Subscription.lease)) return Duration.zero
          yield* Effect.forEach(worked.begun, run, { discard: true })
          if (handlers.size > 0 && !isGuarded) {
            isGuarded = true
            yield* Effect.forkIn(guard, scope)
          }
          if (worked.isMore) return Duration.zero
          return worked.nextIn === null ? every : Duration.min(every, Duration.millis(worked.nextIn))
        case "lost":
          yield* Effect.logWarning(`the subscription ${name} was taken over by another process`)
          giveUp()
          owner = yield* random.uuidV4()
          return Duration.zero
        case "removed":
          giveUp()
          yield* reopen
          return Duration.zero
        case "held":
          return every
      }
    })

    const isDone = () => isStopping && handlers.size + ended.length === 0

    const watched = RepeatedFailure.watch(`work on the subscription ${name}`)
    const loop = Effect.gen(function*() {
      while (!isDone()) {
        const seen = recorded.count()
        const pause = yield* Effect.catchCause(watched(step), () => Effect.succeed(null))
        if (isDone()) break
        if (pause === null) {
          yield* Effect.sleep(retryAfter)
        } else if (Duration.isGreaterThan(pause, Duration.zero)) {
          const isFull = isStopping || handlers.size >= concurrency
          yield* Effect.raceAllFirst([
            Latch.await(news),
            ...isFull
              ? [Effect.sleep(Subscription.renewEvery)]
              : [recorded.after(seen), handlers.size > 0 ? Effect.sleep(pause) : rest("subscriptions", pause)]
          ])
        }
      }
    })

    const released = Effect.ignore(Effect.suspend(() => store.release(key, owner)))
    const fiber = yield* Effect.forkIn(Effect.ensuring(loop, released), scope)
    const running: Running = {
      stop: Effect.suspend(() => {
        isStopping = true
        Latch.openUnsafe(news)
        return Effect.asVoid(Fiber.await(fiber))
      })
    }
    return running
  })
