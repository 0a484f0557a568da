/**
 * The policy checks of a send (contract §3), in their order, from the recipient's name to the messaging limit. Rate
 * limits are checked separately. Pure.
 */
import type { Addressee } from "../contacts/Addressee.ts"
import type { Contact } from "../contacts/Contact.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import * as ServiceWindow from "../contacts/ServiceWindow.ts"
import * as Suppression from "../contacts/Suppression.ts"
import { Forbidden, InvalidBody, type ServerError } from "../Errors.ts"
import type { PhoneNumberId } from "../Id.ts"
import * as KeyBinding from "../keys/KeyBinding.ts"
import * as MessagingLimit from "../limits/MessagingLimit.ts"
import * as Quota from "../limits/Quota.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import * as SenderBlock from "../numbers/SenderBlock.ts"
import * as Capabilities from "../provider/Capabilities.ts"
import { isMarketing, needsPhoneNumber, type Template } from "../templates/Template.ts"
import type { Instant } from "../Time.ts"
import { isFreeForm, type OutboundMessage } from "./Message.ts"
import * as TemplateFit from "./TemplateFit.ts"

/** The facts that the checks use, all read in one atomic step. */
export interface Circumstances {
  readonly now: Instant
  readonly message: OutboundMessage
  /** The name of the running provider (`Provider.name`). */
  readonly provider: string
  /** What its channel has. */
  readonly capabilities: Capabilities.Capabilities
  /**
   * The number that the message names, or the workspace's default number at that provider; undefined if there is none.
   */
  readonly sender: PhoneNumber | undefined
  /** The numbers that the API key is bound to; null if it may send from all. */
  readonly boundTo: KeyBinding.KeyBinding["phoneNumberIds"]
  /** The template with the message's name and language. */
  readonly template: Template | undefined
  readonly contact: Contact | undefined
  /** The stored opt-outs under the recipient's name. */
  readonly suppressions: ReadonlyArray<Suppression.Suppression>
  /**
   * Whether the workspace knows a customer by exactly this `to`. Only matters if `to` is not a valid name by its form.
   */
  readonly isKnownName: boolean
  /** Messages per month; `null` means no limit. */
  readonly quota: number | null
  readonly quotaUsed: number
  /** Unique customers per 24 h; `null` means no limit. */
  readonly messagingLimit: number | null
  readonly customersCounted: number
  readonly customerCounted: boolean
}

/** The first reason to refuse the message; undefined if it may be sent. */
export const refusal = (given: Circumstances): Forbidden | InvalidBody | ServerError | undefined =>
  knownRefusal(given) ?? windowRefusal(given) ?? quotaRefusal(given) ?? messagingLimitRefusal(given)

/** What the checks of {@link knownRefusal} use. */
export type KnownCircumstances = Omit<
  Circumstances,
  "quota" | "quotaUsed" | "messagingLimit" | "customersCounted" | "customerCounted"
>

/** The first reason to refuse the message among the checks that a request to send later already gets (contract §15). */
export const knownRefusal = (given: KnownCircumstances): Forbidden | InvalidBody | ServerError | undefined =>
  CustomerNames.refusal(given.message.to, given.isKnownName) ?? senderRefusal(given) ??
    Capabilities.refusal(given.capabilities, given.message) ?? templateRefusal(given) ??
    addresseeRefusal(given.message.to, given.template) ?? optOutRefusal(given)

/** Refuses another queued message if the workspace has as many as it may (`limit`; `null` means no limit). */
export const queueRefusal = (limit: number | null, queued: number): Forbidden | undefined =>
  Quota.allows(limit, queued) ? undefined : new Forbidden({
    reason: "quota_exhausted",
    message: "as many messages of the workspace as may wait are queued; repeat the request when some were sent"
  })

/** The refusal of a key that may not send from a number (`KeyBinding.maySend`); undefined if it may. */
export const bindingRefusal = (
  boundTo: KeyBinding.KeyBinding["phoneNumberIds"],
  id: PhoneNumberId | undefined,
  param?: string
): Forbidden | undefined =>
  KeyBinding.maySend(boundTo, id) ? undefined : new Forbidden({
    reason: "sender_not_available",
    ...(param === undefined ? {} : { param }),
    message: "this API key may send only from other phone numbers" +
      (param === undefined ? "" : `; name one of them in ${param}`)
  })

type SenderCircumstances = Pick<
  KnownCircumstances,
  "boundTo" | "contact" | "message" | "now" | "provider" | "sender"
>

