/**
 * Decodes the messages of a batch. Each is decoded as the body of a send, so that an invalid one is refused alone.
 */
import { EndpointAnnotations, MessagesApi } from "@wac/api"
import { Errors, Idempotency, type Message } from "@wac/core"
import { type DateTime, Effect, Result, Schema } from "effect"
import * as InvalidInput from "../InvalidInput.ts"

/** A message with its key and the times that it asks for. */
export interface BatchItem {
  readonly key: Idempotency.IdempotencyKey
  readonly message: Message.OutboundMessage
  readonly times: { readonly sendAt?: DateTime.Utc; readonly sendUntil?: DateTime.Utc }
}

const param = "idempotency_key"

/** The key is checked before the message, as a header is before a body. */
const keyOf = (given: unknown): Result.Result<Idempotency.IdempotencyKey, Errors.InvalidBody> => {
  if (given !== undefined && typeof given !== "string") {
    return Result.fail(new Errors.InvalidBody({ reason: "invalid_field", param, message: `${param} must be text` }))
  }
  return Result.mapError(
    Idempotency.parseKey(given),
    ({ reason }) =>
      new Errors.InvalidBody({
        reason,
        param,
        message: given === undefined ? `${param} is required` : `${param} must be ${Idempotency.keyForm}`
      })
  )
}

/** The maximum size of a message as JSON, in bytes: the same as for the body of a send. */
export const maxBytes = EndpointAnnotations.bodyLimit

const tooLarge = new Errors.InvalidBody({
  reason: "too_large",
  message: `a message may have at most ${maxBytes} bytes, as the body of a send`
})

const decode = Schema.decodeUnknownResult(MessagesApi.SendMessage)

/** Decodes a message of a batch. Errors name the fields of the message. */
const readOne = (item: { readonly [name: string]: unknown }): Result.Result<BatchItem, Errors.InvalidBody> => {
  const { [param]: givenKey, ...body } = item
  const key = keyOf(givenKey)
  if (Result.isFailure(key)) return Result.fail(key.failure)
  const decoded = decode(body, { onExcessProperty: "error" })
  if (Result.isFailure(decoded)) {
    return Result.fail(InvalidInput.of({ kind: "Payload", issue: decoded.failure.issue }, body))
  }
  const { sendAt, sendUntil, ...message } = decoded.success
  return Result.succeed({
    key: key.success,
    message,
    times: { ...(sendAt === undefined ? {} : { sendAt }), ...(sendUntil === undefined ? {} : { sendUntil }) }
  })
}

/** A message of a batch as the caller sent it. */
type Given = Parameters<typeof readOne>[0]

/** Decodes the messages of a batch. Other work of the process gets its turn after every {@link maxBytes}. */
export const readAll = Effect.fnUntraced(function*(messages: ReadonlyArray<Given>) {
  const items: Array<ReturnType<typeof readOne>> = []
  let seen = 0
  for (const message of messages) {
    const bytes = Buffer.byteLength(JSON.stringify(message))
    if (seen + bytes > maxBytes) {
      yield* Effect.yieldNow
      seen = 0
    }
    seen += bytes
    items.push(bytes > maxBytes ? Result.fail(tooLarge) : readOne(message))
  }
  return items
})
