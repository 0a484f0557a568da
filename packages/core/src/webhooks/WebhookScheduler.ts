/**
 * The webhook road (contract §6): claims deliveries that are due and carries out an attempt at each.
 */
import { Cause, Clock, Duration, Effect, Exit, FiberSet, Latch, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Polling } from "../Polling.ts"
import type { UnreadableSecret } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import { DeliveryAttempt, lease } from "./DeliveryAttempt.ts"
import type { ClaimedName } from "./DeliveryStep.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"
import type { Standing } from "./Webhook.ts"

/**
 * Attempts in flight in one process, over all webhooks of a standing. Doubtful ones have places of their own, and more
 * of them, since each may be held for the whole of its deadline: however many receivers hang or are slow, healthy ones
 * do not wait.
 * With half as many healthy ones, claims and records are so small that PostgreSQL takes a tenth longer for each delivery.
 */
export const maxInFlight: { readonly [standing in Standing]: number } = { healthy: 512, doubtful: 768 }

/** How long the claimer sleeps at most: hints can be lost, and nobody tells of what is due later than this. */
export const pollEvery = Duration.seconds(1)

/**
 * A claim costs the database nearly as much for a few deliveries as for many. So where one has taken all the healthy
 * ones that there was place for, and more is due, the next comes when half of the places are free, or this much later.
 */
const gatherFor = Duration.millis(20)

/**
 * One doubtful attempt is begun in so many milliseconds on average, so many at once at most, and the clock alone has none claimed
 * before there are so many. Dead receivers' become due one by one, and hundreds at once when they are new: healthy ones
 * would wait for each claim and each start. Hanging ones, which hold their places for the whole deadline, cannot be
 * begun half as often anyway. Slow ones have their part in it: an event to one of them is claimed at once while fewer
 * begin, and a few milliseconds later where many of theirs have just ended together.
 */
const doubtfulEvery = 3
const doubtfulAtOnce = 4

/**
 * Runs as long as its scope; closing it gives the claims of attempts in flight back without counting them. Delivery
 * is at least once: a crash between the receiver's answer and its record makes another attempt.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* DeliveryStore
    const { attempt } = yield* DeliveryAttempt
    const random = yield* SecureRandom.SecureRandom
    const polling = yield* Polling
    const fork = yield* FiberSet.makeRuntime<never>()
    const free = { ...maxInFlight }
    /** Whether the last claim that asked for healthy ones took all that there was place for. */
    let isFull = false
    const isCramped = () => isFull && free.healthy < maxInFlight.healthy / 2
    const room = yield* Latch.make()
    /** When as many doubtful ones as ever may be begun at once. */
    let doubtfulFrom = 0
    const place = yield* Latch.make()

    const gather = Effect.suspend(() => {
      if (!isCramped()) return Effect.void
      Latch.closeUnsafe(room)
      return Effect.timeoutOrElse(Latch.await(room), { duration: gatherFor, orElse: () => Effect.void })
    })

    const isOut = () => free.healthy === 0 || free.doubtful === 0
    const hintOrPlace = Effect.raceFirst(store.awaitHint, Latch.await(place))

    /** Until a hint or, for whom a standing had no place left, until there is some, but not for longer. */
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
      // our own fault must not cost the receiver an attempt: the lease's end makes the delivery due again, which is
      // also how often one is looked at whose secret does not open; the vault has told of it
      const told = Option.exists(Cause.findErrorOption(cause), (error) => error._tag === "UnreadableSecret")
      return told ? Effect.void : Effect.logError(`attempt at ${delivery.id} was not recorded`, cause)
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
      // whatever the clock does
      doubtfulFrom = Math.min(Math.max(doubtfulFrom, now), now + doubtfulAtOnce * doubtfulEvery)
      const allowed = Math.floor(doubtfulAtOnce - (doubtfulFrom - now) / doubtfulEvery)
      const limit = { healthy: free.healthy, doubtful: Math.min(free.doubtful, allowed) }
      const untilPoll = Duration.toMillis(pollEvery)
      const untilDoubtful = () => free.doubtful === 0 ? untilPoll : doubtfulFrom - now
      if (limit.healthy + limit.doubtful === 0) return yield* rest(untilDoubtful(), wasOut)
      // one a claim, so that an attempt that outlived its lease cannot speak for the next one
      const token = yield* random.uuidV4({})
      const taken = { healthy: 0, doubtful: 0 }
      // whole, also while it stops: what is claimed and under way nowhere would wait for its lease's end
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
      // all were asked for, so nothing is due before the next look at all
      const isIdle = limit.healthy > 0 && taken.doubtful < limit.doubtful && !wasOut && !isOut()
      if (isIdle && (nextDueAt === null || nextDueAt - now >= untilPoll)) {
        const due = nextDueAt === null ? Effect.never : Effect.sleep(nextDueAt - now)
        return yield* Effect.raceAllFirst([store.awaitHint, due, polling.rest("deliveries", pollEvery)])
      }
      const isDoubtfulLeft = taken.doubtful === limit.doubtful
      // what is due already has been left for others' turns, or by the doubtful ones' allowance
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
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logWarning("claiming deliveries failed; it is tried again", cause),
          Effect.sleep(pollEvery)
        )
      ),
      Effect.forever,
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(DeliveryAttempt.layer))
