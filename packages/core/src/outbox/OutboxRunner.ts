/**
 * The background task that moves messages from the outbox, where hosts enqueued them in their own transactions, into
 * the queue (contract §16). Calls `OutboxStore` and `SendLifecycle`.
 */
import { Clock, Context, Duration, Effect, Layer, Result } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import type { InvalidBody } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Idempotency from "../Idempotency.ts"
import type { OutboundMessage } from "../messages/Message.ts"
import type { KeyedRequest } from "../messages/MessageStore.ts"
import { SendLifecycle } from "../messages/SendLifecycle.ts"
import * as Metrics from "../Metrics.ts"
import { Provider } from "../provider/Provider.ts"
import { orUnavailable } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as OutboxEntry from "./OutboxEntry.ts"
import { OutboxStore } from "./OutboxStore.ts"

/** The longest wait before the storage is asked again: hints may be lost, and entries wait for another try. */
const every = Duration.millis(500)

/** The maximum number of entries in one piece of work: a few batches of *accept*. */
const limit = 200

/** Reads a message in the form of `POST /v1/messages`. */
export class OutboxReader extends Context.Service<OutboxReader, {
  readonly read: (message: unknown) => Result.Result<OutboundMessage, InvalidBody>
}>()("@wac/core/outbox/OutboxRunner/OutboxReader") {}

/** Runs as long as its scope. Any number of processes may run it. Does nothing where hosts cannot enqueue. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* OutboxStore
    if (store.enqueueFunction === null) return
    const lifecycle = yield* SendLifecycle
    const reader = yield* OutboxReader
    const random = yield* SecureRandom.SecureRandom
    const digest = yield* Digest.Digest
    const { name: provider } = yield* Provider

    /**
     * Queues an entry under its own key and message id, so that a repetition after a crash finds it queued. The SQL
     * function has already compared the messages under a key, so the fingerprint covers only the message id, which
     * every version of the service reads alike.
     */
    const queued = Effect.fnUntraced(function*(
      entry: OutboxEntry.OutboxEntry,
      request: KeyedRequest,
      at: Instant
    ): Effect.fn.Return<OutboxEntry.OutboxEnd> {
      const later = OutboxEntry.laterOf(entry, at)
      const read = reader.read(entry.message)
      const content = Result.getOrElse(read, () => OutboxEntry.unreadable(entry.message))
      if (Result.isFailure(read)) return OutboxEntry.refused(entry, read.failure, content)
      if (Result.isFailure(later)) return { _tag: "Failed", error: later.failure, content }
      const outcome = yield* Effect.result(orUnavailable(lifecycle.send({
        keyed: request,
        apiKeyId: null,
        queue: null,
        later: later.success,
        message: read.success,
        messageId: entry.messageId,
        requestId: yield* Id.generate(random, "req")
      })))
      if (Result.isFailure(outcome)) return OutboxEntry.refused(entry, outcome.failure, content)
      if (outcome.success._tag === "Refused") return OutboxEntry.refused(entry, outcome.success.error, content)
      if (outcome.success._tag === "Queued") yield* Metrics.sendEnded("queued")
      return { _tag: "Moved" }
    })

    const move = Effect.fnUntraced(function*(entry: OutboxEntry.OutboxEntry, token: string, at: Instant) {
      const { key, messageId, workspaceId } = entry
      const request: KeyedRequest = {
        workspaceId,
        route: OutboxEntry.route,
        key,
        fingerprint: yield* Idempotency.fingerprint(digest, { messageId })
      }
      const end = yield* queued(entry, request, at)
      if (end._tag === "Failed") {
        yield* Effect.logWarning(OutboxEntry.lineOf(messageId, end.error))
      }
      yield* store.end({
        now: yield* Clock.currentTimeMillis,
        entry,
        token,
        request,
        end,
        provider,
        ids: { events: [yield* Id.generate(random, "evt")], deliveries: [yield* Id.generate(random, "dlv")] }
      })
    })

    /** One piece of work. Returns whether there may be more. */
    const work = Effect.gen(function*() {
      const token = yield* random.uuidV4()
      const { at, entries } = yield* store.claim({ now: yield* Clock.currentTimeMillis, token, limit })
      yield* Effect.forEach(entries, (entry) => move(entry, token, at), { concurrency: "unbounded", discard: true })
      return entries.length > 0
    })

    const round = Effect.gen(function*() {
      while (yield* work);
    })
    yield* Effect.forkScoped(
      BackgroundLoop.make("work on the outbox", round, Effect.raceFirst(store.awaitHint, Effect.sleep(every)))
    )
  })
).pipe(Layer.provide(SendLifecycle.layer))
