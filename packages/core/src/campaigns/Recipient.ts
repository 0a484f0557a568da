/**
 * Recipients of campaigns (contract §11): the format of an uploaded row, how a row is read and checked, and the message
 * that it becomes or the problem that leaves it out. Pure.
 */
import { Option, Predicate, Schema, Struct } from "effect"
import { Addressee } from "../contacts/Addressee.ts"
import type * as Contact from "../contacts/Contact.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import * as WrittenName from "../contacts/WrittenName.ts"
import * as FieldPath from "../FieldPath.ts"
import type { CampaignId, WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import type { OutboundOf } from "../messages/Message.ts"
import type { KeyedRequest } from "../messages/MessageStore.ts"
import * as Policy from "../messages/Policy.ts"
import { BodyParams, TemplateButton, type TemplateContent, TemplateHeader } from "../messages/TemplateContent.ts"
import * as TemplateFit from "../messages/TemplateFit.ts"
import { canonicalOf } from "../numbers/E164.ts"
import * as PlainJson from "../PlainJson.ts"
import * as PlainText from "../PlainText.ts"
import * as RepeatedField from "../RepeatedField.ts"
import * as SchemaWords from "../SchemaWords.ts"
import { isMarketing, type Template } from "../templates/Template.ts"
import type { Plan } from "./Campaign.ts"
import type { Problem, ProblemReason } from "./Problem.ts"
import { TimeZoneName } from "./QuietHours.ts"
import * as VariableNames from "./VariableNames.ts"

/**
 * The maximum number of variables of a recipient. Files that other programs export have about a hundred columns. Rows
 * with very many would take long to read, and the 500 rows that are stored together would take much memory.
 */
export const maxVariables = 500

const VariableName = PlainText.between(1, 64)

/** Whether a variable of a recipient may have the name. */
export const isVariableName = Schema.is(VariableName)

export const Recipient = Schema.Struct({
  to: Addressee,
  bodyParams: Schema.optionalKey(BodyParams),
  header: Schema.optionalKey(TemplateHeader),
  buttons: Schema.optionalKey(Schema.Array(TemplateButton).check(Schema.isMaxLength(10))),
  timeZone: Schema.optionalKey(TimeZoneName).annotateKey({
    description: "For quiet hours, in the IANA database: `Europe/Paris`; if omitted, the zones of the country in `to`"
  }),
  variables: Schema.optionalKey(
    Schema.Record(VariableName, PlainText.between(1, 1024)).check(Schema.isMaxProperties(maxVariables))
  ).annotateKey({ description: "What replaces `{{name}}` in the template's values" })
}).annotate({
  identifier: "CampaignRecipient",
  embedded: true,
  description: "A customer to write to. What is omitted comes from the campaign's template."
})
export type Recipient = typeof Recipient.Type

/** Where a row comes from, so that people can find it in their file. */
export interface Origin {
  /** The line of the file in which the row begins, from 1; omitted if the row did not come from a file. */
  readonly line?: number
  /**
   * The text in the file of the field that is wrong, or else of the customer's name; at most {@link maxValue}
   * characters. Omitted if it equals the recipient's `to`.
   */
  readonly value?: string
}

/** The customer whom a row with a problem names. */
export interface Named {
  /** The key of the customer; omitted if the name cannot be read, or stands in {@link Origin.value} in a plain form. */
  readonly customer?: Contact.Contact["key"]
}

/** An uploaded row: a recipient, or the problem because of which the row is not one. */
export type Row = Origin & ({ readonly recipient: Recipient } | Named & { readonly problem: Problem })

/** The maximum length of {@link Origin.value} in UTF-16 code units. A longer one is cut. */
export const maxValue = 100

/** The line of a row, and the text of the field that is wrong, or else of the customer's name. */
export const originOf = (row: Row): { readonly line: number | null; readonly value: string | null } => ({
  line: row.line ?? null,
  value: row.value ?? ("recipient" in row ? row.recipient.to : null)
})

/** The route of the idempotency keys of a campaign's messages. The key is the customer. */
export const routeOf = (id: CampaignId): string => `campaign ${id}`

/**
 * The fingerprint of every message of a campaign. It does not depend on the body, because the check froze the message.
 */
export const fingerprint = "campaign"

/** The request, with its idempotency key, under which a campaign's message is sent. */
export const requestOf = (
  { id, workspaceId }: { readonly id: CampaignId; readonly workspaceId: WorkspaceId },
  key: IdempotencyKey
): KeyedRequest => ({ workspaceId, route: routeOf(id), key, fingerprint })

/**
 * The key of the customer that the row names, which is also the idempotency key of their message. A row with a problem
 * may name a customer too, and is erased with them. `null` if the row names none.
 */
export const customerOf = (row: Row): Contact.Contact["key"] | null => {
  if ("recipient" in row) return CustomerNames.keyOf(row.recipient.to)
  if (row.customer !== undefined) return row.customer
  const { customer } = namedIn(row.value, undefined)
  // the value may be any text of the row
  const isName = customer !== undefined &&
    (CustomerNames.isNumber(customer) || CustomerNames.userIdPattern.test(customer))
  return isName ? customer : null
}

/** The customer whom a text of a file names. */
const namedIn = (written: unknown, country: string | undefined): Named => {
  const read = typeof written === "string" ? WrittenName.read(written, country) : undefined
  return read !== undefined && "to" in read ? { customer: CustomerNames.keyOf(read.to) } : {}
}

/** The time zone in a row; `null` if it has none. */
export const timeZoneOf = (row: Row): string | null => "recipient" in row ? row.recipient.timeZone ?? null : null

/** Builds the message to a recipient, or returns the name of a variable that the recipient lacks. */
export const messageTo = (
  { from, template: { language, name, ...values } }: Pick<Plan, "from" | "template">,
  { timeZone: _, to, variables, ...row }: Recipient
): { readonly message: OutboundOf<"template"> } | { readonly missing: string } => {
  const own = Struct.pick(row, ["bodyParams", "header", "buttons"])
  const missing: Array<string> = []
  // variables are replaced only in the campaign's values, not in values that the row itself has
  const shared = VariableNames.filled(Struct.omit(values, Struct.keys(own)), (name) => {
    const text = variables?.[name]
    if (text === undefined) missing.push(name)
    return text
  })
  const template: TemplateContent = { ...shared, ...own, name, language }
  return missing[0] === undefined
    ? { message: { type: "template", to, ...(from === null ? {} : { from }), template } }
    : { missing: missing[0] }
}

/** The state against which a recipient is checked. */
export interface Circumstances {
  /** The template of the recipient's variant, as the campaign's sender may send it. */
  readonly template: Template
  readonly contact: Contact.Contact | undefined
  /** Whether the campaign's sender must not write to the customer (`Suppression.isOptedOut`). */
  readonly isOptedOut: boolean
  /** Whether an earlier row has the same customer, under any of their names. */
  readonly isKnown: boolean
}

/** Checks a row. Returns the problem or the message to send, which does not change any more. */
export const check = (
  plan: Pick<Plan, "from" | "template">,
  row: Row,
  { contact, isKnown, isOptedOut, template }: Circumstances
): { readonly message: OutboundOf<"template"> } | { readonly problem: Problem } => {
  if ("problem" in row) return { problem: row.problem }
  const problem = (reason: ProblemReason, message: string) => ({ problem: { reason, message } })
  const misnamed = CustomerNames.refusal(row.recipient.to, contact)
  if (misnamed !== undefined) return problem("malformed", misnamed.message)
  if (isKnown) return problem("duplicate", "an earlier row has the same customer")
  if (isOptedOut && isMarketing(template)) {
    return problem("opted_out", "the customer has opted out of marketing messages")
  }
  const refusal = Policy.addresseeRefusal(row.recipient.to, template)
  if (refusal !== undefined) return problem("phone_number_required", refusal.message)
  const made = messageTo(plan, row.recipient)
  if ("missing" in made) {
    return problem("template_params_mismatch", `variables.${made.missing} is required by the template's values`)
  }
  const misfit = TemplateFit.misfit(template, made.message.template)
  return misfit === undefined
    ? made
    : problem("template_params_mismatch", `${misfit.param}: the template ${misfit.message}`)
}

const decode = Schema.decodeUnknownResult(Recipient)

const tooMany = `variables: expected at most ${maxVariables} variables`

const valueOf = (value: unknown): Pick<Origin, "value"> =>
  typeof value === "string" ? { value: PlainText.cleaned(value.slice(0, maxValue)) } : {}

/** Builds a row that could not be read. If `value`, which the message is about, is text, the row quotes it. */
export const misread = (message: string, value: unknown, line?: number): Row => ({
  problem: { reason: "malformed", message },
  ...(line === undefined ? {} : { line }),
  ...valueOf(value)
})

/** Builds a row of a file that could not be read, from the text in place of the customer's name, which it quotes. */
export const misreadNamed = (message: string, written: unknown, { country, line }: InFile): Row => ({
  ...misread(message, written, line),
  ...namedIn(written, country)
})

/**
 * Builds a row that could not be read. It quotes the field with which the message begins, or else the customer's name.
 */
const misreadOf = (json: unknown, message: string, line?: number): Row => {
  const [field = "to"] = /^\w+(?=:)/.exec(message) ?? []
  const text = (name: string) =>
    Predicate.hasProperty(json, name) && typeof json[name] === "string" ? json[name] : undefined
  return misread(message, text(field) ?? text("to"), line)
}

const hasTooMany = (json: unknown): boolean => {
  const variables = Predicate.hasProperty(json, "variables") ? json.variables : undefined
  return Predicate.isObject(variables) && Object.keys(variables).length > maxVariables
}

/** How deep a row may nest: free JSON, and the levels around it. */
const maxDepth = PlainJson.maxDepth + 8

/**
 * Reads a row from JSON. An unknown field is a problem: a misspelt `bodyParams` would send the shared values. If there
 * are too many variables, they are counted but not decoded. A number loses a national prefix, which spreadsheets write
 * in brackets.
 */
export const parse = (json: unknown): Row => {
  if (hasTooMany(json)) return misreadOf(json, tooMany)
  // the name of an unknown field gets into the message
  const violation = PlainJson.violationOf(json, maxDepth)
  if (violation !== undefined) return misreadOf(json, `a value ${violation.issue}`)
  const decoded = decode(json, { onExcessProperty: "error" })
  return decoded._tag === "Success"
    ? { recipient: { ...decoded.success, to: canonicalOf(decoded.success.to) } }
    : misreadOf(json, describe(decoded.failure))
}

/** The maximum length of an unknown field's name in a message: enough to recognise it. */
const maxName = 200

/** The field and what was expected of it, without the value. */
const describe = ({ issue }: Schema.SchemaError): string => {
  const { leaf, path: unknown } = SchemaWords.leafOf(issue)
  if (leaf._tag === "UnexpectedKey") {
    return `there is no field ${FieldPath.of(unknown).slice(0, maxName).toWellFormed()} here`
  }
  const { message, path } = SchemaWords.firstOf(issue)
  return path.length === 0 ? message : `${FieldPath.of(path)}: ${message}`
}

/** What the reader of a file knows about a row. */
export interface InFile {
  /** The line in which the row begins, from 1. */
  readonly line: number
  /** The country of numbers without a country code. */
  readonly country: string | undefined
}

/** Like {@link parse}, but for a row of a file, whose customer's name {@link WrittenName.read} reads. */
export const parseWritten = (json: unknown, { country, line }: InFile): Row => {
  const written = Predicate.hasProperty(json, "to") ? json.to : undefined
  const named = typeof written === "string" ? WrittenName.read(written, country) : undefined
  if (named !== undefined && "issue" in named) return misread(`to: ${named.issue}`, written, line)
  const row = parse(named === undefined ? json : { ...json as object, to: named.to })
  return "recipient" in row
    ? { ...row, line, ...(row.recipient.to === written ? {} : valueOf(written)) }
    : { ...misreadOf(json, row.problem.message, line), ...namedIn(written, country) }
}

/** Why a line of a file is no row at all. */
export const unreadable = {
  encoding: "the line is not UTF-8",
  syntax: "the line is not JSON",
  shape: "the line is not an object in JSON"
} as const

const unreadableMessages = new Set<string>(Object.values(unreadable))

/** Whether a line of a file was no row at all, and not a row with a wrong value. */
export const isUnreadable = (row: Row): boolean => "problem" in row && unreadableMessages.has(row.problem.message)

/**
 * The maximum number of lines of a file that may be no rows at all. If there are more, the file is not a list of
 * recipients, and each of its bytes would be stored as a hundred. Rows with wrong values are not limited, because
 * people have to see which ones they are.
 */
export const maxUnreadable = 10_000

/** Reads a row of a file from a line of JSON. */
export const parseLine = (text: string, inFile: InFile): Row =>
  Option.match(Option.liftThrowable(JSON.parse)(text), {
    onNone: () => misread(unreadable.syntax, text, inFile.line),
    onSome: (json) => {
      if (typeof json !== "object" || json === null || Array.isArray(json)) {
        return misread(unreadable.shape, text, inFile.line)
      }
      const repeated = RepeatedField.find(text)
      if (repeated === undefined) return parseWritten(json, inFile)
      const written = Predicate.hasProperty(json, "to") ? json.to : undefined
      return {
        ...misread(`${FieldPath.of(repeated)} must be given once`, text, inFile.line),
        ...namedIn(written, inFile.country)
      }
    }
  })
