/**
 * The events of a workspace, in combined form, and what customers write. Written from the API definition; do not edit.
 */
import type { Json } from "../Json.ts"
import type { UnknownName } from "../UnknownName.ts"

/**
 * A recorded event. A comparison of `type` narrows `data`. A service newer than this version can have newer types: give
 * a `switch` a `default`.
 */
export type Event =
  | MessageSent
  | MessageDelivered
  | MessageRead
  | MessageFailed
  | MessageReceived
  | MessageEchoed
  | CampaignCompleted
  | WebhookTest

/** The provider accepted the message. */
export interface MessageSent {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "message.sent"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: MessageSentData
}

/** The provider accepted the message. */
export interface MessageSentData {
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
  readonly pricing?: Pricing
  /**
   * Present if the message had been reported as failed before: that was not so. Take back what followed from
   * `message.failed`, such as another channel that you fell back to.
   */
  readonly corrects?: "failed"
  readonly status: "sent"
  /** ISO 8601, UTC, as are all times. */
  readonly sent_at: string
}

/** The price of a message, as the provider reported it. */
export interface Pricing {
  /** Whether it is charged; `null` if the provider says nothing of it. */
  readonly billable: boolean | null
  readonly model: string
  readonly type: string
  readonly category: string
}

/** The message arrived at the recipient's phone. */
export interface MessageDelivered {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "message.delivered"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: MessageDeliveredData
}

/** The message arrived at the recipient's phone. */
export interface MessageDeliveredData {
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
  readonly pricing?: Pricing
  /**
   * Present if the message had been reported as failed before: that was not so. Take back what followed from
   * `message.failed`, such as another channel that you fell back to.
   */
  readonly corrects?: "failed"
  readonly status: "delivered"
  readonly delivered_at: string
}

/** The recipient read the message. */
export interface MessageRead {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "message.read"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: MessageReadData
}

/** The recipient read the message. */
export interface MessageReadData {
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
  readonly pricing?: Pricing
  /**
   * Present if the message had been reported as failed before: that was not so. Take back what followed from
   * `message.failed`, such as another channel that you fell back to.
   */
  readonly corrects?: "failed"
  readonly status: "read"
  readonly read_at: string
}

/** The message will not arrive, as far as is known: a later event with `corrects` says that it did. */
export interface MessageFailed {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "message.failed"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: MessageFailedData
}

/** The message will not arrive, as far as is known: a later event with `corrects` says that it did. */
export interface MessageFailedData {
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
  readonly pricing?: Pricing
  readonly status: "failed"
  readonly failed_at: string
  readonly error: MessageFailure
}

/** Why a message failed. */
export interface MessageFailure {
  readonly code: string
  readonly reason?: string
  readonly message: string
  readonly provider?: ProviderDetail
}

/** The upstream provider's own error code and message. */
export interface ProviderDetail {
  readonly code: string
  readonly message: string
}

/** A customer wrote. `type` names the further field that holds what they wrote, e.g. `data.text` of a `text`. */
export interface MessageReceived {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "message.received"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: MessageReceivedData
}

/** A customer wrote. `type` names the further field that holds what they wrote, e.g. `data.text` of a `text`. */
export type MessageReceivedData = ReceivedContent & {
  /** The service's id of the message: `msg_…`. */
  readonly message_id: string
  /** The provider's id of the message. */
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
  /** The provider's data about the customer, unchecked. */
  readonly profile?: {
    readonly name?: string
    readonly username?: string
    readonly parent_user_id?: string
  }
  /** Reported so long after its own time that a reply in conversation may be out of place. */
  readonly late: boolean
}

/**
 * The content that a customer wrote: `type`, and a field of that name. Optional fields, elements of arrays and the
 * fields of `interactive` are passed on from the provider unchanged: their types follow its documentation.
 */
