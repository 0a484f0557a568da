/**
 * The webhook road (contract §6): claims deliveries that are due and carries out an attempt at each.
 */
import { Clock, Duration, Effect, FiberSet, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { DeliveryAttempt, lease } from "./DeliveryAttempt.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"

/** Attempts in flight in one process, over all webhooks. */
export const maxInFlight = 256

/** How long the claimer sleeps at most: hints can be lost. */
const pollEvery = Duration.seconds(1)

/**
 * Runs as long as its scope; closing it gives the claims of attempts in flight back without counting them. Delivery
 * is at least once: a crash between the receiver's answer and its record makes another attempt.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* DeliveryStore
    const { attempt } = yield* DeliveryAttempt
    const random = yield* SecureRandom.SecureRandom
    const inFlight = yield* FiberSet.make()

    const carryOut = (claimed: ClaimedDelivery, token: string) =>
      attempt(claimed, token).pipe(
        Effect.onInterrupt(() => Effect.ignore(store.release(token, [claimed.delivery.id]))),
        // our own fault must not cost the receiver an attempt: the lease's end makes the delivery due again, which is
        // also how often one is looked at whose secret does not open; the vault has told of it
        Effect.catchTag("UnreadableSecret", () => Effect.void),
        Effect.catchCause((cause) => Effect.logError(`attempt at ${claimed.delivery.id} was not recorded`, cause))
      )

    const claim = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const limit = maxInFlight - (yield* FiberSet.size(inFlight))
      if (limit <= 0) return yield* store.awaitHint
      // one a claim, so that an attempt that outlived its lease cannot speak for the next one
      const token = yield* random.uuidV4({})
      const claimed = yield* store.claimDue({ now, limit, token, leaseUntil: now + Duration.toMillis(lease) })
      yield* Effect.forEach(claimed.deliveries, (one) => FiberSet.run(inFlight, carryOut(one, token)), {
        discard: true
      })
      // a full batch may have left more that is due
      if (claimed.deliveries.length === limit) return
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
