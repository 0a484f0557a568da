/**
 * The service for a workspace's webhook (specification §2 *Webhook configuration*, contract §6): sets, shows, tests,
 * pauses, resumes, diagnoses and removes it, and rotates its secrets. Writes through the stores and posts to receivers.
 */
import { Clock, Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { type InvalidBody, NotFound, type RateLimited, ServerError } from "../Errors.ts"
import * as Event from "../events/Event.ts"
import { EventStore } from "../events/EventStore.ts"
import * as Id from "../Id.ts"
import * as Signature from "../keys/Signature.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import { Vault } from "../secrets/Vault.ts"
import * as Span from "../Span.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { shown, type ShownAttempt } from "./AttemptRequest.ts"
import * as Curl from "./Curl.ts"
import { DeliveryAttempt, lease, timeout } from "./DeliveryAttempt.ts"
import { DeliveryStore } from "./DeliveryStore.ts"
import { ReceiverGuard } from "./ReceiverGuard.ts"
import * as RetrySchedule from "./RetrySchedule.ts"
import { diagnose, type VerifyReport } from "./SignatureDiagnosis.ts"
import * as TestLimit from "./TestLimit.ts"
import * as Webhook from "./Webhook.ts"
import * as WebhookHealth from "./WebhookHealth.ts"
import type { Replay } from "./WebhookStep.ts"
import { type WebhookState, WebhookStore } from "./WebhookStore.ts"

/** The webhook's whole configuration. */
export interface PutWebhook {
  readonly workspaceId: Id.WorkspaceId
  readonly url: string
  /** Defaults to `combined`. */
  readonly envelope: Event.Envelope | undefined
  /** Defaults to all types. */
  readonly eventTypes: ReadonlyArray<Event.EventType> | undefined
}

/** The webhook after it was set. Its secret is returned once, when it is created. */
export interface SetWebhook {
  readonly webhook: Webhook.Webhook
  readonly signingSecret: Redacted.Redacted | null
}

/** The result of a rotation: the new secret, returned once, and when the previous ones stop signing. */
export interface RotatedSecret {
  readonly signingSecret: Redacted.Redacted
  readonly previousExpiresAt: Instant
}

/** A webhook's state, interpreted for people. */
export interface WebhookReport extends WebhookState {
  /** Since when the webhook has been failing; `null` if it is not. */
  readonly failingSince: Instant | null
  /**
   * When the webhook will be paused unless an attempt succeeds before; `null` if it is not failing, is already paused,
   * or has no delivery that could pause it (`WebhookState.oldestTriedAt`).
   */
  readonly pausesAt: Instant | null
}

/** A request to resume, and which held events it attempts. */
export interface ResumeWebhook {
  readonly workspaceId: Id.WorkspaceId
  readonly replay: Replay
  /** Resumes without probing the receiver first. */
  readonly force: boolean
}

/** The webhook after an attempt to resume it. It is still paused if the probe failed; the probe shows why. */
export interface Resumed {
  readonly webhook: Webhook.Webhook
  /** `null` if there was no probe: the resume was forced, or the webhook was already active. */
  readonly probe: ShownAttempt | null
}

/** A server error that the vault has logged. */
const unopened = () =>
  new ServerError({ reason: "internal", message: "the webhook's secret cannot be opened at the moment" })

const none = () => new NotFound({ message: "the workspace has no webhook" })

/** Interprets a webhook's state. Pure. */
export const report = (state: WebhookState): WebhookReport => {
  const { health, pausedAt } = state.webhook
  return {
    ...state,
    failingSince: WebhookHealth.failingSince(health),
    pausesAt: WebhookHealth.isFailing(health) && pausedAt === null && state.oldestTriedAt !== null
      ? RetrySchedule.lastAt(state.oldestTriedAt)
      : null
  }
}

export class Webhooks extends Context.Service<Webhooks, {
  /**
   * Sets the workspace's one webhook as a whole. A change keeps its id, secret and state. If it is interrupted while the
   * URL is checked, nothing is set; once it is being stored, an interruption waits for that.
   */
  readonly put: (command: PutWebhook) => Effect.Effect<SetWebhook, InvalidBody | StoreError>
  readonly get: (workspaceId: Id.WorkspaceId) => Effect.Effect<WebhookReport, NotFound | StoreError>
  /**
   * Posts a `webhook.test` event and returns the one attempt at it. The event is recorded and listed like others. A
   * failure neither counts against the webhook nor is retried; a success shows that the receiver has recovered. Fails
   * with `RateLimited`, and records nothing, if the workspace tests too often (`TestLimit`).
   */
  readonly test: (
    workspaceId: Id.WorkspaceId
  ) => Effect.Effect<ShownAttempt, NotFound | RateLimited | ServerError | StoreError>
  /**
   * Pauses the webhook until a person resumes it. Events are still recorded, and are held. A paused webhook stays as it
   * is. Neither this nor a resume counts held deliveries, so both cost the same however much waits.
   */
  readonly pause: (workspaceId: Id.WorkspaceId) => Effect.Effect<Webhook.Webhook, NotFound | StoreError>
  /**
   * Resumes the webhook. Unless forced, it first posts a probe, a `webhook.test` event; if that fails, the webhook
   * stays paused. Held events to be replayed drain at a bounded rate while new events flow. Fails with `RateLimited` if
   * the workspace probes too often; tests leave it a few probes, and a forced resume needs none.
   */
  readonly resume: (
    command: ResumeWebhook
  ) => Effect.Effect<Resumed, NotFound | RateLimited | ServerError | StoreError>
  /**
   * Creates a new secret, which signs from the next attempt on. The previous secrets also sign for `overlap`, so that
   * receivers have time to change. With an overlap of zero they end immediately (contract §5).
   */
  readonly rotateSecret: (command: {
    readonly workspaceId: Id.WorkspaceId
    readonly overlap: Duration.Duration
  }) => Effect.Effect<RotatedSecret, NotFound | StoreError>
  /**
   * Diagnoses why a receiver does not accept a delivery, from the header and the body that it got
   * (`SignatureDiagnosis`). Changes nothing and reveals no secret. Fails with a `ServerError` if a secret, even an
   * expired one, cannot be opened.
   */
  readonly verify: (command: {
    readonly workspaceId: Id.WorkspaceId
    readonly header: string
    readonly body: string
  }) => Effect.Effect<VerifyReport, NotFound | ServerError | StoreError>
  /**
   * A curl command that repeats a delivery by hand as an attempt would now: to the webhook's present URL, with fresh
   * signatures. For five minutes receivers cannot tell it from ours, so only people who may trigger deliveries may see
   * it. Fails with a `ServerError` if a live secret cannot be opened.
   */
  readonly curl: (command: {
    readonly workspaceId: Id.WorkspaceId
    readonly deliveryId: Id.DeliveryId
  }) => Effect.Effect<string, NotFound | ServerError | StoreError>
  /** Removes the webhook. Waiting deliveries are skipped. */
  readonly remove: (workspaceId: Id.WorkspaceId) => Effect.Effect<void, NotFound | StoreError>
}>()("@wac/core/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const limits = yield* RateLimitStore
      const deliveries = yield* DeliveryStore
      const { attempt } = yield* DeliveryAttempt
      const guard = yield* ReceiverGuard
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const mac = yield* Mac.Mac
      const events = yield* EventStore

      const putChecked = Effect.fnUntraced(function*(command: PutWebhook, url: URL) {
        const now = yield* Clock.currentTimeMillis
        const id = yield* Id.generate(random, "whk")
        const signingSecret = yield* Signature.generateSecret(random)
        const { created, webhook } = yield* store.put({
          id,
          workspaceId: command.workspaceId,
          url: url.href,
          envelope: command.envelope ?? "combined",
          eventTypes: command.eventTypes ?? Event.EventType.literals,
          secrets: [{ sealed: yield* vault.seal(signingSecret, id), expiresAt: null }],
          createdAt: now,
          updatedAt: now,
          pausedAt: null,
          resumedAt: null,
          health: WebhookHealth.initial
        })
        return { webhook, signingSecret: created ? Redacted.make(signingSecret) : null }
      }, Effect.uninterruptible)

      const put = Effect.fn("Webhooks.put")(function*(command: PutWebhook) {
        const url = Webhook.parseUrl(command.url, guard)
        if (!(url instanceof URL)) return yield* url
        yield* guard.check(url)
        return yield* putChecked(command, url)
      })

      const get = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
        const state = yield* store.get(workspaceId)
        return Option.isSome(state) ? report(state.value) : yield* none()
      })

      const find = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
        const webhook = yield* store.find(workspaceId)
        return Option.isSome(webhook) ? webhook.value : yield* none()
      })

      const test = Effect.fn("Webhooks.test")(function*(workspaceId: Id.WorkspaceId, trigger: TestLimit.TestTrigger) {
        const webhook = yield* find(workspaceId)
        yield* TestLimit.spend(limits, workspaceId, trigger)
        const now = yield* Clock.currentTimeMillis
        const token = yield* random.uuidV4({})
        const claimed = yield* deliveries.beginTest({
          now,
          event: Event.ofTest(webhook, {
            id: yield* Id.generate(random, "evt"),
            createdAt: now,
            trace: yield* Span.stored
          }),
          deliveryId: yield* Id.generate(random, "dlv"),
          trigger,
          token,
          leaseUntil: now + Duration.toMillis(lease)
        })
        if (Option.isNone(claimed)) return yield* none()
        const made = yield* attempt(claimed.value, token).pipe(
          Effect.onInterrupt(() => Effect.ignore(deliveries.release(token, [claimed.value.delivery]))),
          Effect.catchTag("UnreadableSecret", () => Effect.fail(unopened()))
        )
        return shown(claimed.value.event, claimed.value.delivery.envelope, made.attempt)
      })

      const pause = Effect.fn("Webhooks.pause")(function*(workspaceId: Id.WorkspaceId) {
        const paused = yield* store.pause(workspaceId, yield* Clock.currentTimeMillis)
        return Option.isSome(paused) ? paused.value : yield* none()
      })

      const resume = Effect.fn("Webhooks.resume")(function*({ force, replay, workspaceId }: ResumeWebhook) {
        const before = yield* find(workspaceId)
        if (before.pausedAt === null) return { webhook: before, probe: null }
        const probe = force ? null : yield* test(workspaceId, "probe")
        if (probe !== null && probe.outcome !== "delivered") return { webhook: yield* find(workspaceId), probe }
        const resumed = yield* store.resume({ workspaceId, now: yield* Clock.currentTimeMillis, replay })
        return { webhook: Option.isSome(resumed) ? resumed.value : yield* none(), probe }
      })

      const rotateSecret = Effect.fn("Webhooks.rotateSecret")(
        function*({ overlap, workspaceId }: {
          readonly workspaceId: Id.WorkspaceId
          readonly overlap: Duration.Duration
        }) {
          const { id } = yield* find(workspaceId)
          const now = yield* Clock.currentTimeMillis
          const previousExpiresAt = now + Duration.toMillis(overlap)
          const signingSecret = yield* Signature.generateSecret(random)
          const secret = yield* vault.seal(signingSecret, id)
          const rotated = yield* store.rotateSecret({ workspaceId, webhookId: id, secret, previousExpiresAt, now })
          if (Option.isNone(rotated)) return yield* none()
          return { signingSecret: Redacted.make(signingSecret), previousExpiresAt }
        }
      )

      /** Opens a webhook's secrets. */
      const open = (id: Id.WebhookId, secrets: ReadonlyArray<Webhook.WebhookSecret>) =>
        Effect.mapError(
          Effect.forEach(secrets, ({ expiresAt, sealed }) =>
            Effect.map(vault.open(sealed, id), (secret) => ({ secret, expiresAt }))),
          unopened
        )

      const verify = Effect.fn("Webhooks.verify")(
        function*({ body, header, workspaceId }: {
          readonly workspaceId: Id.WorkspaceId
          readonly header: string
          readonly body: string
        }) {
          const webhook = yield* find(workspaceId)
          const secrets = yield* open(webhook.id, webhook.secrets)
          return yield* diagnose({ header, body, secrets, now: yield* Clock.currentTimeMillis })
        },
        Effect.provideService(Mac.Mac, mac)
      )

      const curl = Effect.fn("Webhooks.curl")(
        function*({ deliveryId, workspaceId }: {
          readonly workspaceId: Id.WorkspaceId
          readonly deliveryId: Id.DeliveryId
        }) {
          const webhook = yield* find(workspaceId)
          const shown = yield* deliveries.get(workspaceId, deliveryId)
          if (Option.isNone(shown)) return yield* new NotFound({ message: "the workspace has no such delivery" })
          const { delivery } = shown.value
          if (delivery.webhookId !== webhook.id) {
            return yield* new NotFound({ message: "the webhook of this delivery was removed together with its secret" })
          }
          const event = Option.getOrThrow(yield* events.get(workspaceId, delivery.eventId))
          const now = yield* Clock.currentTimeMillis
          const body = Event.body(event, delivery.envelope)
          const live = webhook.secrets.filter((secret) => Webhook.isLive(secret, now))
          const secrets = (yield* open(webhook.id, live)).map(({ secret }) => secret)
          const headers = yield* Signature.deliveryHeaders({ eventId: event.id, body, secrets, now })
          return Curl.command({ url: webhook.url, headers, body, timeout: Duration.toSeconds(timeout) })
        }
      )

      const remove = Effect.fn("Webhooks.remove")(function*(workspaceId: Id.WorkspaceId) {
        if (!(yield* store.remove(workspaceId, yield* Clock.currentTimeMillis))) return yield* none()
      })

      return Webhooks.of({
        put,
        get,
        test: (workspaceId) => test(workspaceId, "test"),
        pause,
        resume,
        rotateSecret,
        verify,
        curl,
        remove
      })
    })
  ).pipe(Layer.provide(DeliveryAttempt.layer))
}
