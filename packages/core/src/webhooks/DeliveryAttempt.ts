/**
 * One attempt at a delivery (contract §6 *Attempt*): signed afresh, posted with one deadline, and recorded. What the
 * scheduler, tests and probes share.
 */
import { Clock, Context, Duration, Effect, Layer, Random, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Event from "../events/Event.ts"
import * as Id from "../Id.ts"
import * as Signature from "../keys/Signature.ts"
import * as Metrics from "../Metrics.ts"
import { type UnreadableSecret, Vault } from "../secrets/Vault.ts"
import * as Span from "../Span.ts"
import type { StoreError } from "../StoreError.ts"
import { UsageRecorder } from "../usage/UsageRecorder.ts"
import type { Attempt } from "./Delivery.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/** Specification §8: name look-up, connection, request and answer together. */
export const timeout = Duration.seconds(5)

/** A claim's lease: the attempt's deadline, time to record it, and room for a pause of the process (contract §8). */
export const lease = Duration.seconds(15)

/** How often an attempt is tried to be recorded, while its claim lasts: a storage that restarts is back within seconds. */
const recordEvery = Duration.seconds(1)

/**
 * How long the event waited for its first attempt, in milliseconds; `null` where something was to hold it back: an event
 * before it, a pause, or its webhook, of which one attempt may have to wait for another unless it is healthy.
 */
const waitedFor = ({ delivery, isBacklog, standing }: ClaimedDelivery, attempt: Attempt): number | null =>
  attempt.number === 1 && delivery.nextAttemptAt === delivery.createdAt && !isBacklog && standing === "healthy"
    ? attempt.startedAt - delivery.createdAt
    : null

export class DeliveryAttempt extends Context.Service<DeliveryAttempt, {
  /**
   * Carries out the attempt that the claim under `token` is for. `recorded` is false when the claim was lost meanwhile;
   * then nothing has changed. A storage that fails is asked again until the claim's lease is about to end, so that what
   * the receiver has taken is not sent to it again. Fails when one of the webhook's secrets does not open, which costs the
   * receiver no attempt.
   */
  readonly attempt: (
    claimed: ClaimedDelivery,
    token: string
  ) => Effect.Effect<{ readonly attempt: Attempt; readonly recorded: boolean }, StoreError | UnreadableSecret>
}>()("@wac/core/webhooks/DeliveryAttempt") {
  static readonly layer = Layer.effect(
    DeliveryAttempt,
    Effect.gen(function*() {
      const store = yield* DeliveryStore
      const transport = yield* WebhookTransport
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const clock = yield* Clock.Clock
      const record = yield* UsageRecorder

      const attempt = Effect.fnUntraced(
        function*(claimed: ClaimedDelivery, token: string) {
          const { delivery, event, secrets, url } = claimed
          const body = Event.body(event, delivery.envelope)
          // what other processes reckon with is told by the storage's time
          const startedAt = claimed.at
          const begun = clock.currentTimeMillisUnsafe()
          const opened: Array<string> = []
          for (const { sealed } of secrets) opened.push(yield* vault.open(sealed, delivery.webhookId))
          const headers = yield* Signature.deliveryHeaders({ eventId: event.id, body, secrets: opened, now: begun })
          const answer = yield* transport.post({ url, headers, body, timeout })
          const endedAt = startedAt + Math.max(0, clock.currentTimeMillisUnsafe() - begun)
          const ended: Attempt = {
            ...answer,
            id: yield* Id.generate(random, "att"),
            number: delivery.attemptCount + 1,
            trigger: delivery.trigger,
            url,
            startedAt,
            durationMs: endedAt - startedAt
          }
          const completion = { now: endedAt, delivery, token, attempt: ended, jitter: yield* Random.next }
          const isClaimed = () =>
            clock.currentTimeMillisUnsafe() - begun < Duration.toMillis(lease) - Duration.toMillis(recordEvery)
          const recorded = yield* Effect.retry(Effect.suspend(() => store.complete(completion)), {
            schedule: Schedule.spaced(recordEvery),
            while: isClaimed
          })
          if (recorded) {
            yield* Metrics.attempted(ended, waitedFor(claimed, ended))
            record({
              workspaceId: delivery.workspaceId,
              at: startedAt,
              activity: ended.outcome === "delivered" ? "attemptsDelivered" : "attemptsFailed"
            })
          }
          return { attempt: ended, recorded }
        }
      )

      const withSpan = yield* Span.ifTraced("DeliveryAttempt.attempt")
      return DeliveryAttempt.of({ attempt: (claimed, token) => withSpan(attempt(claimed, token)) })
    })
  )
}
