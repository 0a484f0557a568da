/**
 * The contents of messages of every kind (contract §9), with the provider's field names; templates use our own.
 */
import type { Json } from "../Json.ts"

/** A file: an uploaded one by its id, or one that the provider fetches from a link. Exactly one of the two. */
export interface FileContent {
  /** `med_…` */
  readonly media?: string
  /** `https`; at most 2,048 characters. */
  readonly link?: string
}

/** A picture (JPEG, PNG: 5 MB) or a video (MP4, 3GPP: 16 MB). */
export interface CaptionedContent extends FileContent {
  /** At most 1,024 characters. */
  readonly caption?: string
}

/** An audio file (AAC, AMR, MP3, M4A, or Ogg with Opus; up to 16 MB). */
export interface AudioContent extends FileContent {
  /** Shown as a voice message; Opus only. */
  readonly voice?: boolean
}

/** A document of any type, up to 100 MB. */
export interface DocumentContent extends FileContent {
  /** At most 1,024 characters. */
  readonly caption?: string
  readonly filename?: string
}

/** A geographic location. */
export interface LocationContent {
  readonly latitude: number
  readonly longitude: number
  readonly name?: string
  readonly address?: string
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
  /** `YYYY-MM-DD` */
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
  readonly emails?: ReadonlyArray<{ readonly email?: string; readonly type?: string }>
  readonly org?: { readonly company?: string; readonly department?: string; readonly title?: string }
  readonly phones?: ReadonlyArray<{ readonly phone?: string; readonly wa_id?: string; readonly type?: string }>
  readonly urls?: ReadonlyArray<{ readonly url?: string; readonly type?: string }>
}

/** A reaction to a message of the same conversation, sent by either side. */
export interface ReactionContent {
  /** `msg_…` */
  readonly message_id: string
  /** One emoji. An empty text removes the reaction. */
  readonly emoji: string
}

interface Words {
  readonly text: string
}

/** The header above the text: at most 60 characters, or a file. */
export type InteractiveHeader =
  | TextHeader
  | ImageHeader
  | VideoHeader
  | { readonly type: "document"; readonly document: HeaderDocument }

/** A document above the text. */
export interface HeaderDocument extends FileContent {
  readonly filename?: string
}

interface TextHeader {
  readonly type: "text"
  readonly text: string
}

interface ImageHeader {
  readonly type: "image"
  readonly image: FileContent
}

interface VideoHeader {
  readonly type: "video"
  readonly video: FileContent
}

/** The header, body and footer: at most 60, 1,024 (in a list 4,096) and 60 characters. */
interface Framed {
  readonly header?: InteractiveHeader
  readonly body: Words
  readonly footer?: Words
}

interface Address {
  /** At most 20 characters. */
  readonly display_text: string
  readonly url: string
}

/** One to three buttons, with titles of at most 20 characters. */
export interface ButtonsContent extends Framed {
  readonly type: "button"
  readonly action: {
    readonly buttons: ReadonlyArray<{
      readonly type: "reply"
      readonly reply: { readonly id: string; readonly title: string }
    }>
  }
}

/** A list that opens, with ten rows in all: titles of at most 24 characters, descriptions of at most 72. */
export interface ListContent {
  readonly type: "list"
  readonly header?: TextHeader
  readonly body: Words
  readonly footer?: Words
  readonly action: {
    readonly button: string
    readonly sections: ReadonlyArray<{
      readonly title?: string
      readonly rows: ReadonlyArray<{ readonly id: string; readonly title: string; readonly description?: string }>
    }>
  }
}

/** A button that opens a URL. */
export interface CtaUrlContent extends Framed {
  readonly type: "cta_url"
  readonly action: { readonly name: "cta_url"; readonly parameters: Address }
}

/** A flow, which is a form inside WhatsApp. Exactly one of `flow_id` and `flow_name` is required. */
export interface FlowContent extends Framed {
  readonly type: "flow"
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
      readonly flow_action_payload?: { readonly screen: string; readonly data?: { readonly [field: string]: Json } }
    }
  }
}

/** Asks for the customer's location. */
export interface LocationRequestContent {
  readonly type: "location_request_message"
  readonly body: Words
  readonly action: { readonly name: "send_location" }
}

/** Asks for the customer's phone number. */
export interface ContactRequestContent {
  readonly type: "request_contact_info"
  readonly body: Words
  readonly action: { readonly name: "request_contact_info" }
}

/** One product of a catalogue. */
export interface ProductContent {
  readonly type: "product"
  readonly body?: Words
  readonly footer?: Words
  readonly action: { readonly catalog_id: string; readonly product_retailer_id: string }
}

