/**
 * What a provider of the host's own has to tell: what became of messages, and what customers write.
 */
import { Errors, type Id, Inbound as Service, type InboundItem, InboundMessage } from "@wac/core"
import { Clock, Effect } from "effect"
import { millis, type Moment } from "./Moment.ts"
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
   * no message and no number is passed over. When it rejects, tell all of them again.
   */
  readonly receive: (told: ReadonlyArray<Told>) => Promise<void>
}

const invalid = (param: string, message: string) => new Errors.InvalidBody({ reason: "invalid_field", param, message })

const instant = (time: Moment | undefined, param: string, now: number): Effect.Effect<number, Errors.InvalidBody> => {
  const at = time === undefined ? now : millis(time)
  return at === undefined ? Effect.fail(invalid(param, `${param} must be a point in time`)) : Effect.succeed(at)
}

const statuses: ReadonlyArray<unknown> = ["sent", "delivered", "read", "failed"] satisfies Array<StatusReport["status"]>

const itemOf = Effect.fnUntraced(function*(told: Told, index: number, now: number) {
  const at = yield* instant(told.at, `[${index}].at`, now)
  if (told.type === "message") {
    const { from, providerMessageId, providerNumberId, text } = told
    if (typeof text?.body !== "string") return yield* invalid(`[${index}].text.body`, "text.body must be a string")
    if (typeof from !== "string" || from === "") return yield* invalid(`[${index}].from`, "from must be a phone number")
    return {
      _tag: "Message",
      message: InboundMessage.ofText({ providerNumberId, providerMessageId, phone: from, at, body: text.body })
    } satisfies InboundItem.InboundItem
  }
  if (told.type !== "status") return yield* invalid(`[${index}].type`, "type must be status or message")
  const { error, messageId, providerMessageId, providerNumberId, status } = told
  if (!statuses.includes(status)) return yield* invalid(`[${index}].status`, "status is none that is known here")
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
  } satisfies InboundItem.InboundItem
})

export const make = Effect.map(Service.Inbound, (inbound) => ({ run }: Running): Inbound => ({
  receive: (told) =>
    run(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      yield* inbound.receive(yield* Effect.forEach(told, (one, index) => itemOf(one, index, now)))
    }))
}))
