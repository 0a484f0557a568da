import type { Json } from "./Json.ts"
import type { UnknownName } from "./UnknownName.ts"

/** A file that a customer sent; the provider keeps it for a few days under `id`. */
export interface ReceivedMedia {
  readonly id: string
  readonly mime_type?: string
  readonly sha256?: string
  /** A link of the provider's that lives for minutes and asks for the sender's credentials. */
  readonly url?: string
  readonly caption?: string
  /** Of a document. */
  readonly filename?: string
  /** Of an audio: recorded in the chat. */
  readonly voice?: boolean
  /** Of a sticker. */
  readonly animated?: boolean
}

/** What a customer chose or filled in. */
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
      /** What was filled into the flow. */
      readonly response?: { readonly [field: string]: Json }
      /** In place of `response`, as it came, where it is no object written as JSON. */
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

/** What is held under the name of the type, for the types that the provider documents. */
export interface ReceivedContentByType {
  readonly text: { readonly body: string }
  /** A template's quick reply. */
  readonly button: { readonly text: string | null; readonly payload: string | null }
  readonly interactive: ReceivedInteractive
  /**
   * `message_id` is our name of the message, where it is known here, else the provider's. `emoji` is `null` when the
   * reaction was taken back.
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
  /** A message that the customer has written anew: which, and how it is now. Opens no window. */
  readonly edit: {
    readonly original_message_id: string
    readonly original_provider_message_id?: string
    readonly message: { readonly type: string; readonly [field: string]: Json }
  }
  /** A message that the customer has taken back. Opens no window. */
  readonly revoke: { readonly original_message_id: string; readonly original_provider_message_id?: string }
  /** Of a type that the provider does not hand on, or without its content: which, if that is known, and why. */
  readonly unsupported: {
    readonly type: string | null
    readonly errors: ReadonlyArray<{ readonly code: number; readonly message: string }>
    /** What the provider did say. */
    readonly content?: { readonly [field: string]: Json }
  }
}

/**
 * What a customer wrote: `type`, and a field of that name. Optional fields, elements of arrays and what is under
 * `interactive` are the upstream provider's, handed on as they came: their types say what it documents.
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
