/**
 * The webhook road (contract §6): claims deliveries that are due and carries out an attempt at each.
 */
import { Clock, Duration, Effect, FiberSet, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { DeliveryAttempt, lease } from "./DeliveryAttempt.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"
import type { Standing } from "./Webhook.ts"

/**
 * Attempts in flight in one process, over all webhooks of a standing. Doubtful ones have places of their own, and more
 * of them, since each may be held for the whole of its deadline: however many receivers hang, healthy ones do not wait.
 */
export const maxInFlight: { readonly [standing in Standing]: number } = { healthy: 256, doubtful: 768 }

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
    const inFlight = { healthy: yield* FiberSet.make(), doubtful: yield* FiberSet.make() }

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
      const free = (standing: Standing) =>
        Effect.map(FiberSet.size(inFlight[standing]), (size) => maxInFlight[standing] - size)
      const limit = { healthy: yield* free("healthy"), doubtful: yield* free("doubtful") }
      if (limit.healthy + limit.doubtful === 0) return yield* store.awaitHint
      // one a claim, so that an attempt that outlived its lease cannot speak for the next one
      const token = yield* random.uuidV4({})
      const claimed = yield* store.claimDue({ now, limit, token, leaseUntil: now + Duration.toMillis(lease) })
      const taken = { healthy: 0, doubtful: 0 }
      for (const one of claimed.deliveries) {
        taken[one.standing]++
        yield* FiberSet.run(inFlight[one.standing], carryOut(one, token))
      }
      // a full batch may have left more that is due
      const isFull = (standing: Standing) => limit[standing] > 0 && taken[standing] === limit[standing]
      if (isFull("healthy") || isFull("doubtful")) return
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
