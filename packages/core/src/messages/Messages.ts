/**
 * The service for callers' messages: sends each once per idempotency key, where a repeated request joins a send that is
 * in progress (contract §3 and §4); queues and cancels messages (contract §15); lists messages and conversations. Calls
 * `SendLifecycle` and `MessageStore`.
 */
import { Clock, Context, Deferred, Duration, Effect, Exit, Layer, Option, Result } from "effect"
import { Digest } from "effect/crypto"
import * as Contact from "../contacts/Contact.ts"
import { ContactStore } from "../contacts/ContactStore.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import * as CustomerRecords from "../contacts/CustomerRecords.ts"
import type { NumberPart } from "../contacts/NumberPart.ts"
import * as Elapsed from "../Elapsed.ts"
import { type DomainError, IdempotencyConflict, type NotFound, reasonOf, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Idempotency from "../Idempotency.ts"
import * as Lookup from "../Lookup.ts"
import * as Metrics from "../Metrics.ts"
import * as OutboxCancel from "../outbox/OutboxCancel.ts"
import type { Page, PageRequest } from "../Page.ts"
import { Provider } from "../provider/Provider.ts"
import type * as SendTimes from "../queue/SendTimes.ts"
import * as SharedPlaces from "../queue/SharedPlaces.ts"
import * as Span from "../Span.ts"
import { Stopping } from "../Stopping.ts"
import { orUnavailable, type StoreError } from "../StoreError.ts"
import type * as Conversation from "./Conversation.ts"
import type * as Message from "./Message.ts"
import {
  type CancelRefusal,
  type CancelSend,
  type KeyedRequest,
  type Later,
  type MessageFilter,
  MessageStore
} from "./MessageStore.ts"
import * as SendBinding from "./SendBinding.ts"
import { type Ended, SendLifecycle } from "./SendLifecycle.ts"

/** How often a request that joined checks for an answer stored by another process. */
const joinPoll = Duration.millis(100)

/**
 * The number of messages of batches that one process accepts at once: a full transaction, and half of the next one, which
 * is prepared meanwhile. So the send of another workspace waits for two transactions at most. More at once gain nothing
 * (docs/decisions/0050-the-queue.md).
 */
const acceptedAtOnce = 96

/**
 * How long a message of a batch may wait for its turn. The storage turns a command away after the same time, so that a
 * batch does not wait much longer than a send when the storage hangs.
 */
const longestWait = Duration.seconds(5)

/** The `Retry-After` when the maximum is reached. */
const overloadRetryAfter = Duration.seconds(1)

/** Method and route: the scope of a send's idempotency key. */
const routeOf = (apiKeyId: SendRequest["apiKeyId"]): string =>
  apiKeyId === null ? "POST /internal/messages" : "POST /v1/messages"

/** The request of an authenticated caller to send a message. */
export interface SendRequest {
  readonly workspaceId: Id.WorkspaceId
  /** `null` if a person sends the message from the dashboard. */
  readonly apiKeyId: Id.ApiKeyId | null
  readonly key: Idempotency.IdempotencyKey
  readonly requestId: Id.RequestId
  readonly message: Message.OutboundMessage
  /** How the message is to be queued; it is sent if omitted or `null`. */
  readonly later?: Later | null
}

/** A message of a batch. */
export interface BatchItem extends SendTimes.RequestedTimes, Pick<SendRequest, "key" | "message"> {}

/** The request of an authenticated caller to queue several messages. */
export interface BatchRequest extends Pick<SendRequest, "workspaceId" | "apiKeyId" | "requestId"> {
  readonly items: ReadonlyArray<BatchItem>
}

export class Messages extends Context.Service<Messages, {
  /**
   * Sends a message once per idempotency key (contract §3). From *accept* to *settle* it runs to completion, even if
   * the caller stops waiting. Fails with the errors of contract §2; only `outcome_unknown`, `delivery_unknown` and
   * `in_progress` mean that the message may have been sent or queued. Calls `SendBinding.ReplayObserver` if the answer is that of another
   * request.
   *
   * A message to be sent later is queued (contract §15), unless a check refuses it that does not depend on the time of
   * sending. A key gives its first answer again, whether or not a repeated request asks to send later.
   */
  readonly send: (request: SendRequest) => Effect.Effect<SendBinding.Sent | SendBinding.Queued, DomainError>
  /**
   * Queues several messages (contract §15), each as {@link send} would, to completion even if the caller stops waiting.
   * The results are in the order of the messages; a refused message does not affect the others. A process accepts the
   * messages of all workspaces' batches in turn, a bounded number at once; one that waits too long is refused with
   * `overloaded`. This spends no tokens of the workspace: the code that calls it must.
   */
  readonly sendBatch: (
    request: BatchRequest
  ) => Effect.Effect<ReadonlyArray<Result.Result<SendBinding.Sent | SendBinding.Queued, DomainError>>>
  /**
   * Cancels a queued message (`MessageStore.cancel`): once it has succeeded, the provider is never called for it. Safe
   * to repeat.
   */
  readonly cancel: (
    request: Pick<CancelSend, "workspaceId" | "boundTo"> & { readonly id: string }
  ) => Effect.Effect<Message.Message, CancelRefusal | NotFound | StoreError>
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Message.Message, NotFound | StoreError>
  /** A message that the workspace sent or received. */
  readonly find: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Conversation.Entry, NotFound | StoreError>
  /**
   * The messages of one customer, by any of their names, in one direction or both. Without a customer: the messages
   * that all customers wrote, or with the direction `outbound`, the messages that were sent to all customers. Newest
   * first.
   */
  readonly conversation: (
    workspaceId: Id.WorkspaceId,
    query: Conversation.Query,
    page: PageRequest
  ) => Effect.Effect<Page<Conversation.Entry>, StoreError>
  /** The messages of the customer of a contact, in both directions, newest first. The id is that of `Contacts.get`. */
  readonly conversationWith: (
    workspaceId: Id.WorkspaceId,
    contactId: string,
    page: PageRequest
  ) => Effect.Effect<Page<Conversation.Entry>, NotFound | StoreError>
  /** The numbers of customers who wrote or were written to, found by a part of the number. */
  readonly numbersWith: (
    workspaceId: Id.WorkspaceId,
    part: NumberPart,
    limit: number
  ) => Effect.Effect<ReadonlyArray<string>, StoreError>
  /**
   * Lists sent messages, newest first. `to` is any name of a customer, and finds the messages to each of their names.
   * With a filter, a page may hold fewer messages than its limit, or none, even if more follow.
   */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: Omit<MessageFilter, "to"> & { readonly to?: string },
    page: PageRequest
  ) => Effect.Effect<Page<Message.Message>, StoreError>
}>()("@wac/core/messages/Messages") {
  static readonly layer = Layer.effect(
    Messages,
    Effect.gen(function*() {
      const store = yield* MessageStore
      const contacts = yield* ContactStore
      const lifecycle = yield* SendLifecycle
      const digest = yield* Digest.Digest
      const stopping = yield* Stopping
      const { name: provider } = yield* Provider
      const enqueuedOf = yield* OutboxCancel.make
      const occupy = SharedPlaces.make(acceptedAtOnce)
      /** The sends in progress in this process, by key, each with its future answer for the requests that join. */
      const running = new Map<string, Deferred.Deferred<SendBinding.Answer>>()

      /** Fails with a refusal by our own checks and counts it. */
      const refused = <E extends DomainError>(error: E): Effect.Effect<never, E> =>
        Effect.andThen(Metrics.sendEnded("refused", reasonOf(error)), Effect.fail(error))

      const replay = (answer: SendBinding.Answer) =>
        Effect.andThen(Effect.andThen(Metrics.sendEnded("replayed"), SendBinding.observeReplay(answer)), give(answer))

      const inProgress = () =>
        refused(
          new ServerError({
            reason: "in_progress",
            message: "the same send is still running; repeat the request with the same Idempotency-Key",
            retryAfter: Idempotency.joinRetryAfter
          })
        )

      /**
       * Waits for the outcome of a send that runs in this or another process, until the process starts to stop.
       * `requestId` is the id of the waiting request.
       */
      const join = (keyed: KeyedRequest, requestId: Id.RequestId) =>
        Effect.gen(function*() {
          while (true) {
            const here = running.get(nameOf(keyed))
            if (here !== undefined) return yield* replay(yield* Deferred.await(here))
            yield* Effect.sleep(joinPoll)
            const verdict = yield* store.lookUp(keyed, yield* Clock.currentTimeMillis).pipe(orUnavailable)
            switch (verdict._tag) {
              case "Running":
                continue
              case "Answered":
                return yield* replay(verdict.answer)
              case "Unknown":
                // the answer of the first request, although its request id was not stored
                return yield* replay({ _tag: "Failed", error: SendBinding.unknown(verdict.reason), requestId })
              case "Released":
                return verdict.lastFailure === null ? yield* inProgress() : yield* replay(verdict.lastFailure)
              case "Unbound":
              case "Conflict":
                // the first request was refused just before the provider was called; a repeated one is judged again
                return yield* inProgress()
            }
          }
        }).pipe(
          Effect.raceFirst(Effect.andThen(stopping.begun, Effect.suspend(inProgress))),
          Effect.timeoutOrElse({ duration: Idempotency.joinTimeout, orElse: inProgress })
        )

      /** Lets other requests join a send until its end, and gives them its answer. */
      const joinable = (keyed: KeyedRequest, requestId: Id.RequestId) => (rest: Effect.Effect<Ended>) =>
        Effect.suspend(() => {
          const name = nameOf(keyed)
          const ended = Deferred.makeUnsafe<SendBinding.Answer>()
          running.set(name, ended)
          return Effect.onExit(rest, (exit) =>
            Effect.sync(() => {
              running.delete(name)
              Deferred.doneUnsafe(ended, Exit.succeed(answerOf(exit, requestId)))
            }))
        })

      /** Sends, without waiting for another request that sends the same. */
      const sendOrFind = Effect.fnUntraced(
        function*(
          { apiKeyId, key, later = null, message, requestId, ...request }: SendRequest
        ): Effect.fn.Return<SendBinding.Sent | SendBinding.Queued | Elsewhere, DomainError> {
          const keyed: KeyedRequest = {
            workspaceId: request.workspaceId,
            route: routeOf(apiKeyId),
            key,
            fingerprint: yield* Idempotency.fingerprint(digest, {
              ...message,
              sendAt: later?.sendAt,
              sendUntil: later?.sendUntil
            })
          }
          const outcome = yield* lifecycle.send({
            keyed,
            apiKeyId,
            queue: null,
            later,
            message,
            requestId,
            around: joinable(keyed, requestId)
          }).pipe(orUnavailable, Effect.tapError(({ reason }) => Metrics.sendEnded("refused", reason)))
          switch (outcome._tag) {
            case "Ended":
              return yield* give(outcome.answer)
            case "Queued":
              yield* Metrics.sendEnded("queued")
              return outcome.answer
            case "Refused":
              return yield* outcome.error
            case "Conflict":
              return yield* refused(
                new IdempotencyConflict({
                  reason: "payload_mismatch",
                  message: "the Idempotency-Key was already used with a different body"
                })
              )
            case "Answered":
              return yield* replay(outcome.answer)
            case "Unknown":
              yield* Metrics.sendEnded("replayed")
              return yield* SendBinding.unknown(outcome.reason)
            case "Running":
              return { _tag: "Elsewhere", keyed }
          }
        }
      )

      const overloaded = () =>
        refused(
          new ServerError({
            reason: "overloaded",
            message: "too many sends are in flight; repeat the request with the same Idempotency-Key",
            retryAfter: overloadRetryAfter
          })
        )

      /** Runs in its own fiber, as the caller may stop waiting. Stopping the process waits for it. */
      const run = Effect.fnUntraced(function*<A>(sending: Effect.Effect<A, DomainError>) {
        const ended = yield* lifecycle.run(sending)
        if (Option.isNone(ended)) return yield* overloaded()
        return yield* Exit.hasInterrupts(ended.value) ? SendBinding.unknown("outcome_unknown") : ended.value
      })

      const joinElsewhere = (requestId: Id.RequestId) => (found: SendBinding.Sent | SendBinding.Queued | Elsewhere) =>
        found._tag === "Elsewhere" ? join(found.keyed, requestId) : Effect.succeed(found)

      const send = (request: SendRequest) => run(Effect.flatMap(sendOrFind(request), joinElsewhere(request.requestId)))

      const sendBatch = Effect.fnUntraced(
        function*({ items, ...request }: BatchRequest) {
          const begun = yield* Elapsed.now
          const inTurn = occupy(request.workspaceId)
          const sendItem = ({ key, message, ...times }: BatchItem) =>
            Effect.flatMap(Elapsed.now, (now) =>
              now - begun >= Duration.toMillis(longestWait)
                ? overloaded()
                : run(sendOrFind({ ...request, key, message, later: { ...times, isInBatch: true } })))
          const sending = Effect.forEach(
            items,
            // a place is for *accept*, which is short; who joins waits without one
            (item) =>
              inTurn(sendItem(item)).pipe(
                Effect.flatMap((found) =>
                  found._tag === "Elsewhere" ? run(joinElsewhere(request.requestId)(found)) : Effect.succeed(found)
                ),
                Effect.result
              ),
            { concurrency: "unbounded" }
          )
          const ended = yield* Effect.result(run(sending))
          return Result.isSuccess(ended) ? ended.success : items.map(() => Result.fail(ended.failure))
        },
        // an item may get the answer of an earlier request; the response to the batch is still not a replay
        Effect.provideService(SendBinding.ReplayObserver, () => {})
      )

      const cancel = ({ id: text, ...request }: Parameters<Messages["Service"]["cancel"]>[0]) =>
        Effect.flatMap(
          Lookup.find(
            "message",
            Id.parse(Id.MessageId, text),
            Effect.fnUntraced(function*(messageId) {
              const now = yield* Clock.currentTimeMillis
              const enqueued = yield* enqueuedOf(messageId, provider)
              return yield* store.cancel({ ...request, now, messageId, enqueued })
            })
          ),
          Effect.fromResult
        )

      const get = (workspaceId: Id.WorkspaceId, text: string) =>
        Lookup.find("message", Id.parse(Id.MessageId, text), (id) => store.get(workspaceId, id))

      const find = (workspaceId: Id.WorkspaceId, text: string) =>
        Lookup.find(
          "message",
          Id.parse(Id.MessageId, text),
          Effect.fnUntraced(function*(id) {
            const sent = yield* store.get(workspaceId, id)
            if (Option.isSome(sent)) {
              return Option.some<Conversation.Entry>({ direction: "outbound", message: sent.value })
            }
            return Option.map(
              yield* store.received(workspaceId, id),
              (message): Conversation.Entry => ({ direction: "inbound", message })
            )
          })
        )

      const namesOf = (workspaceId: Id.WorkspaceId, name: string) =>
        Effect.map(
          contacts.named(workspaceId, CustomerNames.keyOf(name)),
          (known) => CustomerRecords.namesOf(name, known).texts
        )

      const conversation = Effect.fnUntraced(function*(
        workspaceId: Id.WorkspaceId,
        { contact, direction }: Conversation.Query,
        page: PageRequest
      ) {
        if (contact === undefined && direction === "outbound") {
          const { items, next } = yield* list(workspaceId, {}, page)
          return { items: items.map((message) => ({ direction, message })), next }
        }
        const filter: Conversation.Filter = contact === undefined
          ? { names: undefined, direction: "inbound" }
          : { names: yield* namesOf(workspaceId, contact), direction }
        return yield* store.conversation(workspaceId, filter, page)
      })

      const conversationWith = Effect.fnUntraced(function*(
        workspaceId: Id.WorkspaceId,
        contactId: string,
        page: PageRequest
      ) {
        const known = yield* Lookup.find(
          "contact",
          Contact.parse(contactId),
          Effect.fnUntraced(function*({ name, phoneNumberId }) {
            const asked = CustomerNames.keyOf(name)
            const known = yield* contacts.named(workspaceId, asked)
            const contact = known.find((one) => one.phoneNumberId === phoneNumberId)
            if (contact === undefined) return Option.none()
            const { key } = contact
            return Option.some({ key, all: key === asked ? known : yield* contacts.named(workspaceId, key) })
          })
        )
        const names = CustomerRecords.namesOf(known.key, known.all).texts
        return yield* store.conversation(workspaceId, { names, direction: undefined }, page)
      })

      const list = Effect.fnUntraced(function*(
        workspaceId: Id.WorkspaceId,
        { to, ...filter }: Omit<MessageFilter, "to"> & { readonly to?: string },
        page: PageRequest
      ) {
        if (to === undefined) return yield* store.list(workspaceId, filter, page)
        return yield* store.list(workspaceId, { ...filter, to: yield* namesOf(workspaceId, to) }, page)
      })

      const withSpan = yield* Span.ifTraced("Messages.send")
      return Messages.of({
        send: (request) =>
          withSpan(send(request), () => ({
            attributes: {
              "wac.workspace.id": request.workspaceId,
              "wac.request.id": request.requestId,
              "wac.api_key.id": request.apiKeyId ?? undefined
            }
          })),
        sendBatch,
        cancel,
        get,
        find,
        conversation,
        conversationWith,
        numbersWith: store.numbersWith,
        list
      })
    })
  ).pipe(Layer.provide(SendLifecycle.layer))
}

/** Another request sends the same at the moment. */
interface Elsewhere {
  readonly _tag: "Elsewhere"
  readonly keyed: KeyedRequest
}

const nameOf = ({ key, route, workspaceId }: KeyedRequest): string => `${workspaceId} ${route} ${key}`

const give = (answer: SendBinding.Answer): Effect.Effect<SendBinding.Sent | SendBinding.Queued, DomainError> =>
  answer._tag === "Failed" ? Effect.fail(answer.error) : Effect.succeed(answer)

/** The answer to the requests that joined a send. */
const answerOf = (exit: Exit.Exit<Ended>, requestId: Id.RequestId): SendBinding.Answer =>
  Exit.isSuccess(exit)
    ? exit.value.answer
    : { _tag: "Failed", error: SendBinding.unknown("outcome_unknown"), requestId }
