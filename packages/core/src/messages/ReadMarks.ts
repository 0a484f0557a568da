/**
 * The service that marks customers' messages as read and shows a typing indicator (contract §9). Calls the provider,
 * and stores one idempotency key per request.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { Digest } from "effect/crypto"
import { type DomainError, Forbidden, IdempotencyConflict, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Idempotency from "../Idempotency.ts"
import type { KeyBinding } from "../keys/KeyBinding.ts"
import * as Lookup from "../Lookup.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import * as Capabilities from "../provider/Capabilities.ts"
import { Provider } from "../provider/Provider.ts"
import { orUnavailable } from "../StoreError.ts"
import { MessageStore } from "./MessageStore.ts"
import * as Policy from "./Policy.ts"
import * as SendBinding from "./SendBinding.ts"

/** The provider's deadline. */
export const timeout = Duration.seconds(8)

/** A request to mark a message as read. */
export interface ReadMark {
  readonly workspaceId: Id.WorkspaceId
  readonly key: Idempotency.IdempotencyKey
  /** The numbers that the caller's API key is bound to; `null` if it is not bound, or there is no key. */
  readonly boundTo: KeyBinding["phoneNumberIds"]
  /** The message's id as the caller gave it, unchecked. */
  readonly id: string
  /** Whether to show the customer a typing indicator. */
  readonly isTyping: boolean
}

const notInTime = () =>
  new ServerError({
    reason: "provider_unavailable",
    message: "the provider did not answer in time; repeat the request with the same Idempotency-Key"
  })

const notAvailable = (message: string) => new Forbidden({ reason: "sender_not_available", message })

export class ReadMarks extends Context.Service<ReadMarks, {
  /**
   * Marks a customer's message as read, once per idempotency key. Fails with `not_found` for the workspace's own
   * messages, those from the business's own phone included, and for messages that are no longer kept, with
   * `invalid_body` for a typing indicator on a channel without read marks, and with `sender_not_available` if the
   * customer wrote to a number that the caller's key is not bound to. If the provider fails, nothing is stored and a
   * retry calls it again; marking a message twice is harmless. Spends neither quota nor messaging limit.
   */
  readonly mark: (request: ReadMark) => Effect.Effect<Id.MessageId, DomainError>
}>()("@wac/core/messages/ReadMarks") {
  static readonly layer = Layer.effect(
    ReadMarks,
    Effect.gen(function*() {
      const store = yield* MessageStore
      const numbers = yield* PhoneNumberStore
      const provider = yield* Provider
      const digest = yield* Digest.Digest

      const find = (workspaceId: Id.WorkspaceId, id: string) =>
        Lookup.find(
          "customer's message",
          Id.parse(Id.MessageId, id),
          (messageId) => store.received(workspaceId, messageId)
        ).pipe(orUnavailable)

      const senderOf = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, id: Id.PhoneNumberId) {
        const all = yield* numbers.list(workspaceId).pipe(orUnavailable)
        const number = all.find((one) => one.id === id)
        if (number === undefined || number.provider !== provider.name) {
          return yield* notAvailable("the customer wrote to a phone number that the running provider does not have")
        }
        if (!number.available) return yield* notAvailable("the operator has switched this phone number off")
        return number
      })

      const ask = (sender: PhoneNumber, providerMessageId: string, isTyping: boolean) =>
        (provider.markRead?.({ sender, providerMessageId, isTyping }) ?? Effect.void).pipe(
          Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(notInTime()) })
        )

      return ReadMarks.of({
        mark: Effect.fn("ReadMarks.mark")(function*({ boundTo, id, isTyping, key, workspaceId }) {
          const { id: messageId, phoneNumberId, providerMessageId } = yield* find(workspaceId, id)
          const bound = Policy.bindingRefusal(boundTo, phoneNumberId)
          if (bound !== undefined) return yield* bound
          const unsupported = Capabilities.typingRefusal(provider.capabilities, isTyping)
          if (unsupported !== undefined) return yield* unsupported
          const fingerprint = yield* Idempotency.fingerprint(digest, { typing: isTyping })
          const request = { workspaceId, messageId, key }
          const conflict = () =>
            new IdempotencyConflict({
              reason: "payload_mismatch",
              message: "the Idempotency-Key was already used with a different body"
            })
          const known = yield* store.recallReadMark(request, yield* Clock.currentTimeMillis).pipe(orUnavailable)
          if (Option.isSome(known)) {
            if (known.value !== fingerprint) return yield* conflict()
            yield* SendBinding.observeReplay(
              SendBinding.sent({ id: messageId, workspaceId, apiKeyId: null }, providerMessageId)
            )
            return messageId
          }
          yield* ask(yield* senderOf(workspaceId, phoneNumberId), providerMessageId, isTyping)
          const now = yield* Clock.currentTimeMillis
          const kept = yield* store.keepReadMark({
            ...request,
            fingerprint,
            now,
            expiresAt: now + Duration.toMillis(Idempotency.retention)
          }).pipe(orUnavailable)
          return kept === fingerprint ? messageId : yield* conflict()
        })
      })
    })
  )
}
