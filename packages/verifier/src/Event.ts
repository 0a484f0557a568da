/**
 * The events that the service sends (service specification §6, contract §6), as types. They cost nothing at run time.
 */
import type { Json } from "./Json.ts"
import type { ReceivedContent } from "./ReceivedContent.ts"
import type { UnknownName } from "./UnknownName.ts"

/** What the events of a message have in common. */
export interface MessageData {
  /** As in the answer to the send: `msg_…`. */
  readonly message_id: string
  /** The upstream provider's own identifier; `null` as long as it has told none. */
  readonly provider_message_id: string | null
  /** The recipient's number, E.164. */
  readonly to: string
  /** As given with the send, if it was. */
  readonly client_reference?: string
  /** Grows by one with each event of the message: a lower one than the last is old news. */
  readonly sequence: number
  /** In the event that brought it: what the provider says of the message's price, in its own words. */
  readonly pricing?: {
    readonly billable: boolean
    readonly model: string
    readonly type: string
    readonly category: string
  }
}

/** The message was handed to the provider. Times are ISO 8601, UTC. */
export interface MessageSentData extends MessageData {
  readonly status: "sent"
  readonly sent_at: string
}

/** The message arrived at the recipient's phone. */
export interface MessageDeliveredData extends MessageData {
  readonly status: "delivered"
  readonly delivered_at: string
}

/** The recipient read the message. */
export interface MessageReadData extends MessageData {
  readonly status: "read"
  readonly read_at: string
}

/** Why a message failed, in the words of the service's errors (service specification §7). */
export interface MessageError {
  readonly code: string
  readonly reason?: string
  readonly message: string
  /** What the upstream provider said, in its own code and words. */
  readonly provider?: { readonly code: string; readonly message: string }
}

/** The message will not arrive. */
export interface MessageFailedData extends MessageData {
  readonly status: "failed"
  readonly failed_at: string
  readonly error: MessageError
}

/** What a customer's message answers or quotes. */
export interface ReceivedContext {
  /** Our identifier of the other message, where it is known here, else the upstream provider's. */
  readonly message_id?: string
  /** The upstream provider's identifier of it. */
  readonly provider_message_id?: string
  readonly from?: string
  readonly forwarded?: boolean
  readonly [field: string]: Json | undefined
}

/** A customer wrote. `type` tells which further field holds what they wrote, e.g. `data.text` of a `text`. */
export type MessageReceivedData = ReceivedContent & {
  readonly message_id: string
  readonly provider_message_id: string
  /** The customer's number, E.164; `null` when the provider tells only `from_user_id`. */
  readonly from: string | null
  /** The provider's name for the customer towards this business, where it gives one. */
  readonly from_user_id?: string
  /** The number of ours that they wrote to, E.164. */
  readonly to: string
  /** The message's own time. */
  readonly received_at: string
  readonly context?: ReceivedContext
  /** What the provider says of the customer; nobody has checked it. */
  readonly profile?: { readonly name?: string; readonly username?: string; readonly parent_user_id?: string }
  /** Told so long after its own time that a reply in conversation may be out of place. */
  readonly late: boolean
}

/** The business wrote to a customer on its own phone. `type` tells which further field holds what it wrote. */
export type MessageEchoedData = ReceivedContent & {
  readonly message_id: string
  readonly provider_message_id: string
  /** The number of ours that it was written from, E.164. */
  readonly from: string
  /** The customer's number, E.164; `null` when the provider tells only `to_user_id`. */
  readonly to: string | null
  readonly to_user_id?: string
  /** The message's own time. */
  readonly sent_at: string
  readonly context?: ReceivedContext
  /** Told so long after its own time that a reaction may be out of place. */
  readonly late: boolean
}

/** A campaign came to its end; beside its name, how many messages had which outcome. */
export interface CampaignCompletedData {
  readonly campaign_id: string
  readonly name: string
  readonly [field: string]: Json
}

/** Someone pressed "Send test event", or the service tries a paused webhook. */
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
 * The shape that the webhook is set to: `combined` unless it was changed; `a` and `b` are the two variants of the
 * specification, without the fields that are not theirs.
 */
export type Envelope = "combined" | "a" | "b"

type Without<Data, Fields extends string> = Data extends unknown ? {
    readonly [Field in keyof Data as Field extends Fields ? never : Field]: Data[Field]
  }
  : never

/** `data` as each envelope has it. */
interface DataOf<Data> {
  readonly combined: Data
  readonly a: Without<
    Data,
    `${string}_at` | "provider_message_id" | "sequence" | "client_reference" | "late" | "pricing" | "profile"
  >
  readonly b: Without<Data, "status" | "sequence" | "client_reference" | "late" | "pricing" | "profile">
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

/** An event of a type newer than this version. Answer 200 and pass it over, or read it with care. */
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
