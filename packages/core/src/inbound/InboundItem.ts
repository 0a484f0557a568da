/**
 * What upstream tells, one thing each, in the domain's words; `Inbound.receive` applies it. `at` is upstream's time:
 * older words do not undo newer ones.
 */
import type { Customer, Preference } from "../contacts/Contact.ts"
import type { MessageId } from "../Id.ts"
import type { Report } from "../messages/Message.ts"
import type { NumberChange, NumberName } from "../numbers/PhoneNumber.ts"
import type { TemplateChange } from "../templates/Template.ts"
import type { Instant } from "../Time.ts"
import type { InboundMessage } from "./InboundMessage.ts"

export type InboundItem =
  /** What became of a message that we sent. */
  | {
    readonly _tag: "Status"
    /** The number that the message was sent from; `null` when whoever tells speaks for all numbers. */
    readonly providerNumberId: string | null
    /** The opaque reference that our send carried: the message's own id. */
    readonly reference: MessageId | null
    readonly report: Report
  }
  /** A customer's message. */
  | { readonly _tag: "Message"; readonly message: InboundMessage }
  /** Whether a customer wants to be written to, told otherwise than by a message of theirs. */
  | {
    readonly _tag: "Preference"
    readonly providerNumberId: string
    readonly customer: Customer
    readonly preference: Preference
    readonly at: Instant
  }
  /** A customer has another number, or another name at the provider, than before. */
  | {
    readonly _tag: "CustomerMoved"
    readonly providerNumberId: string
    readonly from: Customer
    readonly to: Customer
    readonly at: Instant
  }
  /** Something of a template has changed; fields left out have not. */
  | {
    readonly _tag: "Template"
    readonly providerAccountId: string
    readonly name: string
    readonly language: string
    readonly at: Instant
    readonly change: TemplateChange
  }
  /** The account's templates are to be listed anew, soon. */
  | { readonly _tag: "TemplatesChanged"; readonly providerAccountId: string }
  /** Something of numbers has changed. */
  | { readonly _tag: "Number"; readonly number: NumberName; readonly at: Instant; readonly change: NumberChange }
  /** Something that we knowingly pass over. `kind` is one of few words, never a payload. */
  | { readonly _tag: "Skipped"; readonly kind: string }