/** Up to thirty products of a catalogue. */
export interface ProductListContent {
  readonly type: "product_list"
  readonly header: TextHeader
  readonly body: Words
  readonly footer?: Words
  readonly action: {
    readonly catalog_id: string
    readonly sections: ReadonlyArray<{
      readonly title?: string
      readonly product_items: ReadonlyArray<{ readonly product_retailer_id: string }>
    }>
  }
}

/** A whole catalog. */
export interface CatalogContent {
  readonly type: "catalog_message"
  readonly body: Words
  readonly footer?: Words
  readonly action: {
    readonly name: "catalog_message"
    readonly parameters?: { readonly thumbnail_product_retailer_id?: string }
  }
}

/** A card with a picture or video, and either a URL or buttons. */
export interface MediaCard {
  readonly card_index: number
  readonly type: "cta_url"
  readonly header: ImageHeader | VideoHeader
  readonly body?: Words
  readonly action: {
    readonly name?: "cta_url"
    readonly parameters?: Address
    readonly buttons?: ReadonlyArray<{
      readonly type: "quick_reply"
      readonly quick_reply: { readonly id: string; readonly title: string }
    }>
  }
}

/** A card with a product of a catalogue. */
export interface ProductCard {
  readonly card_index: number
  readonly type: "product"
  readonly action: { readonly product_retailer_id: string; readonly catalog_id: string }
}

/** Two to ten cards of the same shape, side by side. */
export interface CarouselContent {
  readonly type: "carousel"
  readonly body: Words
  readonly action: { readonly cards: ReadonlyArray<MediaCard | ProductCard> }
}

/** An order to pay, in countries where the provider collects payments. */
export interface OrderDetailsContent extends Framed {
  readonly type: "order_details"
  readonly action: { readonly name: "review_and_pay"; readonly parameters: { readonly [field: string]: Json } }
}

/** The status of an order that was paid by such a bill. */
export interface OrderStatusContent {
  readonly type: "order_status"
  readonly body: Words
  readonly footer?: Words
  readonly action: { readonly name: "review_order"; readonly parameters: { readonly [field: string]: Json } }
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

/** A free-form text. */
export interface TextContent {
  /** 1 to 4,096 characters. */
  readonly body: string
  readonly previewUrl?: boolean
}

/** The content of each kind except the template, under its name. All of these require the customer's open window. */
export interface FreeFormContents {
  readonly text: TextContent
  readonly image: CaptionedContent
  readonly audio: AudioContent
  readonly video: CaptionedContent
  readonly document: DocumentContent
  /** WebP: 100 KB, or 500 KB if animated. */
  readonly sticker: FileContent
  readonly location: LocationContent
  /** 1 to 257 contacts. */
  readonly contacts: ReadonlyArray<ContactContent>
  readonly interactive: InteractiveContent
  readonly reaction: ReactionContent
}

/** The kinds of messages that need no approval by the provider. */
export type FreeFormType = keyof FreeFormContents

/** The value of a placeholder: text (never empty), an amount or a time. */
export type TemplateValue =
  | string
  | {
    readonly currency: { readonly fallback_value: string; readonly code: string; readonly amount_1000: number }
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

/** Exactly one of these, as the template requires. */
export interface TemplateHeader {
  readonly text?: string
  readonly image?: FileContent
  readonly video?: FileContent
  readonly document?: HeaderDocument
  readonly location?: LocationContent
}

/** The value of the template's button at an index: exactly one of these, as the button's type requires. */
export interface TemplateButton {
  /** Zero-based. */
  readonly index: number
  /** Appended to the button's URL. */
  readonly urlSuffix?: string
  /** The value that a quick reply returns. */
  readonly payload?: string
  /** The code that is copied. */
  readonly code?: string
  readonly flowToken?: string
  /** Only together with `flowToken`. */
  readonly flowData?: { readonly [field: string]: Json }
  readonly thumbnailProductRetailerId?: string
}

/** Values of a body's placeholders: in order, or by name if the placeholders are named. */
export type BodyParams = ReadonlyArray<TemplateValue> | { readonly [name: string]: TemplateValue }

/** The card at the same index of a carousel. */
export interface TemplateCard {
  readonly header?: TemplateHeader
  readonly bodyParams?: BodyParams
  readonly buttons?: ReadonlyArray<TemplateButton>
}

/** An approved template, with the values to fill in. */
export interface TemplateContent {
  readonly name: string
  /** `<ll>_<CC>` or `<ll>`; matched exactly. */
  readonly language: string
  /** One value for each placeholder of the body; none may be empty. */
  readonly bodyParams?: BodyParams
  readonly header?: TemplateHeader
  readonly buttons?: ReadonlyArray<TemplateButton>
  readonly cards?: ReadonlyArray<TemplateCard>
  /** When the offer ends, in ISO 8601. */
  readonly limitedTimeOffer?: { readonly expiresAt: string }
}
