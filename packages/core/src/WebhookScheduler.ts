/**
 * The webhook road (contract §6): claims deliveries that are due, signs each attempt afresh, posts it with one
 * deadline and records how it ended.
 */
import { Clock, Duration, Effect, FiberSet, Layer, Random } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Attempt } from "./Delivery.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"
import * as Event from "./Event.ts"
import * as Id from "./Id.ts"
import * as Signature from "./Signature.ts"
import { Vault } from "./Vault.ts"
import { type WebhookAnswer, WebhookTransport } from "./WebhookTransport.ts"

/** Specification §8: name look-up, connection, request and answer together. */
export const attemptTimeout = Duration.seconds(5)

/** A claim's lease: the attempt's deadline, time to record it, and room for a pause of the process (contract §8). */
export const lease = Duration.seconds(15)

/** Attempts in flight in one process, over all webhooks. */
const maxInFlight = 256

/** How long the claimer sleeps at most: hints can be lost. */
const pollEvery = Duration.seconds(1)

const timedOut: WebhookAnswer = {
  outcome: "timeout",
  statusCode: null,
  message: `did not answer within ${Duration.toSeconds(attemptTimeout)} seconds`,
  response: null,
  retryAfter: null
}

/**
 * Runs as long as its scope; closing it gives the claims of attempts in flight back without counting them. Delivery
 * is at least once: a crash between the receiver's answer and its record makes another attempt.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* DeliveryStore
    const transport = yield* WebhookTransport
    const vault = yield* Vault
    const random = yield* SecureRandom.SecureRandom
    const inFlight = yield* FiberSet.make()

    const attempt = Effect.fn("WebhookScheduler.attempt")(
      function*({ delivery, event, secrets, url }: ClaimedDelivery, token: string) {
        const body = Event.body(event, delivery.envelope)
        const startedAt = yield* Clock.currentTimeMillis
        const opened = yield* Effect.orDie(
          Effect.forEach(secrets, ({ sealed }) => vault.open(sealed, delivery.webhookId))
        )
        const headers = yield* Signature.deliveryHeaders({ eventId: event.id, body, secrets: opened, now: startedAt })
        const answer = yield* transport.post({ url, headers, body }).pipe(
          Effect.timeoutOrElse({ duration: attemptTimeout, orElse: () => Effect.succeed(timedOut) })
        )
        const endedAt = yield* Clock.currentTimeMillis
        const ended: Attempt = {
          ...answer,
          id: yield* Id.generate(random, "att"),
          number: delivery.attemptCount + 1,
          trigger: delivery.trigger,
          startedAt,
          durationMs: endedAt - startedAt
        }
        return yield* store.complete({
          now: endedAt,
          deliveryId: delivery.id,
          token,
          attempt: ended,
          jitter: yield* Random.next
        })
      }
    )

    const carryOut = (claimed: ClaimedDelivery, token: string) =>
      attempt(claimed, token).pipe(
        Effect.onInterrupt(() => Effect.ignore(store.release(token, [claimed.delivery.id]))),
        // our own fault must not cost the receiver an attempt: the lease's end makes the delivery due again
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
)
