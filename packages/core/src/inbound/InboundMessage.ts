/**
 * A customer's message to one of our numbers: its fields, the preference that it expresses, whether it opens a window,
 * and how long it counts. Pure.
 */
import { Duration, Predicate, type Schema } from "effect"
import type { Customer, Preference } from "../contacts/Contact.ts"
import * as OptOutWords from "../contacts/OptOutWords.ts"
import type { MediaId, MessageId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** The customer's profile according to the provider. It is unverified. */
export interface Profile {
  readonly name?: string
  readonly username?: string
  /** The customer's identifier across a group of businesses. */
  readonly parent_user_id?: string
}

/** A customer's file as the provider names it. */
export interface InboundFile {
  readonly providerMediaId: string
  /** SHA-256 in lower-case hexadecimal, as the provider reported it; `null` if it reported none. */
  readonly sha256: string | null
  /** The file's name, as the provider reported it; unverified. */
  readonly filename: string | null
}

/** A message of a customer, or a message that the business sent from its own phone, as the provider delivered it. */
export interface InboundMessage {
  /** The provider's id of the number that the customer wrote to. */
  readonly providerNumberId: string
  readonly providerMessageId: string
  readonly customer: Customer
  /** The message's own time, according to the provider. */
  readonly at: Instant
  /** The event's `data.type`: `text`, `button`, … */
  readonly type: string
  /** The value in the event's `data` under the name of the type: `{body}` for a `text`. */
  readonly content: Schema.Json
  /** The file that the content describes, if the provider lets us download it. */
  readonly file?: InboundFile
  /** The message that this message quotes or answers: `{message_id, from?, forwarded?}`. */
  readonly context: Schema.Json | null
  /** Whether the business sent the message from its own phone. */
  readonly isEcho?: boolean
  /**
   * Whether it is not a message to the number: it was said in a group, or is a call. Its type is `unsupported`.
   */
  readonly isAside?: boolean
  /** Absent in an echo, and if the provider did not send it. */
  readonly profile?: Profile
  /** The preference that the provider reports with the message; `undefined` if the message's words decide. */
  readonly preference: Preference | undefined
}

const propertyIn = (fields: unknown, name: string): unknown =>
  Predicate.hasProperty(fields, name) ? fields[name] : undefined

const textIn = (fields: unknown, name: string): string | undefined => {
  const text = propertyIn(fields, name)
  return typeof text === "string" ? text : undefined
}

/**
 * The preference that a message expresses: the preference that the provider reports; else, by the workspace's words, a
 * text, or the label or value of a pressed button or of a chosen row of a list. An edit may opt out, but not in: the
 * message may have been written before the opt-out.
 */
export const preferenceOf = (
  { content, preference, type }: Pick<InboundMessage, "preference" | "type"> & { readonly content: unknown },
  words: OptOutWords.Settings
): Preference | undefined => {
  if (preference !== undefined) return preference
  if (type === "text") return OptOutWords.preferenceOf(words, textIn(content, "body") ?? "", "typed")
  if (type === "edit") {
    const message = propertyIn(content, "message")
    const edited = textIn(message, "type") ?? ""
    const found = preferenceOf({ type: edited, content: propertyIn(message, edited), preference }, words)
    return found === "opt_out" ? found : undefined
  }
  const labels = type === "button"
    ? [textIn(content, "text"), textIn(content, "payload")]
    : type === "interactive"
    ? ["button_reply", "list_reply"].map((name) => propertyIn(content, name))
      .flatMap((reply) => [textIn(reply, "title"), textIn(reply, "id")])
    : []
  return labels.map((label) => label === undefined ? undefined : OptOutWords.preferenceOf(words, label, "button"))
    .find(Predicate.isNotUndefined)
}

/** The types of messages that change an earlier message and open no window. */
const changes: ReadonlySet<string> = new Set(["edit", "revoke"])

/**
 * Whether the message opens the service window: a customer sent it to the number, and it does not change an earlier
 * message.
 */
export const opensWindow = ({ isAside, isEcho, type }: Pick<InboundMessage, "isAside" | "isEcho" | "type">): boolean =>
  isEcho !== true && isAside !== true && !changes.has(type)

/** The fields in which messages of these types refer to another message: by our id, and by the provider's. */
const aboutField: ReadonlyMap<string, readonly [name: string, providerName: string]> = new Map([
  ["reaction", ["message_id", "provider_message_id"]],
  ["edit", ["original_message_id", "original_provider_message_id"]],
  ["revoke", ["original_message_id", "original_provider_message_id"]]
])

/** The provider's identifiers of the messages to which this message refers. */
export const refersTo = ({ content, context, type }: InboundMessage): ReadonlyArray<string> => {
  const about = aboutField.get(type)
  return [about && textIn(content, about[0]), textIn(context, "message_id")].filter(Predicate.isNotUndefined)
}

/**
 * Replaces the provider's identifier in a field by our id, if it is known, and keeps the provider's in another field.
 */
const renamed = (
  json: Schema.Json,
  [name, providerName]: readonly [name: string, providerName: string],
  nameOf: (providerMessageId: string) => MessageId | undefined
): Schema.Json => {
  const theirs = textIn(json, name)
  return theirs === undefined || !Predicate.isObject(json)
    ? json
    : { ...json as Schema.JsonObject, [name]: nameOf(theirs) ?? theirs, [providerName]: theirs }
}

/** The message with our ids of the messages to which it refers. */
export const named = (
  message: InboundMessage,
  nameOf: (providerMessageId: string) => MessageId | undefined
): InboundMessage => {
  const about = aboutField.get(message.type)
  return {
    ...message,
    content: about === undefined ? message.content : renamed(message.content, about, nameOf),
    context: message.context === null
      ? null
      : renamed(message.context, ["message_id", "provider_message_id"], nameOf)
  }
}

const withFirst = (json: Schema.Json | undefined, media_id: MediaId): Schema.Json =>
  Predicate.isObject(json) ? { media_id, ...json as Schema.JsonObject } : { media_id }

/** The message with our id of its file, in its content or in the content of an edited message. */
export const withMedia = (message: InboundMessage, mediaId: MediaId): InboundMessage => {
  const { content, type } = message
  if (type !== "edit") return { ...message, content: withFirst(content, mediaId) }
  const edit = content as { readonly message: Schema.JsonObject & { readonly type: string } }
  const { message: edited } = edit
  return {
    ...message,
    content: { ...edit, message: { ...edited, [edited.type]: withFirst(edited[edited.type], mediaId) } }
  }
}

/** Builds a text message from a customer. */
export const ofText = (
  { body, ...message }: Pick<InboundMessage, "providerNumberId" | "providerMessageId" | "customer" | "at"> & {
    readonly body: string
  }
): InboundMessage => ({
  ...message,
  type: "text",
  content: { body },
  context: null,
  preference: undefined
})

/**
 * A message that is older than this when it is processed is marked as late, so that a bot need not answer yesterday's
 * questions. The provider retries for days, and the service may have been down itself.
 */
export const lateAfter = Duration.minutes(15)

/** Whether the message is so late that the receiver should know. */
export const isLate = ({ at }: Pick<InboundMessage, "at">, now: Instant): boolean =>
  now - at > Duration.toMillis(lateAfter)

/**
 * The age from which a message is ignored. The provider retries for 7 days, so this leaves a margin. It is less than
 * {@link rememberedUntil}, so a repeated message never counts twice.
 */
export const maxAge = Duration.days(30)

/** Whether the message is too old to count. */
export const isTooOld = ({ at }: Pick<InboundMessage, "at">, now: Instant): boolean =>
  at <= now - Duration.toMillis(maxAge)

/** Until when a message is remembered to recognize duplicates: a day longer than it can count, since clocks differ. */
export const rememberedUntil = ({ at }: Pick<InboundMessage, "at">, now: Instant): Instant =>
  Math.max(at, now) + Duration.toMillis(Duration.sum(maxAge, Duration.days(1)))
