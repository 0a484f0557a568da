/**
 * Messages of every kind (contract §9), with the provider's field names; templates use our own. Written from the API
 * definition; do not edit.
 */
import type { Json } from "../Json.ts"

/** A message to be sent. A comparison of `type` narrows it. */
export type SendMessage =
  | SendTemplate
  | SendText
  | SendImage
  | SendAudio
  | SendVideo
  | SendDocument
  | SendSticker
  | SendLocation
  | SendContacts
  | SendInteractive
  | SendReaction

/** Sends an approved template. */
export interface SendTemplate {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  readonly type: "template"
  readonly template: TemplateContent
}

/** An approved template by its name and language, with the values to fill in. */
export interface TemplateContent {
  readonly name: string
  /** `<ll>_<CC>` or `<ll>`; matched exactly. */
  readonly language: string
  /** One value per placeholder of the body; none may be empty. */
  readonly bodyParams?: BodyParams
  readonly header?: TemplateHeader
  readonly buttons?: ReadonlyArray<TemplateButton>
  readonly cards?: ReadonlyArray<TemplateCard>
  /** When the offer ends, in ISO 8601. */
  readonly limitedTimeOffer?: {
    readonly expiresAt: string
  }
}

/** The values of a body's placeholders: in order, or by name if the placeholders have names. */
export type BodyParams =
  | ReadonlyArray<TemplateValue>
  | {
    readonly [field: string]: TemplateValue
  }

/** The value of a placeholder: non-empty text, an amount, or a date and time. */
export type TemplateValue =
  | string
  | {
    readonly currency: {
      readonly fallback_value: string
      readonly code: string
      readonly amount_1000: number
    }
  }
  | {
    readonly date_time: {
      readonly fallback_value: string
      readonly calendar?: string
      readonly day_of_week?: number
      readonly year?: number
      readonly month?: number
      readonly day_of_month?: number
      readonly hour?: number
      readonly minute?: number
    }
  }

/** The value of the template's header: exactly one of these, as the template requires. */
export interface TemplateHeader {
  readonly text?: string
  readonly image?: FileContent
  readonly video?: FileContent
  readonly document?: HeaderDocument
  readonly location?: LocationContent
}

/** A file: a stored one by its id, or one that the provider fetches from a link. Exactly one of the two. */
export interface FileContent {
  /** `med_…`: a file that is stored in the service. */
  readonly media?: string
  /** A file that the provider fetches: `https`, at most 2,048 characters. */
  readonly link?: string
}

/** A document above the text. */
export interface HeaderDocument {
  /** `med_…`: a file that is stored in the service. */
  readonly media?: string
  /** A file that the provider fetches: `https`, at most 2,048 characters. */
  readonly link?: string
  readonly filename?: string
}

/** A geographic location. */
export interface LocationContent {
  readonly latitude: number
  readonly longitude: number
  readonly name?: string
  readonly address?: string
}

/** The value of the template's button at `index`: exactly one of these, as the button's type requires. */
export interface TemplateButton {
  /** Counted from 0. */
  readonly index: number
  /** The part that is appended to the button's URL. */
  readonly urlSuffix?: string
  /** The payload that a tap on the quick reply returns. */
  readonly payload?: string
  /** The code to copy; the template says how long it may be. */
  readonly code?: string
  readonly flowToken?: string
  /** Only with `flowToken`. */
  readonly flowData?: {
    readonly [field: string]: Json
  }
  /** The product whose image is shown. */
  readonly thumbnailProductRetailerId?: string
}

/** The values of one card of a carousel; the cards are in the template's order. */
export interface TemplateCard {
  readonly header?: TemplateHeader
  readonly bodyParams?: BodyParams
  readonly buttons?: ReadonlyArray<TemplateButton>
}

/** Sends a text, within 24 hours after the recipient last wrote. */
export interface SendText {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "text"
  readonly text: TextContent
}

/** A free-form text. */
export interface TextContent {
  /** 1 to 4,096 characters. */
  readonly body: string
  readonly preview_url?: boolean
}

/** Sends a message of kind `image`, within 24 hours after the recipient last wrote. */
export interface SendImage {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "image"
  readonly image: CaptionedContent
}

/** A picture (JPEG, PNG: 5 MB) or a video (MP4, 3GPP: 16 MB). */
export interface CaptionedContent {
  /** `med_…`: a file that is stored in the service. */
  readonly media?: string
  /** A file that the provider fetches: `https`, at most 2,048 characters. */
  readonly link?: string
  /** At most 1,024 characters. */
  readonly caption?: string
}

