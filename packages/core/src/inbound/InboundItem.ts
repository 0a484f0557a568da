/**
 * The items that a provider reports, in the domain's terms; `Inbound` applies them. `at` is the provider's
 * time: an older item does not undo a newer one.
 */
import type { Customer, Preference } from "../contacts/Contact.ts"
import type { MessageId } from "../Id.ts"
import type { Report } from "../messages/Message.ts"
import type { NumberChange, NumberName } from "../numbers/PhoneNumber.ts"
import type { TemplateChange } from "../templates/Template.ts"
import type { Instant } from "../Time.ts"
import type { InboundMessage } from "./InboundMessage.ts"

/** One item of a provider's report. */
export type InboundItem =
  /** The status of a message that we sent. */
  | {
    readonly _tag: "Status"
    /** The number that the message was sent from; `null` if the report covers all numbers. */
    readonly providerNumberId: string | null
    /** The reference that we sent with the message: its own id. */
    readonly reference: MessageId | null
    readonly report: Report
    /** The recipient's names in the report. There may be none, or other names than the message was sent to. */
    readonly recipient?: Customer
    /** The recipient's preference that the report implies. It applies to the customer to whom our message was sent. */
    readonly preference?: Preference
  }
  /** A customer's message. */
  | { readonly _tag: "Message"; readonly message: InboundMessage }
  /** A customer's preference, reported separately from their messages. */
  | {
    readonly _tag: "Preference"
    readonly providerNumberId: string
    readonly customer: Customer
    readonly preference: Preference
    readonly at: Instant
  }
  /** A customer has a new number or a new user id at the provider. */
  | {
    readonly _tag: "CustomerMoved"
    readonly providerNumberId: string
    readonly from: Customer
    readonly to: Customer
    readonly at: Instant
  }
  /** A template has changed. Omitted fields have not. */
  | {
    readonly _tag: "Template"
    readonly providerAccountId: string
    readonly name: string
    readonly language: string
    readonly at: Instant
    readonly change: TemplateChange
  }
  /** The account's templates must be listed again soon. */
  | { readonly _tag: "TemplatesChanged"; readonly providerAccountId: string }
  /** A phone number, or all numbers of an account, have changed. */
  | { readonly _tag: "Number"; readonly number: NumberName; readonly at: Instant; readonly change: NumberChange }
  /** An item that is ignored on purpose. `kind` is one of a few fixed words, never content. */
  | { readonly _tag: "Skipped"; readonly kind: string }
