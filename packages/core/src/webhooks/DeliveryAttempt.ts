/**
 * Carries out one attempt at a delivery (contract §6 *Attempt*): signs it, posts it with one deadline, and records it
 * in the store. The scheduler, tests and probes use it.
 */
import { Clock, Context, Duration, Effect, Layer, Random, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Elapsed from "../Elapsed.ts"
import * as Event from "../events/Event.ts"
import * as Id from "../Id.ts"
import * as Signature from "../keys/Signature.ts"
import * as Metrics from "../Metrics.ts"
import { type UnreadableSecret, Vault } from "../secrets/Vault.ts"
import * as Span from "../Span.ts"
import type { StoreError } from "../StoreError.ts"
import { UsageRecorder } from "../usage/UsageRecorder.ts"
import { type Attempt, recordedAttempt } from "./Delivery.ts"
import { type ClaimedDelivery, DeliveryStore } from "./DeliveryStore.ts"
import { outcomeOf } from "./ReceiverOutcome.ts"
import { type WebhookAnswer, WebhookTransport } from "./WebhookTransport.ts"

/** Specification §8: covers DNS lookup, connection, request and response together. */
export const timeout = Duration.seconds(5)

/**
 * The lease of a claim: the attempt's deadline, time to record it, and a margin for a pause of the process (contract
 * §8).
 */
export const lease = Duration.seconds(15)

/** How often recording an attempt is retried while its claim lasts. A restarted storage is back within seconds. */
const recordEvery = Duration.seconds(1)

/**
 * How long the event waited for its first attempt, in milliseconds. `null` if the wait was deliberate: for an earlier
 * event, for a paused webhook, or for another attempt at a webhook that is not healthy.
 */
const waitedFor = ({ delivery, isBacklog, standing }: ClaimedDelivery, attempt: Attempt): number | null =>
  attempt.number === 1 && delivery.nextAttemptAt === delivery.createdAt && !isBacklog && standing === "healthy"
    ? attempt.startedAt - delivery.createdAt
    : null

/** The span of an attempt. The receiver's path and query may hold a secret, so only its host is in it. */
const beginningOf = ({ delivery, event, url }: ClaimedDelivery): Span.Details => {
  const { hostname, port, protocol } = new URL(url)
  return {
    from: event.trace,
    attributes: {
      "http.request.method": "POST",
      "http.request.resend_count": delivery.attemptCount === 0 ? undefined : delivery.attemptCount,
      "server.address": hostname.replace(/^\[(.*)\]$/, "$1"),
      "server.port": port === "" ? protocol === "https:" ? 443 : 80 : Number(port),
      "url.scheme": protocol.slice(0, -1),
      "wac.workspace.id": delivery.workspaceId,
      "wac.webhook.id": delivery.webhookId,
      "wac.delivery.id": delivery.id,
      "wac.delivery.trigger": delivery.trigger,
      "wac.event.id": event.id,
      "wac.event.type": event.type,
      "wac.message.id": event.orderKey ?? undefined
    }
  }
}

const endOf = ({ outcome, statusCode }: WebhookAnswer): Span.Attributes => ({
  "http.response.status_code": statusCode ?? undefined,
  "wac.attempt.outcome": outcome,
  "error.type": outcome === "delivered" ? undefined : outcome === "status" ? `${statusCode}` : outcome
})

export class DeliveryAttempt extends Context.Service<DeliveryAttempt, {
  /**
   * Carries out the attempt that is claimed under `token`, and records what is kept of it (`Delivery.recordedAttempt`).
   * `recorded` is false if the claim was lost meanwhile; then nothing has changed. Fails if one of the webhook's
   * secrets cannot be opened, which does not use up an attempt.
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
          // other processes compare this instant, and the signature shows it, so it is in the storage's time
          const startedAt = claimed.at
          const begun = Elapsed.of(clock)
          const passed = () => Elapsed.of(clock) - begun
          const opened: Array<string> = []
          for (const { sealed } of secrets) opened.push(yield* vault.open(sealed, delivery.webhookId))
          const signed = yield* Signature.deliveryHeaders({ eventId: event.id, body, secrets: opened, now: startedAt })
          const headers = { ...signed, ...(yield* Span.headers) }
          const answer = yield* transport.post({ url, headers, body, timeout })
          yield* Span.annotate(() => endOf(answer))
          const durationMs = Math.round(passed())
          const endedAt = startedAt + durationMs
          const ended: Attempt = {
            ...answer,
            id: yield* Id.generate(random, "att"),
            number: delivery.attemptCount + 1,
            trigger: delivery.trigger,
            url,
            startedAt,
            durationMs
          }
          const completion = {
            now: endedAt,
            delivery,
            token,
            attempt: recordedAttempt(ended, claimed.standing),
            jitter: yield* Random.next
          }
          const isClaimed = () => passed() < Duration.toMillis(lease) - Duration.toMillis(recordEvery)
          const recorded = yield* Effect.retry(Effect.suspend(() => store.complete(completion)), {
            schedule: Schedule.spaced(recordEvery),
            while: isClaimed
          })
          if (recorded) {
            yield* Metrics.attempted(ended, waitedFor(claimed, ended))
            record({
              workspaceId: delivery.workspaceId,
              at: startedAt,
              activity: ended.outcome === "delivered" ? "attemptsDelivered" : "attemptsFailed",
              timed: { kind: outcomeOf(ended), durationMs: ended.durationMs }
            })
          }
          return { attempt: ended, recorded }
        }
      )

      const withSpan = yield* Span.ifTraced("POST webhook", "client")
      return DeliveryAttempt.of({
        attempt: (claimed, token) => withSpan(attempt(claimed, token), () => beginningOf(claimed))
      })
    })
  )
}
