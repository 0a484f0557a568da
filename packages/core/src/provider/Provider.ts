/**
 * Port: the messaging provider, such as WhatsApp, which sends messages and holds templates and files. Its reports and
 * customers' messages come back through `Inbound`.
 */
import { Context, Effect, Schema, type Stream } from "effect"
import type { Customer } from "../contacts/Contact.ts"
import { type Forbidden, type InvalidBody, type RateLimited, ServerError } from "../Errors.ts"
import type { MessageId } from "../Id.ts"
import type { Media } from "../media/Media.ts"
import type { ProviderMedia } from "../media/MediaStore.ts"
import type { OutboundMessage } from "../messages/Message.ts"
import type { ResolvedReferences } from "../messages/MessageReferences.ts"
import type { PhoneNumber, ProviderNumber } from "../numbers/PhoneNumber.ts"
import type { StoreError } from "../StoreError.ts"
import type { ProviderTemplate, Template } from "../templates/Template.ts"
import type { TemplateDraft, TemplateEdit } from "../templates/TemplateDraft.ts"
import type { Capabilities } from "./Capabilities.ts"

/** One message to send. */
export interface ProviderSend {
  /** The opaque reference that the provider includes in its status reports. */
  readonly messageId: MessageId
  readonly sender: PhoneNumber
  readonly message: OutboundMessage
  /** The template that the message names. */
  readonly template: Template | undefined
  /** The message and the files that this message refers to, by the provider's identifiers. */
  readonly refers: ResolvedReferences
}

/** The outcome of a send (contract §3). */
export type ProviderOutcome =
  /**
   * The provider accepted the message and returned its identifier. `isHeld` if it assesses the message's quality first.
   * `recipient`: the names by which the provider knows the recipient.
   */
  | {
    readonly _tag: "Accepted"
    readonly providerMessageId: string
    readonly isHeld?: boolean
    readonly recipient?: Customer
  }
  /**
   * The provider refused the message for good. `ofSender` if it refuses every message of the number for now, and reports
   * a block of it: a message that waits in a queue then waits for the end of the block.
   */
  | { readonly _tag: "Refused"; readonly error: InvalidBody | Forbidden; readonly ofSender?: boolean }
  /**
   * Nothing was sent: throttled, unavailable, or connection refused. `lacksFiles` if the provider no longer has a file of
   * {@link ProviderSend.refers}: the next send uploads the files of the message again.
   */
  | { readonly _tag: "NotSent"; readonly error: RateLimited | ServerError; readonly lacksFiles?: boolean }
  /** The request may have been sent, but there was no conclusive answer. */
  | { readonly _tag: "Unknown" }

/** The provider could not list the templates. */
export class TemplatesUnavailable extends Schema.TaggedError<TemplatesUnavailable>()("TemplatesUnavailable", {
  reason: Schema.Literals(["provider_unavailable", "provider_error"]).pipe(
    Schema.withConstructorDefault(Effect.succeed("provider_unavailable" as const))
  ),
  message: Schema.String
}) {}

/** The provider could not be reached or did not answer properly. `message` describes the request and the failure. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  reason: Schema.Literals(["provider_unavailable", "provider_error"]),
  message: Schema.String
}) {}

/** The error that the caller of the API gets. */
export const toServerError = ({ message, reason }: ProviderError | TemplatesUnavailable): ServerError =>
  new ServerError({ message, reason })

/**
 * The provider does not have the file (any more). `mayReturn` is true if this is not sure, for example because the
 * provider responds alike to a call without permission: the file is then requested again later.
 */
export class FileGone extends Schema.TaggedError<FileGone>()("FileGone", {
  mayReturn: Schema.optionalKey(Schema.Boolean)
}) {}

/** A file to upload. */
export interface FileUpload {
  readonly sender: PhoneNumber
  readonly media: Media
  readonly bytes: Stream.Stream<Uint8Array, StoreError>
}

/** Errors of a call that changes a template. */
export type TemplateRefused = InvalidBody | Forbidden | RateLimited | ServerError

/** Changes of the templates of a number's account. The provider reviews them, and reports the result later. */
export interface TemplateEditor {
  /** Creates a template. Returns it as the provider has it. */
  readonly create: (sender: PhoneNumber, draft: TemplateDraft) => Effect.Effect<ProviderTemplate, TemplateRefused>
  /** Changes a template. Returns it as the provider has it then. */
  readonly edit: (
    sender: PhoneNumber,
    template: Template,
    change: TemplateEdit
  ) => Effect.Effect<ProviderTemplate, TemplateRefused>
  /**
   * Uploads a file that a template's header shows as its sample. Returns the handle by which the components name the
   * file. Sends nothing, so it is safe to repeat.
   */
  readonly uploadSample: (upload: FileUpload) => Effect.Effect<string, TemplateRefused | StoreError>
  /** Deletes this template; templates of its name in other languages stay. Succeeds if it is gone already. */
  readonly remove: (sender: PhoneNumber, template: Template) => Effect.Effect<void, TemplateRefused>
}

export class Provider extends Context.Service<Provider, {
  /** The provider's name. It is stored with each number (`PhoneNumber.provider`), and shown in the log. */
  readonly name: string
  /** What its channel supports; the checks of a send follow from it (`Capabilities`). */
  readonly capabilities: Capabilities
  /**
   * Sends a message once and never retries by itself. Every result is an outcome and never an error. A defect, an
   * interruption or 8 seconds without an answer count as `Unknown`.
   */
  readonly send: (command: ProviderSend) => Effect.Effect<ProviderOutcome>
  /**
   * Marks a customer's message as read, and optionally shows a typing indicator. Safe to repeat. Providers without this
   * feature omit it.
   */
  readonly markRead?: (command: {
    readonly sender: PhoneNumber
    readonly providerMessageId: string
    readonly isTyping: boolean
  }) => Effect.Effect<void, InvalidBody | Forbidden | RateLimited | ServerError>
  /** Uploads a file for sends from a number. Providers without files omit it. */
  readonly uploadFile?: (
    upload: FileUpload
  ) => Effect.Effect<ProviderMedia, InvalidBody | Forbidden | RateLimited | ServerError | StoreError>
  /** Downloads a file that a customer sent to a number. Providers without files omit it. */
  readonly downloadFile?: (
    file: { readonly sender: PhoneNumber; readonly providerMediaId: string }
  ) => Stream.Stream<Uint8Array, FileGone | ProviderError>
  /**
   * The number named by the configuration, as the provider has it now. The first workspace starts with it. Takes at
   * most 8 s.
   */
  readonly firstNumber: Effect.Effect<ProviderNumber, ProviderError>
  /** Providers whose templates are managed elsewhere omit it. */
  readonly templateEditor?: TemplateEditor
  /** All templates of the number's account, in every status. */
  readonly templates: (sender: PhoneNumber) => Effect.Effect<ReadonlyArray<ProviderTemplate>, TemplatesUnavailable>
}>()("@wac/core/provider/Provider") {}