/** Sends a message of kind `audio`, within 24 hours after the recipient last wrote. */
export interface SendAudio {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "audio"
  readonly audio: AudioContent
}

/** An audio file (AAC, AMR, MP3, M4A, or Ogg with Opus: 16 MB). */
export interface AudioContent {
  /** `med_…`: a file that is stored in the service. */
  readonly media?: string
  /** A file that the provider fetches: `https`, at most 2,048 characters. */
  readonly link?: string
  /** Shown as a voice message; Opus only. */
  readonly voice?: boolean
}

/** Sends a message of kind `video`, within 24 hours after the recipient last wrote. */
export interface SendVideo {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "video"
  readonly video: CaptionedContent
}

/** Sends a message of kind `document`, within 24 hours after the recipient last wrote. */
export interface SendDocument {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "document"
  readonly document: DocumentContent
}

/** A document of any type, up to 100 MB. */
export interface DocumentContent {
  /** `med_…`: a file that is stored in the service. */
  readonly media?: string
  /** A file that the provider fetches: `https`, at most 2,048 characters. */
  readonly link?: string
  /** At most 1,024 characters. */
  readonly caption?: string
  readonly filename?: string
}

/** Sends a message of kind `sticker`, within 24 hours after the recipient last wrote. */
export interface SendSticker {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "sticker"
  readonly sticker: FileContent
}

/** Sends a message of kind `location`, within 24 hours after the recipient last wrote. */
export interface SendLocation {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "location"
  readonly location: LocationContent
}

/** Sends a message of kind `contacts`, within 24 hours after the recipient last wrote. */
export interface SendContacts {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "contacts"
  readonly contacts: ReadonlyArray<ContactContent>
}

/** A contact card. */
export interface ContactContent {
  /** `formatted_name` and at least one more field. */
  readonly name: {
    readonly formatted_name: string
    readonly first_name?: string
    readonly last_name?: string
    readonly middle_name?: string
    readonly suffix?: string
    readonly prefix?: string
  }
  /** `YYYY-MM-DD`. */
  readonly birthday?: string
  readonly addresses?: ReadonlyArray<{
    readonly street?: string
    readonly city?: string
    readonly state?: string
    readonly zip?: string
    readonly country?: string
    readonly country_code?: string
    readonly type?: string
  }>
  readonly emails?: ReadonlyArray<{
    readonly email?: string
    readonly type?: string
  }>
  readonly org?: {
    readonly company?: string
    readonly department?: string
    readonly title?: string
  }
  readonly phones?: ReadonlyArray<{
    readonly phone?: string
    readonly wa_id?: string
    readonly type?: string
  }>
  readonly urls?: ReadonlyArray<{
    readonly url?: string
    readonly type?: string
  }>
}

/** Sends a message of kind `interactive`, within 24 hours after the recipient last wrote. */
export interface SendInteractive {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "interactive"
  readonly interactive: InteractiveContent
}

/** An interactive message, by its `type`. */
export type InteractiveContent =
  | ButtonsContent
  | ListContent
  | CtaUrlContent
  | FlowContent
  | LocationRequestContent
  | ContactRequestContent
  | ProductContent
  | ProductListContent
  | CatalogContent
  | CarouselContent
  | OrderDetailsContent
  | OrderStatusContent

/** One to three buttons, with titles of at most 20 characters. */
export interface ButtonsContent {
  readonly type: "button"
  readonly header?: InteractiveHeader
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly buttons: ReadonlyArray<{
      readonly type: "reply"
      readonly reply: {
        readonly id: string
        readonly title: string
      }
    }>
  }
}

/** The header above the text: at most 60 characters, or a file. */
export type InteractiveHeader =
  | {
    readonly type: "text"
    readonly text: string
  }
  | {
    readonly type: "image"
    readonly image: FileContent
  }
  | {
    readonly type: "video"
    readonly video: FileContent
  }
  | {
    readonly type: "document"
    readonly document: HeaderDocument
  }

