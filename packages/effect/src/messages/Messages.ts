/**
 * Sending and reading messages (specification §4, contract §3), for the host.
 */
import { MessagesApi } from "@wac/api"
import {
  Batch,
  type Conversation,
  Errors,
  Id,
  type Idempotency,
  type Message as Core,
  Messages as Service,
  ReadMarks,
  type ReceivedMessage,
  SendBinding,
  type SendTimes as Asked,
  StoreError,
  Time,
  WorkspaceStore,
  WorkspaceTokens
} from "@wac/core"
import { MessagesHandlers } from "@wac/http"
import { DateTime, Effect, Option, Record, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as CallOptions from "../CallOptions.ts"
import type { TemplateMessage } from "../generated/AccountTemplates.ts"
import type * as Messaging from "../generated/Messaging.ts"
import type {
  AnyMessage,
  InboundMessage,
  Message,
  NewMessage,
  QueuedMessage,
  QueueItem,
  RefusedMessage,
  Replayed,
  SendTimes,
  SentMessage
} from "../generated/Messaging.ts"
import * as Input from "../Input.ts"
import { HostKeys } from "../keys/HostKeys.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"
import { inMillis, written, writtenTimes } from "../TimeInput.ts"
import { ofDomain } from "../WacError.ts"
import * as Enqueuing from "./Enqueuing.ts"

/** A message of any kind but a template. It can be sent only within 24 hours after the recipient last wrote. */
export type FreeFormMessage = Exclude<NewMessage, TemplateMessage>

/** The messages of a workspace. */
export interface Messages extends Messaging.Messages {
  readonly enqueue: {
    /**
     * Enqueues a message in your own transaction: it is sent if the transaction commits, through any crash, and not if
     * it is rolled back. Checks the message and its sender; what refuses the message later, such as a missing template,
     * makes it `failed`, with its event. The key counts only for this kind of call, and a different message under it
     * rejects with `idempotency_conflict`. Errors of your library, such as a failed serialization, are its own.
     */
    (message: NewMessage, options: Enqueuing.InTransaction): Promise<Enqueuing.EnqueuedMessage>
    (...given: Parameters<Messaging.Messages["enqueue"]>): ReturnType<Messaging.Messages["enqueue"]>
  }
  readonly list: (
    filter?: Messaging.MessageFilter & {
      /** The provider's id of the message. */
      readonly providerMessageId?: string
    },
    options?: Messaging.CallOptions
  ) => Listing.Listing<Message>
}

const readMessage = Input.reader(MessagesApi.NewMessage)
const readMark = Input.reader(MessagesApi.MarkRead)
const readTimes = Input.reader(Schema.Struct(MessagesApi.sendTimes))
const readFilter = Input.read(Schema.Struct(MessagesApi.filter))
const readQuery = Input.read(Schema.Struct(MessagesApi.conversation))

const shown = (message: Core.Message) => MessagesHandlers.shown(message) as Message

/** Reads the times of a queued message, in milliseconds. Errors use the host's names. */
const askedTimes = (times: SendTimes): Result.Result<Asked.RequestedTimes, Errors.InvalidBody> =>
  Result.map(
    readTimes(writtenTimes({ sendAt: times?.sendAt, sendUntil: times?.sendUntil })),
    (read) => Record.map(read as { readonly [name: string]: DateTime.Utc }, DateTime.toEpochMillis)
  )

const hostNames = new Map([["send_at", "sendAt"], ["send_until", "sendUntil"]])

/** Renames the times in an error to the host's names. */
const inHostNames = (error: Errors.DomainError): Errors.DomainError => {
  if (error._tag !== "InvalidBody" || !hostNames.has(error.param ?? "")) return error
  return new Errors.InvalidBody({
    reason: error.reason,
    param: hostNames.get(error.param!)!,
    message: error.message.replaceAll(/send_at|send_until/g, (name) => hostNames.get(name)!)
  })
}

/**
 * The answer to `send`. Fails with a conflict if the key belongs to a queued message, so that the host learns that this
 * call did not send it.
 */
export const sentAtOnce = <Answer extends SendBinding.Sent | SendBinding.Queued>(
  answer: Answer
): Effect.Effect<Extract<Answer, { readonly _tag: "Sent" }>, Errors.IdempotencyConflict> =>
  answer._tag === "Sent" ? Effect.succeed(answer as never) : Effect.fail(
    new Errors.IdempotencyConflict({
      reason: "payload_mismatch",
      message: `the idempotency key was used to queue this message: ${answer.messageId} is sent at its time`
    })
  )

/** A checked message, with its key and times. */
interface Readable {
  readonly key: Idempotency.IdempotencyKey
  readonly message: Core.OutboundMessage
  readonly times: Asked.RequestedTimes
}

const readItem = (
  message: NewMessage,
  key: Readable["key"],
  times: SendTimes | undefined
): Result.Result<Readable, Errors.InvalidBody> =>
  Result.all({ message: readMessage(message), key: Result.succeed(key), times: askedTimes(times ?? {}) })

const received = (message: ReceivedMessage.ReceivedMessage) =>
  ({
    // the content comes first, so that no type can take the place of a field
    [message.type]: message.content,
    direction: "inbound",
    status: "received",
    messageId: message.id,
    providerMessageId: message.providerMessageId,
    workspaceId: message.workspaceId,
    from: message.from,
    fromUserId: message.fromUserId,
    to: message.to,
    type: message.type,
    context: message.context,
    receivedAt: Time.iso(message.receivedAt)
  }) as InboundMessage

const either = (entry: Conversation.Entry): AnyMessage =>
  entry.direction === "inbound" ? received(entry.message) : shown(entry.message)

const conversationMessage = (entry: Conversation.Entry): AnyMessage =>
  entry.direction === "inbound"
    ? received(entry.message)
    : { ...shown(entry.message), ...MessagesHandlers.contentOf(entry.message) }

export const make = Effect.gen(function*() {
  const messages = yield* Service.Messages
  const readMarks = yield* ReadMarks.ReadMarks
  const hostKeys = yield* HostKeys
  const enqueuing = yield* Enqueuing.make
  const random = yield* SecureRandom.SecureRandom
  const workspaces = yield* WorkspaceStore.WorkspaceStore
  const spend = yield* WorkspaceTokens.spender

  /** Requests a send with the host's API key in a workspace. Calls `named` with the request's id. */
  const ask = Effect.fnUntraced(function*(
    workspaceId: Id.WorkspaceId,
    command: Pick<Service.SendRequest, "key" | "later" | "message">,
    named: (requestId: Id.RequestId) => void
  ) {
    let replayed = false
    const own = yield* hostKeys.of(workspaceId)
    const requestId = yield* Id.generate(random, "req")
    named(requestId)
    const answer = yield* Effect.provideService(
      messages.send({ workspaceId, apiKeyId: own, requestId, ...command }),
      SendBinding.ReplayObserver,
      () => {
        replayed = true
      }
    )
    // under idempotency keys of this route, only API keys send
    return { ...answer, apiKeyId: answer.apiKeyId ?? own, replayed }
  })

  type Answered = Effect.Success<ReturnType<typeof ask>>

  const sent = (
    { apiKeyId, messageId, providerMessageId, replayed, workspaceId }: Extract<Answered, { readonly _tag: "Sent" }>
  ): SentMessage & Replayed => ({ status: "sent", messageId, providerMessageId, workspaceId, apiKeyId, replayed })

  const accepted = (answer: Answered): (QueuedMessage | SentMessage) & Replayed => {
    if (answer._tag === "Sent") return sent(answer)
    const { apiKeyId, messageId, replayed, sendAt, workspaceId } = answer
    return { status: "queued", messageId, workspaceId, apiKeyId, sendAt: Time.iso(sendAt), replayed }
  }

  /**
   * Requests several messages with the host's API key, in turn with the batches of other workspaces. The answers are in
   * the order of the messages.
   */
  const askAll = (
    workspaceId: Id.WorkspaceId,
    requestId: Id.RequestId,
    items: ReadonlyArray<Readable>
  ): Effect.Effect<ReadonlyArray<Result.Result<QueuedMessage | SentMessage, Errors.DomainError>>> =>
    Effect.gen(function*() {
      const own = yield* hostKeys.of(workspaceId)
      const answers = yield* messages.sendBatch({
        workspaceId,
        apiKeyId: own,
        requestId,
        items: items.map(({ key, message, times }) => ({ key, message, ...times }))
      })
      return answers.map(Result.map((answer) => {
        const { replayed: _, ...result } = accepted({
          ...answer,
          apiKeyId: answer.apiKeyId ?? own,
          replayed: false
        })
        return result
      }))
    }).pipe(
      StoreError.orUnavailable,
      // nothing is sent without the host's key
      Effect.catch((error) => Effect.succeed(items.map(() => Result.fail(error))))
    )

  /** How a call with an idempotency key is run. `note` takes the request's id, which errors show. */
  const keyed = (options: Messaging.SendOptions | undefined, ...names: ReadonlyArray<string>) => {
    const key = CallOptions.keyOf(options)
    const noted: { requestId?: Id.RequestId } = {}
    return {
      key,
      note: (id: Id.RequestId) => void (noted.requestId = id),
      call: {
        options,
        names: ["idempotencyKey", ...names],
        // the first two lines are frames of this package
        lines: 4,
        requestId: () => noted.requestId,
        idempotencyKey: Result.getOrUndefined(key)
      }
    }
  }

  return (running: Running, workspaceId: Id.WorkspaceId): Messages => ({
    send: (message, options) => {
      const { call, key, note } = keyed(options)
      const read = Result.all({ message: readMessage(message), key })
      return running.run(
        Result.isFailure(read)
          ? Effect.fail(read.failure)
          : ask(workspaceId, { ...read.success, later: null }, note).pipe(
            Effect.flatMap(sentAtOnce),
            Effect.map(sent)
          ),
        call
      )
    },
    enqueue: ((message: NewMessage, options?: Messaging.EnqueueOptions | Enqueuing.InTransaction) => {
      const { call, key, note } = keyed(options, "sendAt", "sendUntil", "tx")
      const item = Result.flatMap(key, (key) => readItem(message, key, options))
      if (Enqueuing.isIn(options)) {
        const enqueued = Effect.fromResult(item).pipe(
          Effect.flatMap((item) => enqueuing(workspaceId, item, options.tx)),
          // the host gets its own library's errors as they are
          Effect.flatMap(({ run }) => Effect.promise(() => Promise.allSettled([run()])))
        )
        // nothing of wac's is left to do after the host has given up: it rolls its transaction back
        return running.run(enqueued, { ...call, stops: true, looksUp: true }).then(([settled]) => {
          if (settled.status === "rejected") throw settled.reason
          return settled.value
        })
      }
      return running.run(
        Result.isFailure(item)
          ? Effect.fail(item.failure)
          : Effect.suspend(() => {
            const { key, message, times } = item.success
            return ask(workspaceId, { key, message, later: { ...times, isInBatch: false } }, note)
          }).pipe(StoreError.orUnavailable, Effect.mapError(inHostNames), Effect.map(accepted)),
        call
      )
    }) as Messages["enqueue"],
    enqueueMany: (items, options) =>
      running.run(
        Effect.gen(function*() {
          if (!Array.isArray(items) || items.length < 1 || items.length > Batch.maxMessages) {
            return yield* new Errors.InvalidBody({
              reason: "invalid_field",
              param: "messages",
              message: `messages must be an array of 1 to ${Batch.maxMessages}`
            })
          }
          const found = yield* workspaces.get(workspaceId)
          // if the workspace does not exist, each item is refused below
          if (Option.isSome(found)) yield* spend(found.value, { tokens: Batch.costOf(items.length), paid: 0 })
          const read = Array.from(items as ReadonlyArray<QueueItem>, (item) => {
            const { idempotencyKey, sendAt, sendUntil, ...message } = item ?? {}
            return {
              idempotencyKey,
              item: Result.flatMap(
                Input.idempotencyKey(idempotencyKey),
                (key) => readItem(message as NewMessage, key, { sendAt, sendUntil } as SendTimes)
              )
            }
          })
          const requestId = yield* Id.generate(random, "req")
          const readable = read.map(({ item }) => item).filter(Result.isSuccess).map(({ success }) => success)
          const answers = (yield* askAll(workspaceId, requestId, readable)).values()
          return read.map(({ idempotencyKey, item }): QueuedMessage | SentMessage | RefusedMessage => {
            const answer = Result.isSuccess(item) ? answers.next().value! : Result.fail(item.failure)
            if (Result.isSuccess(answer)) return answer.success
            return { status: "refused", error: ofDomain(inHostNames(answer.failure), { requestId, idempotencyKey }) }
          })
        }),
        { options }
      ),
    cancel: (messageId, options) =>
      running.run(Effect.map(messages.cancel({ workspaceId, boundTo: null, id: `${messageId}` }), shown), { options }),
    markRead: (messageId, options) => {
      const { call, key } = keyed(options, "typing")
      const id = `${messageId}`
      const read = Result.all({ key, mark: readMark({ typing: options?.typing }) })
      return running.run(
        Result.isFailure(read)
          ? Effect.fail(read.failure)
          : Effect.as(
            readMarks.mark({
              workspaceId,
              boundTo: null,
              key: read.success.key,
              id,
              isTyping: read.success.mark.typing ?? false
            }),
            { messageId: id, status: "read" as const }
          ),
        call
      )
    },
    get: (messageId, options) => running.run(Effect.map(messages.find(workspaceId, messageId), either), { options }),
    conversation: (filter = {}, options) =>
      Listing.make(
        running,
        "msg",
        (page) =>
          Effect.flatMap(
            readQuery(filter),
            (query) => messages.conversation(workspaceId, query, page)
          ),
        // like the list of sent messages, which it is
        filter?.contact === undefined ? either : conversationMessage,
        options
      ),
    list: (filter = {}, options) =>
      Listing.make(
        running,
        "msg",
        (page) =>
          Effect.flatMap(
            readFilter(written(filter)),
            (filter) => messages.list(workspaceId, inMillis(filter), page)
          ),
        shown,
        options
      )
  })
})
