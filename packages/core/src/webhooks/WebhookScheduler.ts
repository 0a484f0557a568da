/**
 * The background task that delivers webhooks (contract §6): it claims due deliveries and carries out an attempt at
 * each.
 */
import { Cause, Clock, Duration, Effect, Exit, FiberSet, Latch, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Polling } from "../Polling.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import type { UnreadableSecret } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import { DeliveryAttempt, lease } from "./DeliveryAttempt.ts"
import type { ClaimedName } from "./DeliveryStep.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"
import type { Standing } from "./WebhookHealth.ts"

/**
 * The maximum number of attempts in flight in one process, by standing. Doubtful webhooks have slots of their own, and
 * more of them, since each may be held for the whole deadline. So healthy webhooks do not wait, however many receivers
 * hang or are slow. With half as many healthy slots, claims and records are so small that PostgreSQL takes a tenth
 * longer per delivery.
 */
export const maxInFlight: { readonly [standing in Standing]: number } = { healthy: 512, doubtful: 768 }

/**
 * The longest sleep between claims: hints can be lost, and nothing announces deliveries that other processes schedule.
 */
export const pollEvery = Duration.seconds(1)

/**
 * A claim costs the database nearly as much for a few deliveries as for many. So after a claim that filled all healthy
 * slots while more is due, the next one comes when half of the slots are free, or this much later.
 */
const gatherFor = Duration.millis(20)

/**
 * The pace of doubtful attempts: on average one begins every `doubtfulEvery` milliseconds, at most `doubtfulAtOnce` at
 * once. Polls by the clock wait until that many are allowed. Without a pace, healthy deliveries would wait for the
 * claims and starts of dead receivers, whose deliveries become due one by one, or by hundreds if they are new. Hanging
 * receivers hold their slots for the whole deadline and cannot start half as often anyway. Slow receivers share the
 * pace: their events are claimed immediately while few begin, and a few milliseconds later if many of their attempts
 * have just ended together.
 */
const doubtfulEvery = 3
const doubtfulAtOnce = 4

