/**
 * What a provider of the host's own has to tell: what became of messages, and what customers write.
 */
import { ErrorBody, Timestamp } from "@wac/api"
import { Errors, type Id, Inbound as Service, type InboundItem, InboundMessage, PlainText } from "@wac/core"
import { Clock, DateTime, Effect, Predicate, Result, Schema } from "effect"
import * as Input from "./Input.ts"
import { iso, type Moment } from "./Moment.ts"
import type { Running } from "./Running.ts"
import type { ErrorCode, ErrorReason, ProviderDetail } from "./WacError.ts"

/** What became of a message. */
export interface StatusReport {
  readonly type: "status"
  /** The provider's own name for the number that the message was sent from; a message of another number is none then. */
  readonly providerNumberId?: string
  /** The reference that the send carried; else the message is found by the provider's name for it. */
  readonly messageId?: string
  readonly providerMessageId?: string
  readonly status: "sent" | "delivered" | "read" | "failed"
  /** When; now when left out. */
  readonly at?: Moment
  /** Why it failed, with the status `failed`. */
  readonly error?: {
    readonly code: ErrorCode
    readonly reason?: ErrorReason
    readonly message: string
    readonly provider?: ProviderDetail
  }
}

/** What a customer writes. */
export interface CustomerMessage {
  readonly type: "message"
  /** The provider's own name for the number that was written to. */
  readonly providerNumberId: string
  /** The provider's own name for this message: told twice, it counts once. */
  readonly providerMessageId: string
  /** The customer's number in E.164 format. */
  readonly from: string
  readonly text: { readonly body: string }
  /** When it was written, which opens the 24-hour window; now when left out. */
  readonly at?: Moment
}

/** One thing that a provider tells. */
export type Told = StatusReport | CustomerMessage

/** Where a provider of your own tells what it hears. */
export interface Inbound {
  /**
   * Takes what a provider of your own tells. Things may be told in any order and any number of times; what belongs to
   * no message and no number is passed over. What cannot be read is rejected by its place (`[0].from`) before anything is
   * taken; when it rejects for another reason, tell all of them again.
   */
  readonly receive: (told: ReadonlyArray<Told>) => Promise<void>
}

/** A name of the provider's; an index of PostgreSQL holds no text that is much longer. */
const Name = PlainText.between(1, 512)

const at = Schema.optionalKey(Timestamp.TimeGiven)

const readOne = Input.reader(Schema.Union([
  Schema.Struct({
    type: Schema.Literal("status"),
    providerNumberId: Schema.optionalKey(Name),
    messageId: Schema.optionalKey(PlainText.PlainText),
    providerMessageId: Schema.optionalKey(Name),
    status: Schema.Literals(["sent", "delivered", "read", "failed"]),
    at,
    error: Schema.optionalKey(Schema.Struct({
      code: ErrorBody.ErrorBody.fields.error.fields.code,
      reason: Schema.optionalKey(PlainText.PlainText),
      message: PlainText.PlainText,
      provider: Schema.optionalKey(Errors.ProviderDetail)
    }))
  }),
  Schema.Struct({
    type: Schema.Literal("message"),
    providerNumberId: Name,
    providerMessageId: Name,
    // whether such a number is possible in its country is not ours to doubt: somebody writes from it
    from: Schema.String.check(
      Schema.isPattern(/^\+[1-9][0-9]{1,14}$/, { message: "must be a phone number in E.164 format" })
    ),
    text: Schema.Struct({ body: Schema.String }),
    at
  })
]))

/** Reads what is told at this place of a list. */
const read = (told: Told, index: number) =>
  Result.mapError(
    readOne(Predicate.isObject(told) ? { ...told, at: iso(told.at) } : told),
    ({ message, param, reason }) =>
      new Errors.InvalidBody({ reason, param: `[${index}]${param === undefined ? "" : `.${param}`}`, message })
  )

const itemOf = (told: Result.Result.Success<ReturnType<typeof read>>, now: number): InboundItem.InboundItem => {
  const at = told.at === undefined ? now : DateTime.toEpochMillis(told.at)
  if (told.type === "message") {
    const { from, providerMessageId, providerNumberId, text } = told
    return {
      _tag: "Message",
      message: InboundMessage.ofText({
        providerNumberId,
        providerMessageId,
        phone: from,
        at,
        body: PlainText.cleaned(text.body)
      })
    }
  }
  const { error, messageId, providerMessageId, providerNumberId, status } = told
  return {
    _tag: "Status",
    providerNumberId: providerNumberId ?? null,
    reference: messageId === undefined ? null : messageId as Id.MessageId,
    report: {
      status,
      at,
      providerMessageId: providerMessageId ?? null,
      error: status === "failed" ? error ?? { code: "server_error", message: "the provider did not say why" } : null
    }
  }
}

export const make = Effect.map(Service.Inbound, (inbound) => ({ run }: Running): Inbound => ({
  receive: (told) =>
    run(Effect.gen(function*() {
      if (!Array.isArray(told)) {
        return yield* new Errors.InvalidBody({
          reason: "invalid_field",
          param: "told",
          message: "told must be an array"
        })
      }
      const all = yield* Effect.fromResult(Result.all(told.map(read)))
      const now = yield* Clock.currentTimeMillis
      yield* inbound.receive(all.map((one) => itemOf(one, now)))
    }))
}))
