/**
 * Webhook configuration, as the dashboard sets and sees it (specification §2 *Webhook configuration*, contract §6).
 */
import { Clock, Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { type InvalidBody, NotFound, ServerError } from "../Errors.ts"
import * as Event from "../events/Event.ts"
import { EventStore } from "../events/EventStore.ts"
import * as Id from "../Id.ts"
import * as Signature from "../keys/Signature.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { shown, type ShownAttempt } from "./AttemptRequest.ts"
import * as Curl from "./Curl.ts"
import { DeliveryAttempt, lease, timeout } from "./DeliveryAttempt.ts"
import { DeliveryStore } from "./DeliveryStore.ts"
import { ReceiverGuard } from "./ReceiverGuard.ts"
import * as RetrySchedule from "./RetrySchedule.ts"
import { diagnose, type VerifyReport } from "./SignatureDiagnosis.ts"
import * as Webhook from "./Webhook.ts"
import type { Replay } from "./WebhookStep.ts"
import { type WebhookState, WebhookStore } from "./WebhookStore.ts"

/** The webhook, whole. */
export interface PutWebhook {
  readonly workspaceId: Id.WorkspaceId
  readonly url: string
  /** `combined` when left out. */
  readonly envelope: Event.Envelope | undefined
  /** All types when left out. */
  readonly eventTypes: ReadonlyArray<Event.EventType> | undefined
}

/** A webhook as it was set; its secret is given once, when it was created. */
export interface SetWebhook {
  readonly webhook: Webhook.Webhook
  readonly signingSecret: Redacted.Redacted | null
}

/** What a rotation gives: the new secret, once, and when those before it no longer sign. */
export interface RotatedSecret {
  readonly signingSecret: Redacted.Redacted
  readonly previousExpiresAt: Instant
}

/** A webhook with what its health means. */
export interface WebhookReport extends WebhookState {
  /** Since when it has been failing; `null` while it is not. */
  readonly failingSince: Instant | null
  /** When it will be paused if nothing succeeds before; `null` while it is not failing, or paused already. */
  readonly pausesAt: Instant | null
}

/** What a resume does with the events that were held. */
export interface ResumeWebhook {
  readonly workspaceId: Id.WorkspaceId
  readonly replay: Replay
  /** Resumes without asking the receiver first. */
  readonly force: boolean
}

/** The webhook after a resume that was tried; still paused when the probe failed, which then tells why. */
export interface Resumed {
  readonly webhook: Webhook.Webhook
  /** `null` when none was made: it was forced, or the webhook was active already. */
  readonly probe: ShownAttempt | null
}

/** Our own fault, of which the vault has told. */
const unopened = () =>
  new ServerError({ reason: "internal", message: "the webhook's secret cannot be opened at the moment" })

const none = () => new NotFound({ message: "the workspace has no webhook" })

/** Pure: what a webhook's state means to a person. */
export const report = (state: WebhookState): WebhookReport => {
  const { health, pausedAt } = state.webhook
  return {
    ...state,
    failingSince: Webhook.failingSince(health),
    pausesAt: Webhook.isFailing(health) && pausedAt === null && state.oldestTriedAt !== null
      ? state.oldestTriedAt + Duration.toMillis(RetrySchedule.duration)
      : null
  }
}

export class Webhooks extends Context.Service<Webhooks, {
  /** Sets the workspace's one webhook, whole; a change leaves id, secret and state as they are. */
  readonly put: (command: PutWebhook) => Effect.Effect<SetWebhook, InvalidBody | StoreError>
  readonly get: (workspaceId: Id.WorkspaceId) => Effect.Effect<WebhookReport, NotFound | StoreError>
  /**
   * Posts a `webhook.test` event and answers with the one attempt at it. The event is recorded and listed like others;
   * a failure counts neither against the webhook nor is it tried again, a success shows that the receiver has recovered.
   */
  readonly test: (workspaceId: Id.WorkspaceId) => Effect.Effect<ShownAttempt, NotFound | ServerError | StoreError>
  /**
   * Pauses it, until a person resumes it: events go on being recorded, and are held. One that is paused stays so. What is
   * held is not counted, here nor by a resume: their cost is that of the webhook's own rows, however much waits.
   */
  readonly pause: (workspaceId: Id.WorkspaceId) => Effect.Effect<Webhook.Webhook, NotFound | StoreError>
  /**
   * Resumes it. A probe, which is a `webhook.test` event, is posted first unless it is forced: when that fails, the
   * webhook stays paused. What was held drains at a bounded rate while new events flow, as far as it is to be replayed.
   */
  readonly resume: (command: ResumeWebhook) => Effect.Effect<Resumed, NotFound | ServerError | StoreError>
  /**
   * Makes a new secret, which signs from the next attempt on. Those before go on signing beside it for `overlap`, so
   * that receivers can change at their leisure; with none the old ones end at once (contract §5).
   */
  readonly rotateSecret: (command: {
    readonly workspaceId: Id.WorkspaceId
    readonly overlap: Duration.Duration
  }) => Effect.Effect<RotatedSecret, NotFound | StoreError>
  /**
   * Tells why a receiver does not accept a delivery, from the header and the body that it had: see
   * `SignatureDiagnosis`. Nothing is changed, and no secret is told. A `ServerError` when one of its secrets does not
   * open, be it one that has ended.
   */
  readonly verify: (command: {
    readonly workspaceId: Id.WorkspaceId
    readonly header: string
    readonly body: string
  }) => Effect.Effect<VerifyReport, NotFound | ServerError | StoreError>
  /**
   * A curl command that repeats a delivery by hand, as an attempt made now would: to the webhook's present URL, freshly
   * signed. Receivers cannot tell it from ours for five minutes, so it is for those alone who may make us deliver. A
   * `ServerError` when a secret that signs now does not open.
   */
  readonly curl: (command: {
    readonly workspaceId: Id.WorkspaceId
    readonly deliveryId: Id.DeliveryId
  }) => Effect.Effect<string, NotFound | ServerError | StoreError>
  /** Removes it; what still waited for it is skipped. */
  readonly remove: (workspaceId: Id.WorkspaceId) => Effect.Effect<void, NotFound | StoreError>
}>()("@wac/core/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const deliveries = yield* DeliveryStore
      const { attempt } = yield* DeliveryAttempt
      const guard = yield* ReceiverGuard
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const mac = yield* Mac.Mac
      const events = yield* EventStore

      const put = Effect.fn("Webhooks.put")(function*(command: PutWebhook) {
        const url = Webhook.parseUrl(command.url, guard)
        if (!(url instanceof URL)) return yield* url
        yield* guard.check(url)
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
          health: Webhook.unknownHealth
        })
        return { webhook, signingSecret: created ? Redacted.make(signingSecret) : null }
      })

      const get = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
        const state = yield* store.get(workspaceId)
        return Option.isSome(state) ? report(state.value) : yield* none()
      })

      const find = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
        const webhook = yield* store.find(workspaceId)
        return Option.isSome(webhook) ? webhook.value : yield* none()
      })

      const test = Effect.fn("Webhooks.test")(function*(workspaceId: Id.WorkspaceId, trigger: "test" | "probe") {
        const webhook = yield* find(workspaceId)
        const now = yield* Clock.currentTimeMillis
        const token = yield* random.uuidV4({})
        const claimed = yield* deliveries.beginTest({
          now,
          event: Event.ofTest(webhook, { id: yield* Id.generate(random, "evt"), createdAt: now }),
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

      /** Secrets of a webhook in the clear. */
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
            return yield* new NotFound({ message: "the webhook of this delivery was removed, and its secret with it" })
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
