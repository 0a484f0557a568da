/**
 * The webhook road (contract §6): claims deliveries that are due and carries out an attempt at each.
 */
import { Clock, Duration, Effect, FiberSet, Latch, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { DeliveryAttempt, lease } from "./DeliveryAttempt.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"
import type { Standing } from "./Webhook.ts"

/**
 * Attempts in flight in one process, over all webhooks of a standing. Doubtful ones have places of their own, and more
 * of them, since each may be held for the whole of its deadline: however many receivers hang, healthy ones do not wait.
 */
export const maxInFlight: { readonly [standing in Standing]: number } = { healthy: 256, doubtful: 768 }

const standings = ["healthy", "doubtful"] as const

/** How long the claimer sleeps at most: hints can be lost. */
const pollEvery = Duration.seconds(1)

/**
 * A claim costs the database nearly as much for a few deliveries as for many. So where one has taken all there was place
 * for, and more is due, the next comes when half of the places are free, or this much later.
 */
const gatherFor = Duration.millis(20)

/**
 * Runs as long as its scope; closing it gives the claims of attempts in flight back without counting them. Delivery
 * is at least once: a crash between the receiver's answer and its record makes another attempt.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* DeliveryStore
    const { attempt } = yield* DeliveryAttempt
    const random = yield* SecureRandom.SecureRandom
    const attempts = yield* FiberSet.make()
    const free = { ...maxInFlight }
    /** Whether the last claim that asked for deliveries of a standing took all that there was place for. */
    const isFull = { healthy: false, doubtful: false }
    const isCramped = () => standings.some((standing) => isFull[standing] && free[standing] < maxInFlight[standing] / 2)
    const room = yield* Latch.make()

    const gather = Effect.suspend(() => {
      if (!isCramped()) return Effect.void
      Latch.closeUnsafe(room)
      return Effect.timeoutOrElse(Latch.await(room), { duration: gatherFor, orElse: () => Effect.void })
    })

    const carryOut = (claimed: ClaimedDelivery, token: string) =>
      attempt(claimed, token).pipe(
        Effect.onInterrupt(() => Effect.ignore(store.release(token, [claimed.delivery.id]))),
        // our own fault must not cost the receiver an attempt: the lease's end makes the delivery due again, which is
        // also how often one is looked at whose secret does not open; the vault has told of it
        Effect.catchTag("UnreadableSecret", () => Effect.void),
        Effect.catchCause((cause) => Effect.logError(`attempt at ${claimed.delivery.id} was not recorded`, cause)),
        Effect.ensuring(Effect.sync(() => {
          free[claimed.standing]++
          if (!isCramped()) Latch.openUnsafe(room)
        }))
      )

    const claim = Effect.gen(function*() {
      yield* gather
      const now = yield* Clock.currentTimeMillis
      const limit = { ...free }
      if (limit.healthy + limit.doubtful === 0) return yield* store.awaitHint
      // one a claim, so that an attempt that outlived its lease cannot speak for the next one
      const token = yield* random.uuidV4({})
      const taken = { healthy: 0, doubtful: 0 }
      // whole, also while it stops: what is claimed and under way nowhere would wait for its lease's end
      const claimed = yield* store.claimDue({ now, limit, token, leaseUntil: now + Duration.toMillis(lease) }).pipe(
        Effect.tap(({ deliveries }) =>
          Effect.forEach(deliveries, (one) => {
            taken[one.standing]++
            free[one.standing]--
            return FiberSet.run(attempts, carryOut(one, token))
          }, { discard: true })
        ),
        Effect.uninterruptible
      )
      let mayBeMore = false
      for (const standing of standings) {
        if (limit[standing] === 0) continue
        isFull[standing] = taken[standing] === limit[standing]
        mayBeMore ||= isFull[standing]
      }
      if (mayBeMore) return
      const untilDue = claimed.nextDueAt === null ? Infinity : Math.max(0, claimed.nextDueAt - now)
      yield* Effect.timeoutOrElse(store.awaitHint, {
        duration: Math.min(untilDue, Duration.toMillis(pollEvery)),
        orElse: () => Effect.void
      })
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
