import type { Json } from "./Json.ts"
import type { UnknownName } from "./UnknownName.ts"

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

/**
 * A file that a customer sent. `media_id` reads it at `/v1/media/{media_id}`, for as long as it is kept. It is absent only
 * if the service runs with a provider of its host that downloads no files: then `id` is that provider's.
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

/** A customer's choice or filled-in form. */
export type ReceivedInteractive =
  | { readonly type: "button_reply"; readonly button_reply: { readonly id: string; readonly title: string } }
  | {
    readonly type: "list_reply"
    readonly list_reply: { readonly id: string; readonly title: string; readonly description?: string }
  }
  | {
    readonly type: "nfm_reply"
    readonly nfm_reply: {
      readonly name?: string
      readonly body?: string
      /** The values that the customer filled into the flow. */
      readonly response?: { readonly [field: string]: Json }
      /** The raw text, in place of `response`, if it is not a JSON object. */
      readonly response_json?: string
    }
  }
  | { readonly type: UnknownName; readonly [field: string]: Json }

/** An address-book entry; most of its fields are optional. */
export interface ReceivedContact {
  readonly name?: {
    readonly formatted_name?: string
    readonly first_name?: string
    readonly last_name?: string
    readonly [field: string]: Json | undefined
  }
  readonly phones?: ReadonlyArray<{ readonly phone?: string; readonly wa_id?: string; readonly type?: string }>
  readonly [field: string]: unknown
}

/** The content under the name of the type, for the types that the provider documents. */
export interface ReceivedContentByType {
  readonly text: { readonly body: string }
  /** A template's quick reply. */
  readonly button: { readonly text: string | null; readonly payload: string | null }
  readonly interactive: ReceivedInteractive
  /**
   * `message_id` is the service's id of the message if the service knows it, otherwise the provider's. `emoji` is
   * `null` if the reaction was removed.
   */
  readonly reaction: {
    readonly message_id: string
    readonly provider_message_id?: string
    readonly emoji: string | null
  }
  readonly image: ReceivedMedia
  readonly audio: ReceivedMedia
  readonly video: ReceivedMedia
  readonly document: ReceivedMedia
  readonly sticker: ReceivedMedia
  readonly location: {
    readonly latitude: number
    readonly longitude: number
    readonly name?: string
    readonly address?: string
    readonly url?: string
  }
  readonly contacts: ReadonlyArray<ReceivedContact>
  readonly order: {
    readonly catalog_id?: string
    readonly text?: string
    readonly product_items: ReadonlyArray<{
      readonly product_retailer_id?: string
      readonly quantity?: number
      readonly item_price?: number
      readonly currency?: string
    }>
  }
  /** The customer edited a message: its id and its new content. Does not open a service window. */
  readonly edit: {
    readonly original_message_id: string
    readonly original_provider_message_id?: string
    readonly message: { readonly type: string; readonly [field: string]: Json }
  }
  /** The customer deleted a message. Does not open a service window. */
  readonly revoke: { readonly original_message_id: string; readonly original_provider_message_id?: string }
  /** A message whose type or content the provider does not pass on: the type, if known, and the reason. */
  readonly unsupported: {
    readonly type: string | null
    readonly errors: ReadonlyArray<{ readonly code: number; readonly message: string }>
    /** What the provider reported. */
    readonly content?: { readonly [field: string]: Json }
  }
}

/**
 * What a customer wrote: `type`, and a field of that name. Optional fields, elements of arrays and the fields of
 * `interactive` are passed on from the provider unchanged: their types follow its documentation.
 */
export type ReceivedContent =
  | {
    readonly [Type in keyof ReceivedContentByType]:
      & { readonly type: Type }
      & {
        readonly [Field in Type]: ReceivedContentByType[Type]
      }
  }[keyof ReceivedContentByType]
  | ReceivedOther

/** A kind that this version does not know; its content is under its own name: `data[data.type]`. */
export interface ReceivedOther {
  readonly type: UnknownName
  readonly [field: string]: unknown
}
