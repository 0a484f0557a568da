/**
 * What customers write, by type: the same in `inbound.receive` and in the event `message.received` (contract §9).
 */

/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [field: string]: Json }

/** A file. */
export interface ReceivedMedia {
  /**
   * Our id of the file, in events; `wac.media.open` reads it. Absent if the provider cannot download files, and the
   * provider's `id` is there instead.
   */
  readonly media_id?: string
  /** The provider's id of the file, which a provider reports. */
  readonly id?: string
  readonly mime_type?: string
  /** In hexadecimal. */
  readonly sha256?: string
  readonly url?: string
  readonly caption?: string
  /** Documents only. */
  readonly filename?: string
  /** Audio only: whether it was recorded in the chat. */
  readonly voice?: boolean
  /** Stickers only. */
  readonly animated?: boolean
}

/** What a customer chose in an interactive message, or filled into a flow. */
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
      readonly response?: { readonly [field: string]: Json }
    }
  }

/** The content of each type of message, under the type's name. */
export interface ReceivedContent {
  readonly text: { readonly body: string }
  readonly image: ReceivedMedia
  readonly video: ReceivedMedia
  readonly audio: ReceivedMedia
  readonly document: ReceivedMedia
  readonly sticker: ReceivedMedia
  readonly location: {
    readonly latitude: number
    readonly longitude: number
    readonly name?: string
    readonly address?: string
    readonly url?: string
  }
  readonly contacts: ReadonlyArray<{ readonly [field: string]: Json }>
  /** A tap on a template's quick reply. */
  readonly button: { readonly text: string | null; readonly payload: string | null }
  readonly interactive: ReceivedInteractive
  readonly order: {
    readonly catalog_id?: string
    readonly text?: string
    readonly product_items: ReadonlyArray<{ readonly [field: string]: Json }>
  }
  /**
   * When a provider reports it, `message_id` is the provider's id of the message. In the event it is ours if the message is
   * known here, and `provider_message_id` is the provider's. `emoji` is `null` if the customer removed the reaction.
   */
  readonly reaction: {
    readonly message_id: string
    readonly provider_message_id?: string
    readonly emoji: string | null
  }
  /** A message that the customer edited: its id, as in a reaction, and its present content. */
  readonly edit: {
    readonly original_message_id: string
    readonly original_provider_message_id?: string
    readonly message: { readonly type: string; readonly [field: string]: Json }
  }
  /** A message that the customer revoked. */
  readonly revoke: { readonly original_message_id: string; readonly original_provider_message_id?: string }
  /** A message that the provider does not pass on: its type, if known, and why. */
  readonly unsupported: {
    readonly type: string | null
    readonly errors: ReadonlyArray<{ readonly code: number; readonly message: string }>
    /** The content that the provider did send. */
    readonly content?: { readonly [field: string]: Json }
  }
}

/** Exactly one content, under the name of its type. */
export type OneContent = {
  readonly [Type in keyof ReceivedContent]: { readonly [Field in Type]: ReceivedContent[Type] }
}[keyof ReceivedContent]

/** The message that a message quotes or answers. */
export interface ReceivedContext {
  /** The provider's id of the other message. In the event it is ours if the message is known here. */
  readonly message_id?: string
  /** In the event: the provider's id of the other message. */
  readonly provider_message_id?: string
  readonly from?: string
  readonly forwarded?: boolean
}
