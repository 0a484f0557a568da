/**
 * Events as `GET /v1/events` lists them and as webhooks in combined form deliver them (specification §6, contract §6).
 * A type test compares them with the API definition and with the events that `@wac/verifier` receives.
 */
import type { MessageFailure } from "./generated/Wire.ts"
import type { Json } from "./Json.ts"
import type { ReceivedContent, ReceivedContext } from "./ReceivedContent.ts"

/** The fields that all events of a sent message have. */
export interface MessageData {
  /** As in the response to the send: `msg_…`. */
  readonly message_id: string
  /** The upstream provider's own identifier; `null` until the provider has given one. */
  readonly provider_message_id: string | null
  /** As given with the send: the recipient's number, E.164, or their user id. */
  readonly to: string
  /** As given with the send, if it was. */
  readonly client_reference?: string
  /** Grows by one with each event of the message. */
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

/** The message will not arrive, as far as is known: a later event with `corrects` says that it did. */
export interface MessageFailedData extends MessageData {
  readonly status: "failed"
  readonly failed_at: string
  readonly error: MessageFailure
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

/** A test event, or the probe of a paused webhook. */
export interface WebhookTestData {
  readonly webhook_id: string
  readonly tested_at: string
}

/** The `data` of each type of event. */
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

/** What an event reports. */
export type EventType = keyof EventDataByType

/** An event of one type. */
export type EventOf<Type extends EventType> = {
  readonly [T in Type]: {
    /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
    readonly id: string
    readonly object: "event"
    readonly type: T
    /** When the event was recorded: ISO 8601, UTC. */
    readonly created_at: string
    /** The workspace. */
    readonly tenant_id: string
    readonly data: EventDataByType[T]
  }
}[Type]

/**
 * A recorded event. A comparison of `type` narrows `data`. A service newer than this client can list newer types: give
 * a `switch` a `default`.
 */
export type Event = EventOf<EventType>