export type ReceivedContent =
  | {
    readonly type: "text"
    readonly text: ReceivedText
  }
  | {
    readonly type: "button"
    readonly button: ReceivedButton
  }
  | {
    readonly type: "interactive"
    readonly interactive: ReceivedInteractive
  }
  | {
    readonly type: "reaction"
    readonly reaction: ReceivedReaction
  }
  | {
    readonly type: "image"
    readonly image: ReceivedMedia
  }
  | {
    readonly type: "audio"
    readonly audio: ReceivedMedia
  }
  | {
    readonly type: "video"
    readonly video: ReceivedMedia
  }
  | {
    readonly type: "document"
    readonly document: ReceivedMedia
  }
  | {
    readonly type: "sticker"
    readonly sticker: ReceivedMedia
  }
  | {
    readonly type: "location"
    readonly location: ReceivedLocation
  }
  | {
    readonly type: "contacts"
    readonly contacts: ReadonlyArray<ReceivedContact>
  }
  | {
    readonly type: "order"
    readonly order: ReceivedOrder
  }
  | {
    readonly type: "edit"
    readonly edit: ReceivedEdit
  }
  | {
    readonly type: "revoke"
    readonly revoke: ReceivedRevoke
  }
  | {
    readonly type: "unsupported"
    readonly unsupported: ReceivedUnsupported
  }
  | ReceivedOther

/** A text. */
export interface ReceivedText {
  readonly body: string
}

/** A tap on a template's quick reply. */
export interface ReceivedButton {
  readonly text: string | null
  readonly payload: string | null
}

/** A customer's choice or filled-in form. */
export type ReceivedInteractive =
  | {
    readonly type: "button_reply"
    readonly button_reply: {
      readonly id: string
      readonly title: string
      readonly [field: string]: unknown
    }
  }
  | {
    readonly type: "list_reply"
    readonly list_reply: {
      readonly id: string
      readonly title: string
      readonly description?: string
      readonly [field: string]: unknown
    }
  }
  | {
    readonly type: "nfm_reply"
    readonly nfm_reply: {
      readonly name?: string
      readonly body?: string
      /** The values that the customer filled into the flow. */
      readonly response?: {
        readonly [field: string]: Json
      }
      /** The raw text, in place of `response`, if it is not a JSON object. */
      readonly response_json?: string
      readonly [field: string]: unknown
    }
  }
  | {
    readonly type: UnknownName
    readonly [field: string]: unknown
  }

/** An emoji on a message. */
export interface ReceivedReaction {
  /** The service's id of the message if the service knows it, otherwise the provider's. */
  readonly message_id: string
  /** The provider's id of the message. */
  readonly provider_message_id?: string
  /** `null` if the reaction was removed. */
  readonly emoji: string | null
}

/**
 * A file that a customer sent. `media_id` reads it at `/v1/media/{media_id}`, for as long as it is kept. It is absent
 * only if the service runs with a provider of its host that downloads no files: then `id` is that provider's.
 */
export interface ReceivedMedia {
  readonly media_id?: string
  readonly id?: string
  readonly mime_type?: string
  /** In hexadecimal. */
  readonly sha256?: string
  readonly url?: string
  readonly caption?: string
  /** Of a document. */
  readonly filename?: string
  /** Of an audio: recorded in the chat. */
  readonly voice?: boolean
  /** Of a sticker. */
  readonly animated?: boolean
}

/** A place. */
export interface ReceivedLocation {
  readonly latitude: number
  readonly longitude: number
  readonly name?: string
  readonly address?: string
  readonly url?: string
}

/** An address-book entry; most of its fields are optional. */
export interface ReceivedContact {
  readonly name?: {
    readonly formatted_name?: string
    readonly first_name?: string
    readonly last_name?: string
    readonly [field: string]: unknown
  }
  readonly phones?: ReadonlyArray<{
    readonly phone?: string
    readonly wa_id?: string
    readonly type?: string
    readonly [field: string]: unknown
  }>
  readonly [field: string]: unknown
}

/** An order from a catalogue. */
export interface ReceivedOrder {
  readonly catalog_id?: string
  readonly text?: string
  readonly product_items: ReadonlyArray<{
    readonly product_retailer_id?: string
    readonly quantity?: number
    readonly item_price?: number
    readonly currency?: string
    readonly [field: string]: unknown
  }>
}

/** The customer edited a message. Does not open a service window. */
export interface ReceivedEdit {
  /** The service's id of the message if the service knows it, otherwise the provider's. */
  readonly original_message_id: string
  /** The provider's id of the message. */
  readonly original_provider_message_id?: string
  /** Its content as it is after the edit: `type`, and a field of that name. */
  readonly message: {
    readonly type: string
    readonly [field: string]: unknown
  }
}

