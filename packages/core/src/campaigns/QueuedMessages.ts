/**
 * The service that sends the messages that campaigns queued (contract §11). Calls `SendLifecycle`, and reads through
 * `MessageStore`.
 */
import { Context, Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import { type DomainError, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import type { IdempotencyKey } from "../messages/Idempotency.ts"
import type { Message } from "../messages/Message.ts"
import { type KeyedRequest, MessageStore } from "../messages/MessageStore.ts"
import { type Ended, SendLifecycle } from "../messages/SendLifecycle.ts"
import * as Span from "../Span.ts"
import type { StoreError } from "../StoreError.ts"
import * as Recipient from "./Recipient.ts"

/** The result of a try to send a queued message. */
export type QueuedEnd =
  /** It has an outcome now, and has left the campaign's queue. */
  | { readonly _tag: "Settled" }
  /** It already had an outcome, or it no longer exists. */
  | { readonly _tag: "Ended" }
  /** The provider did not take it this time. */
  | { readonly _tag: "NotSent"; readonly error: DomainError }
  /** Our own checks refused it. */
  | { readonly _tag: "Refused"; readonly error: DomainError }
  /** The contact has received the maximum number of marketing templates. */
  | { readonly _tag: "Capped" }
  /** The campaign has already written to the contact under another name. */
  | { readonly _tag: "Duplicate" }
  /** Its slot had passed when it was claimed. The provider was not called. */
  | { readonly _tag: "TooLate" }
  /** Another process may be sending it, or the storage could not be reached. */
  | { readonly _tag: "Busy" }

/** Why a message was not sent although it had been claimed. */
const tooLate = new ServerError({
  reason: "overloaded",
  message: "the message missed its slot; the campaign will try it again"
})

/** A message that waits in a campaign's queue, and its key. */
export interface QueuedMessage {
  readonly message: Message
  readonly key: IdempotencyKey
}

const keyedOf = ({ key, message: { campaignId, workspaceId } }: QueuedMessage): KeyedRequest => ({
  workspaceId,
  route: Recipient.routeOf(campaignId!),
  key,
  fingerprint: Recipient.fingerprint
})

export class QueuedMessages extends Context.Service<QueuedMessages, {
  /**
   * Tries once to send a campaign's queued message. Never fails, and may be repeated until the message has ended: like
   * a send with an idempotency key, it is never sent twice. `isTooLate` is asked once the message is claimed: if so,
   * the provider is not called, and the message can be tried again.
   */
  readonly send: (queued: QueuedMessage, isTooLate: Effect.Effect<boolean>) => Effect.Effect<QueuedEnd>
}>()("@wac/core/campaigns/QueuedMessages") {
  static readonly layer = Layer.effect(
    QueuedMessages,
    Effect.gen(function*() {
      const store = yield* MessageStore
      const lifecycle = yield* SendLifecycle
      const random = yield* SecureRandom.SecureRandom
      const withSpan = yield* Span.ifTraced("QueuedMessages.send")

      /**
       * A message whose outcome is unknown has ended once that is its status; until then the sweep has to look at it.
       */
      const unknownOrBusy = ({ id, workspaceId }: Message): Effect.Effect<QueuedEnd, StoreError> =>
        Effect.map(
          store.get(workspaceId, id),
          (found) => Option.isSome(found) && found.value.status === "sending" ? { _tag: "Busy" } : { _tag: "Ended" }
        )

      const spanning = ({ campaignId, id, workspaceId }: Message) => (rest: Effect.Effect<Ended>) =>
        withSpan(rest, () => ({
          attributes: {
            "wac.workspace.id": workspaceId,
            "wac.campaign.id": campaignId ?? undefined,
            "wac.message.id": id
          }
        }))

      const attempt = Effect.fnUntraced(function*(queued: QueuedMessage, isTooLate: Effect.Effect<boolean>) {
        const { message } = queued
        const { apiKeyId, campaignId, content } = message
        const outcome = yield* lifecycle.send({
          keyed: keyedOf(queued),
          apiKeyId,
          campaignId,
          // a version before may have queued it to a number with its national prefix
          message: { ...content, to: CustomerNames.sendable(content.to) },
          requestId: yield* Id.generate(random, "req"),
          withhold: Effect.map(isTooLate, (is) => is ? tooLate : undefined),
          around: spanning(message)
        })
        switch (outcome._tag) {
          case "Ended":
            switch (outcome.as) {
              case "sent":
              case "failed":
                return { _tag: "Settled" } as const
              case "not_sent":
                return { _tag: "NotSent", error: outcome.answer.error } as const
              case "unknown":
                return yield* unknownOrBusy(message)
              case "refused":
                return { _tag: "Refused", error: outcome.answer.error } as const
              case "withheld":
                return { _tag: "TooLate" } as const
              case "stuck":
                return { _tag: "Busy" } as const
            }
          case "Refused":
            return { _tag: "Refused", error: outcome.error } as const
          case "Capped":
          case "Duplicate":
            return { _tag: outcome._tag } as const
          case "Running":
            return { _tag: "Busy" } as const
          case "Unknown":
            return yield* unknownOrBusy(message)
          case "Answered":
          case "Conflict":
            return { _tag: "Ended" } as const
        }
      })

      const send = (queued: QueuedMessage, isTooLate: Effect.Effect<boolean>): Effect.Effect<QueuedEnd> =>
        Effect.map(
          lifecycle.run(attempt(queued, isTooLate)),
          // the next try finds out what this one did
          (ended) => Option.isSome(ended) && Exit.isSuccess(ended.value) ? ended.value.value : { _tag: "Busy" }
        )

      return QueuedMessages.of({ send })
    })
  ).pipe(Layer.provide(SendLifecycle.layer))
}