/**
 * Runs as long as its scope. Closing the scope releases the claims of attempts in flight without counting them.
 * Delivery is at least once: a crash between the receiver's response and its record causes another attempt.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* DeliveryStore
    const { attempt } = yield* DeliveryAttempt
    const random = yield* SecureRandom.SecureRandom
    const polling = yield* Polling
    const fork = yield* FiberSet.makeRuntime<never>()
    const free = { ...maxInFlight }
    const unrecorded = RepeatedFailure.make("Error")
    /** Whether the last claim for healthy deliveries filled all slots. */
    let isFull = false
    const isCramped = () => isFull && free.healthy < maxInFlight.healthy / 2
    const room = yield* Latch.make()
    /** When the full burst of doubtful attempts is allowed again. */
    let doubtfulFrom = 0
    const place = yield* Latch.make()

    const gather = Effect.suspend(() => {
      if (!isCramped()) return Effect.void
      Latch.closeUnsafe(room)
      return Effect.timeoutOrElse(Latch.await(room), { duration: gatherFor, orElse: () => Effect.void })
    })

    const isOut = () => free.healthy === 0 || free.doubtful === 0
    const hintOrPlace = Effect.raceFirst(store.awaitHint, Latch.await(place))

    /** Sleeps until a hint, or until a slot is free if a standing had none, for at most `milliseconds`. */
    const rest = (milliseconds: number, wasOut: boolean) =>
      Effect.timeoutOrElse(wasOut || isOut() ? hintOrPlace : store.awaitHint, {
        duration: milliseconds,
        orElse: () => Effect.void
      })

    const vacate = (standing: Standing) => {
      if (free[standing]++ === 0) Latch.openUnsafe(place)
      if (!isCramped()) Latch.openUnsafe(room)
    }

    const afterFailure = (delivery: ClaimedName, token: string, cause: Cause.Cause<StoreError | UnreadableSecret>) => {
      if (Cause.hasInterrupts(cause)) return Effect.ignore(store.release(token, [delivery]))
      // a fault of ours must not cost the receiver an attempt: the delivery is due again when the lease ends, which
      // also limits how often a delivery whose secret cannot be opened is tried. The vault has logged that
      const isLogged = Option.exists(Cause.findErrorOption(cause), (error) => error._tag === "UnreadableSecret")
      return isLogged
        ? Effect.void
        : unrecorded("attempt", `the attempt at ${delivery.id} could not be recorded`, cause)
    }

    const carryOut = (claimed: ClaimedDelivery, token: string) => {
      const leave = () => vacate(claimed.standing)
      return Effect.onExit(attempt(claimed, token), (exit) =>
        Exit.isFailure(exit)
          ? Effect.ensuring(afterFailure(claimed.delivery, token, exit.cause), Effect.sync(leave))
          : Effect.sync(leave))
    }

    const claim = Effect.gen(function*() {
      yield* gather
      Latch.closeUnsafe(place)
      const wasOut = isOut()
      const now = yield* Clock.currentTimeMillis
      // bounded, so that a clock set back delays nothing
      doubtfulFrom = Math.min(Math.max(doubtfulFrom, now), now + doubtfulAtOnce * doubtfulEvery)
      const allowed = Math.floor(doubtfulAtOnce - (doubtfulFrom - now) / doubtfulEvery)
      const limit = { healthy: free.healthy, doubtful: Math.min(free.doubtful, allowed) }
      const untilPoll = Duration.toMillis(pollEvery)
      const untilDoubtful = () => free.doubtful === 0 ? untilPoll : doubtfulFrom - now
      if (limit.healthy + limit.doubtful === 0) return yield* rest(untilDoubtful(), wasOut)
      // one token for each claim, so that an attempt that outlives its lease cannot complete a later claim
      const token = yield* random.uuidV4({})
      const taken = { healthy: 0, doubtful: 0 }
      // uninterruptible, even while stopping: a delivery that is claimed but not in flight would wait for its lease to
      // end
      const claimed = yield* store.claimDue({ now, limit, token, leaseUntil: now + Duration.toMillis(lease) }).pipe(
        Effect.tap(({ deliveries }) =>
          Effect.sync(() =>
            deliveries.forEach((one) => {
              taken[one.standing]++
              free[one.standing]--
              fork(carryOut(one, token))
            })
          )
        ),
        Effect.uninterruptible
      )
      if (limit.healthy > 0) isFull = taken.healthy === limit.healthy
      doubtfulFrom += taken.doubtful * doubtfulEvery
      if (limit.healthy > 0 && isFull) return
      // in this process's time
      const nextDueAt = claimed.nextDueAt === null ? null : claimed.nextDueAt - claimed.at + now
      // every standing was asked for, so nothing is due before the next poll
      const isIdle = limit.healthy > 0 && taken.doubtful < limit.doubtful && !wasOut && !isOut()
      if (isIdle && (nextDueAt === null || nextDueAt - now >= untilPoll)) {
        const due = nextDueAt === null ? Effect.never : Effect.sleep(nextDueAt - now)
        return yield* Effect.raceAllFirst([store.awaitHint, due, polling.rest("deliveries", pollEvery)])
      }
      const isDoubtfulLeft = taken.doubtful === limit.doubtful
      // an overdue delivery was left for another webhook's turn or by the pace of doubtful attempts
      const untilDue = nextDueAt === null
        ? untilPoll
        : nextDueAt > now
        ? Math.max(nextDueAt, doubtfulFrom) - now
        : isDoubtfulLeft
        ? untilDoubtful()
        : 0
      yield* rest(Math.min(untilDue, isDoubtfulLeft ? untilDoubtful() : untilPoll, untilPoll), wasOut)
    })

    yield* claim.pipe(
      RepeatedFailure.watch("claiming deliveries"),
      Effect.catchCause(() => Effect.sleep(pollEvery)),
      Effect.forever,
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(DeliveryAttempt.layer))
