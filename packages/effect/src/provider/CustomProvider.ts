/**
 * The types of a host's own provider: what it gets, what it returns, and what its channel has.
 */
import type { ErrorReasons } from "../generated/ErrorReasons.ts"
import type { TemplateButton, TemplateCard, TemplateHeader, TemplateValue } from "../generated/MessageContents.ts"
import type { FreeFormMessage } from "../messages/Messages.ts"
import type { TimeInput } from "../TimeInput.ts"
import type { ProviderDetail } from "../WacError.ts"

/** The number that a message is sent from. */
export interface Sender {
  readonly id: string
  /** In E.164 format. */
  readonly phoneNumber: string
  /** The provider's id of the number. */
  readonly providerNumberId: string
}

/** The fields of every message for a provider to send. */
export interface Outbound {
  /** Our id of the message. Send it along as a reference, so that reports can be matched by it. */
  readonly messageId: string
  readonly from: Sender
  /** In E.164 format. */
  readonly to: string
  readonly clientReference?: string
  /** Your provider's id of the message that this one quotes or reacts to. */
  readonly quotes?: string
  /** Your provider's ids of uploaded files, by their ids in the message. */
  readonly mediaIds?: { readonly [mediaId: string]: string }
}

/** A message for a provider to send. */
export type OutboundMessage =
  | Outbound & {
    readonly type: "template"
    readonly template: {
      readonly name: string
      readonly language: string
      /** Values of the body's placeholders, in order. */
      readonly bodyParams: ReadonlyArray<TemplateValue>
      /** Further values that the sender fills in. */
      readonly header?: TemplateHeader
      readonly buttons?: ReadonlyArray<TemplateButton>
      readonly cards?: ReadonlyArray<TemplateCard>
      readonly limitedTimeOffer?: { readonly expiresAt: string }
      /** The provider's id of the template. */
      readonly providerTemplateId: string
    }
  }
  | WithContent<FreeFormMessage>

type WithContent<Message extends FreeFormMessage> = Message extends unknown
  ? Outbound & Pick<Message, Extract<keyof Message, "type" | Message["type"]>>
  : never

interface Refusal<Code extends keyof ErrorReasons> {
  readonly code: Code
  readonly reason: ErrorReasons[Code]
  readonly message: string
  readonly param?: string
  /** The provider's own error. */
  readonly provider?: ProviderDetail
}

/**
 * The outcome of a send at the provider. A result that is not one of these counts as `unknown`, and the log names the
 * field.
 */
export type ProviderOutcome =
  /** The provider accepted the message and returned its id. */
  | { readonly status: "accepted"; readonly providerMessageId: string }
  /** The provider refused it for good: the message fails, and retrying gets the same answer. */
  | ({ readonly status: "refused" } & (Refusal<"invalid_body"> | Refusal<"forbidden">))
  /**
   * The provider certainly sent nothing, and may accept the same message later. `retryAfter` is in milliseconds, at
   * most 24 hours; it defaults to a second.
   */
  | (
    & { readonly status: "not_sent" }
    & ((Refusal<"rate_limited"> & { readonly retryAfter?: number }) | Refusal<"server_error">)
  )
  /** The request may have been sent, but no response said what became of it. Never return `not_sent` in this case. */
  | { readonly status: "unknown" }

/** A template as the provider lists it. */
export interface ProviderTemplate {
  readonly providerTemplateId: string
  readonly name: string
  /** `<ll>_<CC>` or `<ll>`: `en_US`, `en`. */
  readonly language: string
  /** `marketing`, `utility`, `authentication`. */
  readonly category: string
  /** `approved`, `pending`, `rejected`, `paused`, … Only an approved template can be sent. */
  readonly status: string
  /** In the format of the WhatsApp Cloud API: `[{ type: "BODY", text: "Hello {{1}}" }]`. */
  readonly components: ReadonlyArray<unknown>
  /** Defaults to `positional`. */
  readonly parameterFormat?: "positional" | "named"
  readonly quality?: string | null
  readonly rejectionReason?: string | null
}

/**
 * What a provider's channel has. It lacks the capabilities that are omitted: their rules are not enforced, and messages
 * that need them are refused as `invalid_body`, with the field as `param`.
 */
