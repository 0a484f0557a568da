/**
 * Derives from one of Meta's errors the changes that affect later messages: opt-outs, blocks, statuses of templates.
 */
import { type Contact, type InboundItem, SenderBlock, type Template, type Time } from "@wac/core"
import * as Classification from "./Classification.ts"
import type { GraphError } from "./GraphError.ts"

/** What the error is about, as far as it is known. */
export interface Subject {
  readonly accountId: string | undefined
  readonly numberId: string | undefined
  readonly customer: Contact.Customer | undefined
  /** The template of the message; undefined for a report, which does not contain it. */
  readonly template?: Pick<Template.Template, "name" | "language"> | undefined
  /** The block of the number that the message was sent with; undefined for a report. */
  readonly held?: SenderBlock.SenderBlock | null | undefined
  /** The HTTP status of the response; undefined for a report. */
  readonly status: number | undefined
  readonly at: Time.Instant
}

/** Whether the error says that the recipient wants no marketing messages. */
export const isOptOut = (error: GraphError): boolean =>
  Classification.meaningOf(error, undefined).effect?._tag === "OptOut"

/**
 * The block that follows from an error. A restriction that allows replies is why a template was refused after sends were
 * tried again, and leaves replies allowed. That a reply was refused shows that there is more than the restriction, and so
 * does a template while the restriction is in force, which lets only those within a service window pass.
 */
const blockOf = (
  reason: SenderBlock.SenderBlockReason,
  provider: SenderBlock.SenderBlock["provider"],
  { at, held, template }: Pick<Subject, "at" | "held" | "template">
): SenderBlock.SenderBlock => {
  if (held?.reason !== reason || held.scope !== "outside_window") return SenderBlock.of(reason, at, provider, "send")
  return template === undefined || SenderBlock.inForce(held, at)
    ? SenderBlock.of(reason, at, provider)
    : { ...SenderBlock.of(reason, at, provider, "send"), scope: held.scope }
}

/** The inbound items to apply; none if the error has no effect, or if it is unknown on what. */
export const of = (
  error: GraphError,
  { accountId, at, customer, held, numberId, status, template }: Subject
): ReadonlyArray<InboundItem.InboundItem> => {
  const { effect, title } = Classification.meaningOf(error, status)
  switch (effect?._tag) {
    case "OptOut":
      return numberId === undefined || customer === undefined
        ? []
        : [{ _tag: "Preference", providerNumberId: numberId, customer, preference: "opt_out", at }]
    case "Block": {
      const number = effect.scope === "account" && accountId !== undefined
        ? { providerAccountId: accountId }
        : numberId !== undefined
        ? { providerNumberId: numberId }
        : undefined
      const provider = { code: `${error.code}`, message: error.message || title }
      const block = blockOf(effect.reason, provider, { at, held, template })
      return number === undefined ? [] : [{ _tag: "Number", number, at, change: { block } }]
    }
    case "TemplateStatus":
      if (accountId === undefined) return []
      return template === undefined
        ? [{ _tag: "TemplatesChanged", providerAccountId: accountId }]
        : [{
          _tag: "Template",
          providerAccountId: accountId,
          name: template.name,
          language: template.language,
          at,
          change: { status: effect.status }
        }]
    case "TemplatesStale":
      return accountId === undefined ? [] : [{ _tag: "TemplatesChanged", providerAccountId: accountId }]
    case undefined:
      return []
  }
}
