/**
 * The handlers of `/v1/messages` and `/internal/messages`: sending, reading and cancelling messages.
 */
import { Api, Caller, ErrorBody } from "@wac/api"
import {
  Batch,
  Conversation,
  Errors,
  type Id,
  Idempotency,
  type Message,
  Messages,
  type MessageStore,
  ReadMarks,
  type ReceivedMessage,
  SendBinding,
  type SendTimes,
  StoreError,
  Time
} from "@wac/core"
import { DateTime, Effect, Layer, Result, type Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as WorkspaceLimit from "../limits/WorkspaceLimit.ts"
import * as Paging from "../Paging.ts"
import * as BatchItem from "./BatchItem.ts"
import * as Prefer from "./Prefer.ts"

/** A message that was sent, or is to be, without its content. */
export const shown = (message: Message.Message) => ({
  direction: "outbound" as const,
  status: message.status,
  messageId: message.id,
  providerMessageId: message.providerMessageId,
  workspaceId: message.workspaceId,
  apiKeyId: message.apiKeyId,
  to: message.content.to,
  from: message.from,
  type: message.content.type,
  createdAt: Time.iso(message.createdAt),
  sendAt: Time.isoOrNull(message.sendAt),
  sentAt: Time.isoOrNull(message.sentAt),
  deliveredAt: Time.isoOrNull(message.deliveredAt),
  readAt: Time.isoOrNull(message.readAt),
  failedAt: Time.isoOrNull(message.failedAt),
  error: message.error,
  clientReference: message.content.clientReference ?? null,
  pricing: message.pricing,
  playedAt: Time.isoOrNull(message.playedAt)
})

const received = (message: ReceivedMessage.ReceivedMessage) => ({
  // the content comes first, so that no type can take the place of a field
  [message.type]: message.content,
  direction: "inbound" as const,
  status: "received" as const,
  message_id: message.id,
  provider_message_id: message.providerMessageId,
  tenant_id: message.workspaceId,
  from: message.from,
  from_user_id: message.fromUserId,
  to: message.to,
  type: message.type,
  context: message.context,
  received_at: Time.iso(message.receivedAt)
})

/** The times of a request to send later. */
interface TimesGiven {
  readonly sendAt?: DateTime.Utc
  readonly sendUntil?: DateTime.Utc
}

const timesOf = ({ sendAt, sendUntil }: TimesGiven): SendTimes.RequestedTimes => ({
  ...(sendAt === undefined ? {} : { sendAt: DateTime.toEpochMillis(sendAt) }),
  ...(sendUntil === undefined ? {} : { sendUntil: DateTime.toEpochMillis(sendUntil) })
})

/** How a message is queued; `null` if it is sent now. `isAsked` is whether the header `Prefer` asks for queueing. */
const laterOf = (given: TimesGiven, isAsked: boolean): MessageStore.Later | null =>
  given.sendAt !== undefined || isAsked
    ? { ...timesOf(given), isInBatch: false }
    : given.sendUntil === undefined
    ? null
    : {
      ...timesOf(given),
      isInBatch: false,
      // the same body may have been queued before, with the header
      refusal: new Errors.InvalidBody({
        reason: "invalid_field",
        param: "send_until",
        message: "send_until is only for a message that is queued: give send_at too" +
          ", or the header Prefer: respond-async"
      })
    }

type Answer = SendBinding.Sent | SendBinding.Queued

/** The response to a send with an API key. Only sends of other routes have no API key in their answer. */
const answered = (answer: Answer, ownKey: Id.ApiKeyId) => {
  const { apiKeyId, messageId, workspaceId } = answer
  return answer._tag === "Sent"
    ? {
      status: "sent" as const,
      message_id: messageId,
      provider_message_id: answer.providerMessageId,
      tenant_id: workspaceId,
      api_key_id: apiKeyId ?? ownKey
    }
    : {
      status: "queued" as const,
      message_id: messageId,
      tenant_id: workspaceId,
      api_key_id: apiKeyId ?? ownKey,
      send_at: Time.iso(answer.sendAt)
    }
}

/** A message's content, with the field names of the request. They differ from the stored names only for a text. */
export const contentOf = (message: Message.Message) => {
  const content = Conversation.contentOf(message) as { readonly text?: Message.TextContent }
  const { text } = content
  return text?.previewUrl === undefined
    ? content
    : { ...content, text: { body: text.body, preview_url: text.previewUrl } }
}

/** The content of a message that was sent, and the message that it quotes. */
export const sentContent = (message: Message.Message) => {
  const { content } = message
  return {
    content: (contentOf(message) as { readonly [type: string]: Schema.Json })[content.type]!,
    context: "context" in content ? content.context ?? null : null
  }
}

/** A message that was sent, or is to be, on its page of the dashboard. */
const detailed = (message: Message.Message) => ({
  ...shown(message),
  ...sentContent(message),
  campaignId: message.campaignId
})

/** A message in either direction, as `GET /v1/messages/{id}` answers it. */
const either = (entry: Conversation.Entry) =>
  entry.direction === "inbound" ? received(entry.message) : shown(entry.message)

/** A message of a conversation. */
const conversationMessage = (entry: Conversation.Entry) =>
  entry.direction === "inbound" ? received(entry.message) : { ...shown(entry.message), ...contentOf(entry.message) }

const publicLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const messages = yield* Messages.Messages
    const readMarks = yield* ReadMarks.ReadMarks
    const surcharge = yield* WorkspaceLimit.surcharge
    return HttpApiBuilder.group(Api, "messages", (handlers) =>
      handlers.handleAll({
        read: Effect.fnUntraced(function*({ headers, params, payload }) {
          const { key, workspace } = yield* Caller.Caller
          const messageId = yield* readMarks.mark({
            workspaceId: workspace.id,
            key: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])),
            boundTo: key.phoneNumberIds,
            id: params.id,
            isTyping: payload.typing ?? false
          })
          return { message_id: messageId, status: "read" as const }
        }),
        send: Effect.fnUntraced(function*({ headers, payload }) {
          const { key, workspace } = yield* Caller.Caller
          const exchange = yield* Exchange
          const { sendAt: _sendAt, sendUntil: _sendUntil, ...message } = payload
          const isAsked = Prefer.asksForAsync(headers.prefer)
          const answer = yield* messages.send({
            workspaceId: workspace.id,
            apiKeyId: key.id,
            key: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])),
            requestId: exchange.requestId,
            message,
            later: laterOf(payload, isAsked)
          })
          exchange.isPreferenceApplied = isAsked && answer._tag === "Queued"
          exchange.changed = { target: answer.messageId }
          return answered(answer, key.id)
        }),
        batch: Effect.fnUntraced(function*({ payload }) {
          const principal = yield* Caller.Caller
          const { key, workspace } = principal
          const { errorsPage, requestId } = yield* Exchange
          yield* surcharge(principal, Batch.costOf(payload.messages.length))
          const items = yield* BatchItem.readAll(payload.messages)
          const answers = yield* messages.sendBatch({
            workspaceId: workspace.id,
            apiKeyId: key.id,
            requestId,
            items: items.filter(Result.isSuccess).map(({ success: { times, ...item } }) => ({
              ...item,
              ...timesOf(times)
            }))
          })
          const next = answers.values()
          return {
            results: items.map((item) => {
              const answer: Result.Result<Answer, Errors.DomainError> = Result.isSuccess(item)
                ? next.next().value!
                : Result.fail(item.failure)
              if (Result.isSuccess(answer)) return answered(answer.success, key.id)
              const wait = ErrorBody.retryAfterOf(answer.failure)
              return {
                status: "refused" as const,
                http_status: ErrorBody.statusOf(answer.failure),
                ...(wait === undefined ? {} : { retry_after: wait }),
                ...ErrorBody.bodyOf(answer.failure, requestId, errorsPage)
              }
            })
          }
        }, StoreError.orUnavailable),
        cancel: Effect.fnUntraced(function*({ params }) {
          const { key, workspace } = yield* Caller.Caller
          const { id } = params
          return shown(yield* messages.cancel({ workspaceId: workspace.id, boundTo: key.phoneNumberIds, id }))
        }, StoreError.orUnavailable),
        list: Effect.fnUntraced(function*({ query }) {
          const { workspace } = yield* Caller.Caller
          const { client_reference: clientReference, contact, direction, since, status, to, until } = query
          const asked = {
            ...(contact === undefined ? {} : { contact }),
            ...(direction === undefined ? {} : { direction })
          }
          if (Conversation.isAskedFor(asked)) {
            const refusal = Conversation.refusal({ status, to, client_reference: clientReference, since, until })
            if (refusal !== undefined) return yield* refusal
            return Paging.list(
              yield* messages.conversation(workspace.id, asked, yield* Paging.request(query, "msg")),
              conversationMessage
            )
          }
          const filter = {
            ...(status === undefined ? {} : { status }),
            ...(to === undefined ? {} : { to }),
            ...(clientReference === undefined ? {} : { clientReference }),
            ...Paging.between(since, until)
          }
          return Paging.list(yield* messages.list(workspace.id, filter, yield* Paging.request(query, "msg")), shown)
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspace } = yield* Caller.Caller
          return either(yield* messages.find(workspace.id, params.id))
        }, StoreError.orUnavailable)
      }))
  })
)

const dashboardLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const messages = yield* Messages.Messages
    return HttpApiBuilder.group(Api, "messagesDashboard", (handlers) =>
      handlers.handleAll({
        send: Effect.fnUntraced(function*({ headers, payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const exchange = yield* Exchange
          const { sendAt: _sendAt, sendUntil: _sendUntil, ...message } = payload
          let attempted: Id.MessageId | undefined
          const answer = yield* messages.send({
            workspaceId,
            apiKeyId: null,
            key: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])),
            requestId: exchange.requestId,
            message,
            later: laterOf(payload, false)
          }).pipe(
            Effect.provideService(SendBinding.AttemptObserver, (messageId) => {
              attempted = messageId
            }),
            Effect.tapError((error) =>
              Effect.sync(() => {
                // a repeated request, which learns that the outcome is unknown, has attempted nothing
                if (Errors.reasonOf(error) !== "outcome_unknown" || attempted === undefined) return
                exchange.changedAnyway = { target: attempted, detail: { outcome: "unknown" } }
              })
            )
          )
          const { messageId } = answer
          exchange.changed = { target: messageId }
          const common = { messageId, tenantId: answer.workspaceId, apiKeyId: null }
          return answer._tag === "Sent"
            ? { status: "sent" as const, ...common, providerMessageId: answer.providerMessageId }
            : { status: "queued" as const, ...common, sendAt: Time.iso(answer.sendAt) }
        }),
        cancel: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return detailed(yield* messages.cancel({ workspaceId, boundTo: null, id: params.id }))
        }, StoreError.orUnavailable),
        list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, since, until, ...rest }, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const filter = { ...rest, ...Paging.between(since, until) }
          return Paging.internalList(
            yield* messages.list(workspaceId, filter, yield* Paging.request(query, "msg")),
            shown
          )
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return detailed(yield* messages.get(workspaceId, params.id))
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(publicLayer, dashboardLayer)
