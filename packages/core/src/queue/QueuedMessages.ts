/**
 * The service that sends queued messages: those of campaigns (contract §11) and of callers (contract §15). Calls
 * `SendLifecycle`, and reads through `MessageStore`.
 */
import { Context, Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import { type DomainError, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import type { Message } from "../messages/Message.ts"
import { type Exclusion, type KeyedRequest, MessageStore, type Queue } from "../messages/MessageStore.ts"
import { type Ended, SendLifecycle } from "../messages/SendLifecycle.ts"
import * as Span from "../Span.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"

/** The result of a try to send a queued message. Only a campaign's message can be left out ({@link Exclusion}). */
export type QueuedEnd<Of extends Queue> =
  /** It has an outcome now, and has left the queue. */
  | { readonly _tag: "Settled" }
  /** It already had an outcome, or it no longer exists. */
  | { readonly _tag: "Ended" }
  /** The provider did not accept it this time. */
  | { readonly _tag: "NotSent"; readonly error: DomainError }
  /** Our own checks refused it; because of a block of its number that ends by itself at `blockedUntil`, if given. */
  | { readonly _tag: "Refused"; readonly error: DomainError; readonly blockedUntil?: Instant }
  /** Its slot had passed when it was claimed, or its `sendUntil`. The provider was not called. */
  | { readonly _tag: "TooLate" }
  /** Another process may be sending it, or the storage could not be reached. */
  | { readonly _tag: "Busy" }
  | (Of["campaignId"] extends null ? never : Exclusion)

/** The error that withholds a claimed message whose slot has passed. */
const tooLate = new ServerError({
  reason: "overloaded",
  message: "the message missed its slot, and will be tried again"
})

/** A message that waits in a queue, and the request under whose key it is sent. */
export interface QueuedMessage<Of extends Queue> {
  readonly queue: Of
  readonly message: Message
  readonly request: KeyedRequest
  /** From this time on, by the storage's clock, the provider is not called for it. */
  readonly sendUntil?: Instant
}

export class QueuedMessages extends Context.Service<QueuedMessages, {
  /**
   * Tries once to send a queued message. Never fails, and may be repeated until the message has ended: like
   * a send with an idempotency key, it is never sent twice. `isTooLate` is asked once the message is claimed: if so,
   * the provider is not called, and the message can be tried again.
   */
  readonly send: <Of extends Queue>(
    queued: QueuedMessage<Of>,
    isTooLate: Effect.Effect<boolean>
  ) => Effect.Effect<QueuedEnd<Of>>
}>()("@wac/core/queue/QueuedMessages") {
  static readonly layer = Layer.effect(
    QueuedMessages,
    Effect.gen(function*() {
      const store = yield* MessageStore
      const lifecycle = yield* SendLifecycle
      const random = yield* SecureRandom.SecureRandom
      const withSpan = yield* Span.ifTraced("QueuedMessages.send")

      /**
       * The result for a message whose outcome is unknown: `Busy` while its status is still `sending`, until the sweep
       * changes that.
       */
      const unknownOrBusy = (
        { id, workspaceId }: Message
      ): Effect.Effect<{ readonly _tag: "Busy" | "Ended" }, StoreError> =>
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

      const attempt = Effect.fnUntraced(function*(queued: QueuedMessage<Queue>, isTooLate: Effect.Effect<boolean>) {
        const { message, queue, request, sendUntil } = queued
        const { content } = message
        const outcome = yield* lifecycle.send<Queue>({
          keyed: request,
          // the request that queued it was authenticated
          apiKeyId: null,
          queue,
          later: null,
          ...sendUntil === undefined ? {} : { sendUntil },
          // an earlier version of the service may have queued it to a number with a national prefix
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
          case "Refused": {
            const { blockedUntil, error } = outcome
            return { _tag: "Refused", error, ...blockedUntil === undefined ? {} : { blockedUntil } } as const
          }
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

      const send = <Of extends Queue>(queued: QueuedMessage<Of>, isTooLate: Effect.Effect<boolean>) =>
        Effect.map(
          lifecycle.run(attempt(queued, isTooLate)),
          // a try that did not run or failed counts as busy: the next try finds out what it did
          (ended): QueuedEnd<Of> =>
            // `AcceptStep` leaves only a campaign's customers out
            Option.isSome(ended) && Exit.isSuccess(ended.value)
              ? ended.value.value as QueuedEnd<Of>
              : { _tag: "Busy" }
        )

      return QueuedMessages.of({ send })
    })
  ).pipe(Layer.provide(SendLifecycle.layer))
}