/** A list that opens, with ten rows in all: titles of at most 24 characters, descriptions of at most 72. */
export interface ListContent {
  readonly type: "list"
  readonly header?: {
    readonly type: "text"
    readonly text: string
  }
  readonly body: {
    /** At most 4,096 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly button: string
    readonly sections: ReadonlyArray<{
      readonly title?: string
      readonly rows: ReadonlyArray<{
        readonly id: string
        readonly title: string
        readonly description?: string
      }>
    }>
  }
}

/** A button that opens a URL. */
export interface CtaUrlContent {
  readonly type: "cta_url"
  readonly header?: InteractiveHeader
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name: "cta_url"
    readonly parameters: {
      readonly display_text: string
      readonly url: string
    }
  }
}

/** A flow, which is a form inside WhatsApp. Exactly one of `flow_id` and `flow_name` is required. */
export interface FlowContent {
  readonly type: "flow"
  readonly header?: InteractiveHeader
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name: "flow"
    readonly parameters: {
      readonly flow_message_version: "3"
      readonly flow_id?: string
      readonly flow_name?: string
      readonly flow_token?: string
      readonly flow_cta: string
      readonly mode?: "draft" | "published"
      readonly flow_action?: "navigate" | "data_exchange"
      readonly flow_action_payload?: {
        readonly screen: string
        readonly data?: {
          readonly [field: string]: Json
        }
      }
    }
  }
}

/** Asks for the customer's location. */
export interface LocationRequestContent {
  readonly type: "location_request_message"
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name: "send_location"
  }
}

/** Asks for the customer's phone number. */
export interface ContactRequestContent {
  readonly type: "request_contact_info"
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name: "request_contact_info"
  }
}

/** One product of a catalog. */
export interface ProductContent {
  readonly type: "product"
  readonly body?: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly catalog_id: string
    readonly product_retailer_id: string
  }
}

/** Up to thirty products of a catalog. */
export interface ProductListContent {
  readonly type: "product_list"
  readonly header: {
    readonly type: "text"
    readonly text: string
  }
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly catalog_id: string
    readonly sections: ReadonlyArray<{
      readonly title?: string
      readonly product_items: ReadonlyArray<{
        readonly product_retailer_id: string
      }>
    }>
  }
}

/** A whole catalog. */
export interface CatalogContent {
  readonly type: "catalog_message"
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name: "catalog_message"
    readonly parameters?: {
      readonly thumbnail_product_retailer_id?: string
    }
  }
}

/** Two to ten cards of the same shape, side by side. */
export interface CarouselContent {
  readonly type: "carousel"
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly action: {
    readonly cards: ReadonlyArray<MediaCard | ProductCard>
  }
}

/** A card with a picture or video, and either a URL or buttons. */
export interface MediaCard {
  readonly card_index: number
  readonly type: "cta_url"
  readonly header:
    | {
      readonly type: "image"
      readonly image: FileContent
    }
    | {
      readonly type: "video"
      readonly video: FileContent
    }
  readonly body?: {
    /** At most 160 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name?: "cta_url"
    readonly parameters?: {
      readonly display_text: string
      readonly url: string
    }
    readonly buttons?: ReadonlyArray<{
      readonly type: "quick_reply"
      readonly quick_reply: {
        readonly id: string
        readonly title: string
      }
    }>
  }
}

/** A card with a product of a catalog. */
export interface ProductCard {
  readonly card_index: number
  readonly type: "product"
  readonly action: {
    readonly product_retailer_id: string
    readonly catalog_id: string
  }
}

/** An order to pay, in countries where the provider collects payments. */
export interface OrderDetailsContent {
  readonly type: "order_details"
  readonly header?: InteractiveHeader
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name: "review_and_pay"
    readonly parameters: {
      readonly [field: string]: Json
    }
  }
}

/** The status of an order sent with `order_details`. */
export interface OrderStatusContent {
  readonly type: "order_status"
  readonly body: {
    /** At most 1,024 characters. */
    readonly text: string
  }
  readonly footer?: {
    /** At most 60 characters. */
    readonly text: string
  }
  readonly action: {
    readonly name: "review_order"
    readonly parameters: {
      readonly [field: string]: Json
    }
  }
}

/** Sends a message of kind `reaction`, within 24 hours after the recipient last wrote. */
export interface SendReaction {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly clientReference?: string
  readonly type: "reaction"
  readonly reaction: ReactionContent
}

/** A reaction to a message of the same conversation, sent by either side. */
export interface ReactionContent {
  /** `msg_…`: the message to react to, sent by either side. */
  readonly message_id: string
  /** One emoji; an empty text removes the previous reaction. */
  readonly emoji: string
}

/** The kinds of message. */
export type MessageType =
  | "template"
  | "text"
  | "image"
  | "audio"
  | "video"
  | "document"
  | "sticker"
  | "location"
  | "contacts"
  | "interactive"
  | "reaction"

/** What has become of a message: `read` implies `delivered`, which implies `sent`. */
export type MessageStatus =
  | "queued"
  | "sending"
  | "unknown"
  | "sent"
  | "failed"
  | "delivered"
  | "read"
  | "skipped"
  | "cancelled"