/** The customer deleted a message. Does not open a service window. */
export interface ReceivedRevoke {
  /** The service's id of the message if the service knows it, otherwise the provider's. */
  readonly original_message_id: string
  /** The provider's id of the message. */
  readonly original_provider_message_id?: string
}

/** A message whose type or content the provider does not pass on. */
export interface ReceivedUnsupported {
  /** The type, if known. */
  readonly type: string | null
  /** The provider's reasons. */
  readonly errors: ReadonlyArray<{
    readonly code: number
    readonly message: string
  }>
  /** The provider's data, as reported. */
  readonly content?: {
    readonly [field: string]: Json
  }
}

/** A kind that this version does not know; its content is under its own name: `data[data.type]`. */
export interface ReceivedOther {
  readonly type: UnknownName
  readonly [field: string]: unknown
}

/** The message that a customer's message replies to or quotes. */
export interface ReceivedContext {
  /** The service's identifier of the other message if the service knows it, otherwise the provider's. */
  readonly message_id?: string
  /** The provider's identifier of the other message. */
  readonly provider_message_id?: string
  readonly from?: string
  readonly forwarded?: boolean
  readonly [field: string]: unknown
}

/** The business wrote to a customer on its own phone. `type` names the further field that holds what it wrote. */
export interface MessageEchoed {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "message.echoed"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: MessageEchoedData
}

/** The business wrote to a customer on its own phone. `type` names the further field that holds what it wrote. */
export type MessageEchoedData = ReceivedContent & {
  /** The service's id of the message: `msg_…`. */
  readonly message_id: string
  /** The provider's id of the message. */
  readonly provider_message_id: string
  /** The workspace's number that the message was sent from, E.164. */
  readonly from: string
  /** The customer's number, E.164, or their user id if the provider reports no number. */
  readonly to: string
  /** The provider's id of the customer for this business, if it gives one. */
  readonly to_user_id?: string
  /** The message's own time. */
  readonly sent_at: string
  readonly context?: ReceivedContext
  /** Reported so long after its own time that a reaction may be out of place. */
  readonly late: boolean
}

/** A campaign ended: its name, and how many messages had which outcome. */
export interface CampaignCompleted {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "campaign.completed"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: CampaignCompletedData
}

/** A campaign ended: its name, and how many messages had which outcome. */
export interface CampaignCompletedData {
  readonly campaign_id: string
  readonly name: string
  readonly status: "completed" | "cancelled"
  readonly total: number
  readonly queued: number
  readonly sent: number
  readonly delivered: number
  readonly read: number
  readonly failed: number
  readonly held: number
  readonly unknown: number
  readonly skipped: number
}

/** Someone pressed *Send test event*, or the service probes a paused webhook. */
export interface WebhookTest {
  /** `evt_…`, the same in lists and in every delivery: deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly type: "webhook.test"
  /** When the event was recorded: ISO 8601, UTC. */
  readonly created_at: string
  /** The workspace. */
  readonly tenant_id: string
  readonly data: WebhookTestData
}

/** Someone pressed *Send test event*, or the service probes a paused webhook. */
export interface WebhookTestData {
  readonly webhook_id: string
  readonly tested_at: string
}

/** The type of an event. */
export type EventType =
  | "message.sent"
  | "message.delivered"
  | "message.read"
  | "message.failed"
  | "message.received"
  | "message.echoed"
  | "campaign.completed"
  | "webhook.test"

/** The content under the name of the type, for the types that the provider documents. */
export interface ReceivedContentByType {
  readonly text: ReceivedText
  readonly button: ReceivedButton
  readonly interactive: ReceivedInteractive
  readonly reaction: ReceivedReaction
  readonly image: ReceivedMedia
  readonly audio: ReceivedMedia
  readonly video: ReceivedMedia
  readonly document: ReceivedMedia
  readonly sticker: ReceivedMedia
  readonly location: ReceivedLocation
  readonly contacts: ReadonlyArray<ReceivedContact>
  readonly order: ReceivedOrder
  readonly edit: ReceivedEdit
  readonly revoke: ReceivedRevoke
  readonly unsupported: ReceivedUnsupported
}
