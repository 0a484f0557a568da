/**
 * The events that the service sends (service specification §6, contract §6), as types. They cost nothing at run time.
 */
import type { Json } from "./Json.ts"
import type { ReceivedContent } from "./ReceivedContent.ts"
import type { UnknownName } from "./UnknownName.ts"

/** The fields that all events of a message have. */
export interface MessageData {
  /** As in the response to the send: `msg_…`. */
  readonly message_id: string
  /** The upstream provider's own identifier; `null` until the provider has given one. */
  readonly provider_message_id: string | null
  /** As given with the send: the recipient's number, E.164, or their user id. */
  readonly to: string
  /** As given with the send, if it was. */
  readonly client_reference?: string
  /** Grows by one with each event of the message: an event with a lower number than the last is outdated. */
  readonly sequence: number
  /** The message's price as the provider reports it, only in the event of the report that contained it. */
  readonly pricing?: {
    /** Whether it is charged; `null` if the provider says nothing of it. */
    readonly billable: boolean | null
    readonly model: string
    readonly type: string
    readonly category: string
  }
}

/** What an event of progress says. */
export interface MessageProgressData extends MessageData {
  /**
   * Present if the message had been reported as failed before: that was not so. Take back what followed from
   * `message.failed`, such as another channel that you fell back to.
   */
  readonly corrects?: "failed"
}

/** The provider accepted the message. Times are ISO 8601, UTC. */
export interface MessageSentData extends MessageProgressData {
  readonly status: "sent"
  readonly sent_at: string
}

/** The message arrived at the recipient's phone. */
export interface MessageDeliveredData extends MessageProgressData {
  readonly status: "delivered"
  readonly delivered_at: string
}

/** The recipient read the message. */
export interface MessageReadData extends MessageProgressData {
  readonly status: "read"
  readonly read_at: string
}

/** Why a message failed, with the codes of the service's errors (service specification §7). */
export interface MessageError {
  readonly code: string
  readonly reason?: string
  readonly message: string
  /** The provider's error, with its own code and message. */
  readonly provider?: { readonly code: string; readonly message: string }
}

/** The message will not arrive, as far as is known: a later event with `corrects` says that it did. */
export interface MessageFailedData extends MessageData {
  readonly status: "failed"
  readonly failed_at: string
  readonly error: MessageError
}

/** The message that a customer's message replies to or quotes. */
export interface ReceivedContext {
  /** The service's identifier of the other message if the service knows it, otherwise the provider's. */
  readonly message_id?: string
  /** The provider's identifier of the other message. */
  readonly provider_message_id?: string
  readonly from?: string
  readonly forwarded?: boolean
  readonly [field: string]: Json | undefined
}

/** A customer wrote. `type` names the further field that holds what they wrote, e.g. `data.text` of a `text`. */
export type MessageReceivedData = ReceivedContent & {
  readonly message_id: string
  readonly provider_message_id: string
  /** The customer's number, E.164, or their user id if the provider reports no number. A reply can be sent to it. */
  readonly from: string
  /** The provider's id of the customer for this business, if it gives one. */
  readonly from_user_id?: string
  /** The workspace's number that they wrote to, E.164. */
  readonly to: string
  /** The message's own time. */
  readonly received_at: string
  readonly context?: ReceivedContext
  /** What the provider reports about the customer, unchecked. */
  readonly profile?: { readonly name?: string; readonly username?: string; readonly parent_user_id?: string }
  /** Reported so long after its own time that a reply in conversation may be out of place. */
  readonly late: boolean
}

/** The business wrote to a customer on its own phone. `type` names the further field that holds what it wrote. */
export type MessageEchoedData = ReceivedContent & {
  readonly message_id: string
  readonly provider_message_id: string
  /** The workspace's number that the message was sent from, E.164. */
  readonly from: string
  /** The customer's number, E.164, or their user id if the provider reports no number. */
  readonly to: string
  readonly to_user_id?: string
  /** The message's own time. */
  readonly sent_at: string
  readonly context?: ReceivedContext
  /** Reported so long after its own time that a reaction may be out of place. */
  readonly late: boolean
}

/** A campaign ended: its name, and how many messages had which outcome. */
export interface CampaignCompletedData {
  readonly campaign_id: string
  readonly name: string
  readonly [field: string]: Json
}

/** Someone pressed "Send test event", or the service probes a paused webhook. */
export interface WebhookTestData {
  readonly webhook_id: string
  readonly tested_at: string
}

/** The `data` of each type of event, in combined form. */
export interface EventDataByType {
  readonly "message.sent": MessageSentData
  readonly "message.delivered": MessageDeliveredData
  readonly "message.read": MessageReadData
  readonly "message.failed": MessageFailedData
  readonly "message.received": MessageReceivedData
  readonly "message.echoed": MessageEchoedData
  readonly "campaign.completed": CampaignCompletedData
  readonly "webhook.test": WebhookTestData
}

/** The types of event that this version knows. */
export type EventType = keyof EventDataByType

/**
 * The webhook's envelope: `combined` unless it was changed; `a` and `b` are the two variants of the specification, each
 * with only its own fields.
 */
export type Envelope = "combined" | "a" | "b"

type Without<Data, Fields extends string> = Data extends unknown ? {
    readonly [Field in keyof Data as Field extends Fields ? never : Field]: Data[Field]
  }
  : never

/** `data` in each envelope. */
interface DataOf<Data> {
  readonly combined: Data
  readonly a: Without<
    Data,
    | `${string}_at`
    | "provider_message_id"
    | "sequence"
    | "client_reference"
    | "late"
    | "pricing"
    | "profile"
    | "corrects"
  >
  readonly b: Without<Data, "status" | "sequence" | "client_reference" | "late" | "pricing" | "profile" | "corrects">
}

interface EnvelopeA<Type, Data> {
  /** `evt_…`, the same at every attempt and replay: deduplicate by it. */
  readonly id: string
  readonly type: Type
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  readonly data: Data
}

interface EnvelopeB<Type, Data> {
  readonly type: Type
  /** The workspace. */
  readonly tenant_id: string
  readonly data: Data
}

/** The fields around `data`, in each envelope. */
interface Enveloped<Type, Data> {
  readonly combined: EnvelopeA<Type, Data> & EnvelopeB<Type, Data> & { readonly object: "event" }
  readonly a: EnvelopeA<Type, Data>
  readonly b: EnvelopeB<Type, Data>
}

/** An event of one type that this version knows. */
export type EventOf<Type extends EventType, E extends Envelope = "combined"> = {
  readonly [T in Type]: Enveloped<T, DataOf<EventDataByType[T]>[E]>[E]
}[Type]

/** An event of a type newer than this version. Respond with 200 and ignore it, or read it with care. */
export type UnknownEvent<E extends Envelope = "combined"> = Enveloped<
  UnknownName,
  { readonly [field: string]: Json }
>[E]

/**
 * An event as delivered. Narrow it by its `type`:
 *
 * ```ts
 * switch (event.type) {
 *   case "message.delivered":
 *     return markDelivered(event.data.message_id, event.data.delivered_at)
 *   case "message.received":
 *     return event.data.type === "text" ? answer(event.data.from, event.data.text.body) : undefined
 * }
 * ```
 */
export type WebhookEvent<E extends Envelope = "combined"> = EventOf<EventType, E> | UnknownEvent<E>