/** The refusal of the number that is to send, apart from the provider's block of it. */
const unavailableRefusal = (
  { boundTo, message, provider, sender }: SenderCircumstances
) => {
  const notAvailable = (why: string) =>
    new Forbidden({
      reason: "sender_not_available",
      ...(message.from === undefined ? {} : { param: "from" }),
      message: why
    })
  if (sender === undefined) return notAvailable("the workspace has no such phone number to send from")
  // even without `from`: the caller of a bound key has to name a number if the default number is not one of the key's
  const bound = bindingRefusal(boundTo, sender.id, "from")
  if (bound !== undefined) return bound
  if (sender.provider !== provider) {
    return notAvailable(
      `this phone number belongs to the provider ${sender.provider}, but this service runs with ${provider}`
    )
  }
  return sender.available ? undefined : notAvailable("the operator has switched this phone number off")
}

const blockRefusal = ({ contact, message, now, sender }: SenderCircumstances) => {
  const isOpen = ServiceWindow.isOpen(contact?.lastInboundAt ?? null, now)
  return sender?.block != null && SenderBlock.stops(sender.block, isOpen, now)
    ? SenderBlock.refusal(sender.block, message.from === undefined ? undefined : "from")
    : undefined
}

/** The refusal of the number that is to send; undefined if it may. */
export const senderRefusal = (given: SenderCircumstances) => unavailableRefusal(given) ?? blockRefusal(given)

/**
 * When the block of the number ends that caused this refusal of the message; undefined if something else refused it, or
 * if the block has no end.
 */
export const blockedUntil = (given: KnownCircumstances, { reason }: { readonly reason: string }): Instant | undefined =>
  reason === "sender_not_available" && unavailableRefusal(given) === undefined
    ? given.sender?.block?.until ?? undefined
    : undefined

const templateRefusal = ({ message, template }: KnownCircumstances) => {
  if (message.type !== "template") return undefined
  const { language, name } = message.template
  if (template === undefined) {
    return new Forbidden({
      reason: "template_not_found",
      param: "template.name",
      message: `there is no template ${name} in ${language}`
    })
  }
  if (template.status !== "approved") {
    return new Forbidden({
      reason: "template_not_approved",
      param: "template.name",
      message: `the template ${name} in ${language} is ${template.status}, not approved`
    })
  }
  const misfit = TemplateFit.misfit(template, message.template)
  return misfit && new InvalidBody({
    reason: "template_params_mismatch",
    param: misfit.param,
    message: `the template ${name} in ${language} ${misfit.message}`
  })
}

/** Refuses a template that the provider sends only to phone numbers. */
export const addresseeRefusal = (to: Addressee, template: Template | undefined): Forbidden | undefined =>
  template !== undefined && needsPhoneNumber(template) && CustomerNames.isUserId(to)
    ? new Forbidden({
      reason: "phone_number_required",
      param: "to",
      message: "an authentication template can be sent only to a phone number"
    })
    : undefined

const optOutRefusal = ({ contact, message, sender, suppressions, template }: KnownCircumstances) =>
  sender !== undefined && Suppression.isOptedOut(contact, suppressions, sender.id) &&
    (isFreeForm(message) || (template !== undefined && isMarketing(template)))
    ? new Forbidden({ reason: "opted_out", param: "to", message: "the recipient has opted out" })
    : undefined

/**
 * Refuses a free-form message outside the service window. It is checked again just before the provider is called, with
 * that moment as `now` (contract §7).
 */
export const windowRefusal = (
  { capabilities, contact, message, now }: Pick<Circumstances, "capabilities" | "contact" | "message" | "now">
) =>
  capabilities.serviceWindow && isFreeForm(message) && !ServiceWindow.isOpen(contact?.lastInboundAt ?? null, now)
    ? new Forbidden({
      reason: "outside_service_window",
      param: "type",
      message: "free-form messages may be sent only within 24 hours after the recipient last wrote; use a template"
    })
    : undefined

const quotaRefusal = ({ quota, quotaUsed }: Circumstances) =>
  Quota.allows(quota, quotaUsed)
    ? undefined
    : new Forbidden({ reason: "quota_exhausted", message: "the workspace's quota for this month is used up" })

const messagingLimitRefusal = (given: Circumstances) =>
  countsAgainstMessagingLimit(given) &&
    !MessagingLimit.allows(given.messagingLimit, given.customersCounted, given.customerCounted)
    ? new Forbidden({
      reason: "messaging_limit_reached",
      message:
        "the phone numbers of this portfolio have reached their messaging limit for customers outside a service window " +
        "within 24 hours"
    })
    : undefined

/** Only messages outside a service window count, and none on a channel without windows. */
export const countsAgainstMessagingLimit = (
  { capabilities, contact, now }: Pick<Circumstances, "capabilities" | "contact" | "now">
): boolean => capabilities.serviceWindow && !ServiceWindow.isOpen(contact?.lastInboundAt ?? null, now)
