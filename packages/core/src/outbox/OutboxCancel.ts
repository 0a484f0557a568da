/**
 * Builds what a cancel needs to take a message out of the outbox (contract §15 and §16).
 */
import { Effect, Option, Result } from "effect"
import { Digest } from "effect/crypto"
import type { MessageId } from "../Id.ts"
import type { OutboundMessage } from "../messages/Message.ts"
import type { CancelSend } from "../messages/MessageStore.ts"
import * as OutboxEntry from "./OutboxEntry.ts"
import { fingerprintOf, OutboxReader } from "./OutboxRunner.ts"

/**
 * Makes the function that returns `CancelSend.enqueued` for a message. `provider` names the provider that the servers
 * run with. Without an `OutboxReader`, a cancelled message has only its listed fields.
 */
export const make = Effect.gen(function*() {
  const digest = yield* Digest.Digest
  const reader = yield* Effect.serviceOption(OutboxReader)
  const read = (message: unknown): OutboundMessage =>
    Option.match(reader, {
      onNone: () => OutboxEntry.unreadable(message),
      onSome: ({ read }) => Result.getOrElse(read(message), () => OutboxEntry.unreadable(message))
    })
  return (messageId: MessageId, provider: string): Effect.Effect<CancelSend["enqueued"]> =>
    Effect.map(fingerprintOf(digest, messageId), (fingerprint) => ({ fingerprint, provider, read }))
})
