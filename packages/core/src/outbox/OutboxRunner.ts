/**
 * The background task that moves messages from the outbox, where hosts enqueued them in their own transactions, into
 * the queue (contract §16). Calls `OutboxStore` and `SendLifecycle`.
 */
import { Cause, Clock, Context, Duration, Effect, Layer, Result } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import { type DomainError, internal, type InvalidBody } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Idempotency from "../Idempotency.ts"
import { errorOf, notSentInTime, type OutboundMessage } from "../messages/Message.ts"
import type { KeyedRequest } from "../messages/MessageStore.ts"
import { SendLifecycle } from "../messages/SendLifecycle.ts"
import * as Metrics from "../Metrics.ts"
import { Provider } from "../provider/Provider.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { orUnavailable } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as WholePieces from "../WholePieces.ts"
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

/**
 * The fingerprint of an entry's key. The SQL function has already compared the messages under a key, so it covers only
 * the message id, which every version of the service reads alike.
 */
export const fingerprintOf = (digest: Digest.Digest["Service"], messageId: Id.MessageId): Effect.Effect<string> =>
  Idempotency.fingerprint(digest, { messageId })

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
    const waits = RepeatedFailure.make()
    const whole = yield* WholePieces.make

    /**
     * Prepares to queue an entry under its own key and message id, so that a repetition after a crash finds it queued.
     */
    const prepared = Effect.fnUntraced(function*(
      entry: OutboxEntry.OutboxEntry,
      request: KeyedRequest,
      at: Instant
    ): Effect.fn.Return<Effect.Effect<OutboxEntry.OutboxEnd>> {
      const later = OutboxEntry.laterOf(entry, at)
      const read = reader.read(entry.message)
      const content = Result.getOrElse(read, () => OutboxEntry.unreadable(entry.message))
      const refused = (
        refusal: { readonly error: DomainError; readonly blockedUntil?: Instant }
      ): Effect.Effect<OutboxEntry.OutboxEnd> => {
        const end = OutboxEntry.refused(entry, refusal, content)
        if (end._tag !== "Again") return Effect.succeed(end)
        const cause = errorOf(refusal.error)
        return Effect.as(waits(cause.reason ?? cause.code, OutboxEntry.againLineOf(entry.messageId, cause)), end)
      }
      if (Result.isFailure(read)) return refused({ error: read.failure })
      if (Result.isFailure(later)) return Effect.succeed({ _tag: "Failed", error: later.failure, content })
      const ready = yield* Effect.result(orUnavailable(lifecycle.prepare({
        keyed: request,
        apiKeyId: null,
        queue: null,
        later: later.success,
        message: read.success,
        messageId: entry.messageId,
        isCommitted: true,
        requestId: yield* Id.generate(random, "req")
      })))
      if (Result.isFailure(ready)) return refused({ error: ready.failure })
      return Effect.matchEffect(orUnavailable(ready.success), {
        onFailure: (error) => refused({ error }),
        onSuccess: (outcome) =>
          outcome._tag === "Refused"
            ? refused(outcome)
            : Effect.as(outcome._tag === "Queued" ? Metrics.sendEnded("queued") : Effect.void, { _tag: "Moved" })
      })
    })

    /**
     * An entry on which code fails is tried again until its time is over, so that it stops no other of its workspace for
     * good.
     */
    const defective = (entry: OutboxEntry.OutboxEntry, at: Instant) =>
    (
      cause: Cause.Cause<never>
    ): Effect.Effect<OutboxEntry.OutboxEnd> => {
      if (Cause.hasInterrupts(cause)) return Effect.failCause(cause)
      if (OutboxEntry.isOver(entry, at)) {
        return Effect.succeed({
          _tag: "Failed",
          error: notSentInTime,
          content: OutboxEntry.unreadable(entry.message)
        })
      }
      const error = internal()
      const end = OutboxEntry.again(entry, error)
      return Effect.as(waits(entry.messageId, OutboxEntry.againLineOf(entry.messageId, errorOf(error)), cause), end)
    }

    /** Prepares to move an entry into the queue. The returned effect moves it. */
    const move = Effect.fnUntraced(function*(entry: OutboxEntry.OutboxEntry, token: string, at: Instant) {
      const { key, messageId, workspaceId } = entry
      const request: KeyedRequest = {
        workspaceId,
        route: OutboxEntry.route,
        key,
        fingerprint: yield* fingerprintOf(digest, messageId)
      }
      const queue = yield* Effect.catchCause(
        prepared(entry, request, at),
        (cause) => Effect.map(defective(entry, at)(cause), Effect.succeed)
      )
      return Effect.flatMap(
        Effect.catchCause(queue, defective(entry, at)),
        Effect.fnUntraced(function*(end) {
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
      )
    })

    const together = { concurrency: "unbounded" } as const

    /**
     * Moves entries of one workspace. Each is prepared before the first is queued, because those whose files are kept
     * first take longer. They are then accepted in one batch, in their order. If the storage cannot record the end of
     * one, the others have theirs.
     */
    const moveAll = (entries: ReadonlyArray<OutboxEntry.OutboxEntry>, token: string, at: Instant) =>
      Effect.flatMap(
        Effect.forEach(entries, (entry) => move(entry, token, at), together),
        (moves) => RepeatedFailure.each(moves, (move) => move, together)
      )

    /** One piece of work. Returns whether there may be more. */
    const work = Effect.gen(function*() {
      const token = yield* random.uuidV4()
      const { at, entries } = yield* store.claim({ now: yield* Clock.currentTimeMillis, token, limit })
      const lines = Map.groupBy(entries, ({ workspaceId }) => workspaceId)
      yield* RepeatedFailure.each(lines.values(), (line) => moveAll(line, token, at), together)
      return entries.length > 0
    })

    const round = Effect.gen(function*() {
      while (yield* whole(work));
    })
    yield* Effect.forkScoped(
      BackgroundLoop.make("work on the outbox", round, Effect.raceFirst(store.awaitHint, Effect.sleep(every)))
    )
  })
).pipe(Layer.provide(SendLifecycle.layer))