export interface Capabilities {
  /**
   * Free-form messages are allowed only within 24 hours after the recipient last wrote, and a number's customers
   * outside a window count against its messaging limit.
   */
  readonly serviceWindow?: boolean
  /** Approved templates; requires the method `templates`. */
  readonly templates?: boolean
  /** Images, videos, recordings, documents and stickers, by link. */
  readonly media?: boolean
  /** Files that are stored in the service; requires `media` and the method `upload`. */
  readonly uploads?: boolean
  readonly location?: boolean
  readonly contacts?: boolean
  /** Buttons, lists and the like. */
  readonly interactive?: boolean
  readonly reactions?: boolean
  /** Messages that quote another one, by `context`. */
  readonly quotes?: boolean
  /** Read receipts and typing indicators; requires the method `markRead`. */
  readonly readMarks?: boolean
  /** Customers without a phone number, by a user id. */
  readonly userIds?: boolean
}

interface Identity {
  /** The provider's name in the log and of its numbers. Defaults to `custom`. */
  readonly name?: string
  /** The number that the first workspace sends from, in E.164 format. */
  readonly phoneNumber: string
  /** The provider's id of that number. Defaults to the number itself. */
  readonly providerNumberId?: string
}

/** The methods that a capability requires. */
interface Methods {
  /** Returns every template of the number's account, of every status, within a minute. */
  readonly templates: (sender: Sender) => Promise<ReadonlyArray<ProviderTemplate>>
  /** Marks a customer's message as read, by your own id of it. */
  readonly markRead: (
    command: { readonly sender: Sender; readonly providerMessageId: string; readonly typing: boolean }
  ) => Promise<void>
  /**
   * Uploads a file before the first message with it. Later messages reuse the id until it expires, by default after 30
   * days.
   */
  readonly upload: (file: {
    readonly sender: Sender
    readonly mediaId: string
    readonly mimeType: string
    readonly filename: string | null
    readonly size: number
    readonly bytes: AsyncIterable<Uint8Array>
  }) => Promise<{ readonly providerMediaId: string; readonly expiresAt?: TimeInput }>
}

interface Download {
  /**
   * Downloads a file that a customer sent, by the `id` that you reported; `null` if you no longer have it. With it,
   * events have our `media_id` in place of your `id`. Without it, they have what you reported.
   */
  readonly download?: (
    file: { readonly sender: Sender; readonly providerMediaId: string }
  ) => Promise<AsyncIterable<Uint8Array> | null>
}

/** A provider of your own. {@link defineProvider} checks it where it is written. */
export interface CustomProvider extends Identity, Partial<Methods>, Download {
  /** Defaults to what WhatsApp has, with its rules, except for files and read receipts without their methods. */
  readonly capabilities?: Capabilities
  /**
   * Sends a message once, and must not retry on its own. After 8 seconds, or if it rejects, the outcome counts as
   * unknown.
   */
  readonly send: (message: OutboundMessage) => Promise<ProviderOutcome>
}

type KindsOf<Has extends Capabilities> =
  | "text"
  | (Has extends { readonly templates: true } ? "template" : never)
  | (Has extends { readonly media: true } ? "image" | "video" | "audio" | "document" | "sticker" : never)
  | (Has extends { readonly location: true } ? "location" : never)
  | (Has extends { readonly contacts: true } ? "contacts" : never)
  | (Has extends { readonly interactive: true } ? "interactive" : never)
  | (Has extends { readonly reactions: true } ? "reaction" : never)

/** The messages that a channel with these capabilities gets. */
export type OutboundMessageOf<Has extends Capabilities> = Extract<OutboundMessage, { readonly type: KindsOf<Has> }>

type MethodsOf<Has extends Capabilities> =
  & (Has extends { readonly templates: true } ? Pick<Methods, "templates"> : { readonly templates?: never })
  & (Has extends { readonly readMarks: true } ? Pick<Methods, "markRead"> : { readonly markRead?: never })
  & (Has extends { readonly uploads: true } ? Pick<Methods, "upload"> : { readonly upload?: never })

/** What {@link defineProvider} takes: the methods that the capabilities require, and no others. */
export type ProviderDefinition<Has extends Capabilities> = Identity & Download & MethodsOf<Has> & {
  readonly capabilities: Has
  /**
   * Sends a message once, and must not retry on its own. After 8 seconds, or if it rejects, the outcome counts as
   * unknown.
   */
  readonly send: (message: OutboundMessageOf<Has>) => Promise<ProviderOutcome>
}
