/**
 * Reads customers' messages (`messages` of a post), their calls, and messages that the business writes on its own
 * phone. The table in the package's README lists the fields of each content.
 */
import { CustomerNames, type E164, type InboundItem, type InboundMessage } from "@wac/core"
import { Predicate } from "effect"
import * as Customers from "./Customers.ts"
import * as GraphError from "./GraphError.ts"
import * as Payload from "./Payload.ts"
import { happened, type PostSource, skipped } from "./PostSource.ts"

/** The content of a message. */
interface Content {
  readonly content: Payload.Json
  readonly file?: InboundMessage.InboundFile
}

/** Reads the field that has the name of the message's type; undefined if it lacks what the type requires. */
type ReadContent = Payload.Read<Content | undefined>

/** Makes a reader of an object that must have the fields of `required` and may have those of `optional`. */
const object = (
  required: { readonly [name: string]: Payload.Read<Payload.Json | undefined> },
  optional: ReadonlyArray<string> = []
): ReadContent => {
  const read = Payload.shape(required)
  return (json) => {
    const found = read(json)
    return Object.values(found).includes(undefined)
      ? undefined
      : { content: { ...(found as Payload.Fields), ...Payload.pick(json, optional) } }
  }
}

const text: ReadContent = (json) => {
  const { body } = Payload.shape({ body: Payload.text })(json)
  return body === undefined ? undefined : { content: { body } }
}

/** A tap on a template's quick reply. */
const button: ReadContent = (json) => {
  const { payload, text } = Payload.shape({ payload: Payload.text, text: Payload.text })(json)
  return payload === undefined && text === undefined
    ? undefined
    : { content: { text: text ?? null, payload: payload ?? null } }
}

/** A completed flow contains JSON as text. If the text is missing or invalid, the answer stays as it came. */
const flow = (answer: Payload.Fields): Payload.Json => {
  const { response_json, ...rest } = answer
  const response = Payload.fields(Payload.parse(Payload.text(response_json) ?? ""))
  return response === undefined ? answer : { ...rest, response }
}

/** A tap on a button or a row, a completed flow, or a kind that Meta adds later. */
const interactive: ReadContent = (json) => {
  const kind = Payload.word(Payload.fields(json)?.["type"])
  const answer = kind === undefined ? undefined : Payload.fields(Payload.pick(json, [kind])[kind])
  if (kind === undefined || answer === undefined) return undefined
  return { content: { type: kind, [kind]: kind === "nfm_reply" ? flow(answer) : answer } }
}

/** An emoji on a message. Without an emoji, the customer has removed the previous one. */
const reaction: ReadContent = (json) => {
  const { emoji, message_id } = Payload.shape({ message_id: Payload.word, emoji: Payload.word })(json)
  return message_id === undefined ? undefined : { content: { message_id, emoji: emoji ?? null } }
}

const elements: Payload.Read<Payload.Json | undefined> = (json) => Array.isArray(json) ? json : undefined

const contacts: ReadContent = (json) => Array.isArray(json) ? { content: json } : undefined

/** A SHA-256 digest in hexadecimal; Meta posts it in base64. Undefined if it does not have 32 bytes. */
const digestOf = (base64: string): string | undefined => {
  const bytes = Buffer.from(base64, "base64")
  return bytes.length === 32 ? bytes.toString("hex") : undefined
}

/** A file. Its content omits Meta's id and address: the file is downloaded by Meta's id and gets an id of ours. */
const media: ReadContent = (json) => {
  const { filename, id, sha256 } = Payload.shape({
    id: Payload.word,
    sha256: Payload.text,
    filename: Payload.text
  })(json)
  if (id === undefined) return undefined
  const digest = sha256 === undefined ? undefined : digestOf(sha256)
  return {
    content: {
      ...Payload.pick(json, ["mime_type", "sha256", "caption", "filename", "voice", "animated"]),
      ...(digest === undefined ? {} : { sha256: digest })
    },
    file: { providerMediaId: id, sha256: digest ?? null, filename: filename ?? null }
  }
}

const byType: ReadonlyMap<string, ReadContent> = new Map([
  ["text", text],
  ["button", button],
  ["interactive", interactive],
  ["reaction", reaction],
  ["image", media],
  ["audio", media],
  ["video", media],
  ["document", media],
  ["sticker", media],
  ["location", object({ latitude: Payload.number, longitude: Payload.number }, ["name", "address", "url"])],
  ["contacts", contacts],
  ["order", object({ product_items: elements }, ["catalog_id", "text"])],
  ["edit", (json) => edit(json)],
  ["revoke", object({ original_message_id: Payload.word })]
])

/** The content of an edited message, after the change. */
const changed = (json: Payload.Json | undefined): Content | undefined => {
  const message = Payload.fields(json)
  const type = Payload.word(message?.["type"])
  const found = message === undefined || type === undefined ? undefined : byType.get(type)?.(message[type])
  return message === undefined || type === undefined
    ? undefined
    : found === undefined
    ? { content: { type: "unsupported", unsupported: unsupported(type, message).content } }
    : { ...found, content: { type, [type]: found.content } }
}

const edit: ReadContent = (json) => {
  const { message, original_message_id } = Payload.shape({ original_message_id: Payload.word, message: changed })(json)
  return original_message_id === undefined || message === undefined
    ? undefined
    : { ...message, content: { original_message_id, message: message.content } }
}

/**
 * The content for an unknown type, for a message that Meta does not pass on, and for one that lacks required fields.
 */
const unsupported = (type: string | undefined, message: Payload.Fields): Content => {
  const errors = Payload.list(message["errors"]).map((error) => GraphError.read(error)).filter(Predicate.isNotUndefined)
  const { type: inner, ...rest } = (type === undefined ? undefined : Payload.fields(message[type])) ?? {}
  const named = type === "unsupported" ? Payload.word(inner) : type
  const isKnown = type !== undefined && byType.has(type)
  return {
    content: {
      type: named ?? null,
      errors: errors.map(({ code, message }) => ({ code, message })),
      // only for unknown types: Meta's fields may be of use; for a known type, they are invalid
      ...(isKnown || Object.keys(rest).length === 0 ? {} : { content: rest })
    }
  }
}

const Context = Payload.shape({ id: Payload.word, from: Customers.phone })

/** The context of a message: the quoted message, whether it was forwarded, and the advertisement that led to it. */
const contextOf = (message: Payload.Fields): Payload.Json | null => {
  const { from, id } = Context(message["context"])
  const context = {
    ...(id === undefined ? {} : { message_id: id }),
    ...(id === undefined || from === undefined ? {} : { from }),
    ...Payload.pick(message["context"], ["forwarded", "frequently_forwarded", "referred_product"]),
    ...Payload.pick(message, ["referral"])
  }
  return Object.keys(context).length === 0 ? null : context
}

/** The types of entries in `messages` that are no messages: the customer opened the chat. */
const noMessages = new Set(["request_welcome"])

const Message = Payload.shape({
  id: Payload.word,
  from: Customers.phone,
  from_user_id: Customers.userId,
  from_parent_user_id: Customers.userId,
  to: Customers.phone,
  to_user_id: Customers.userId,
  timestamp: Payload.instant,
  type: Payload.word,
  group_id: Payload.word
})

/** Reads an entry of `messages`: a customer's message, or the platform's notice about a customer. */
export const read = (
  json: Payload.Json,
  customers: Customers.Directory,
  source: PostSource
): InboundItem.InboundItem => {
  const message = Payload.fields(json) ?? {}
  const { from, from_parent_user_id, from_user_id, group_id, id, timestamp, type } = Message(json)
  const at = happened(timestamp, source)
  if (type === "system") return Customers.moved(message["system"], { from, at }, source)
  if (type !== undefined && noMessages.has(type)) return skipped("message", type)
  const named = customers.find(from, from_user_id, from_parent_user_id)
  const customer = named && CustomerNames.withAliases(named, [
    ...named.aliases ?? [],
    ...Customers.sharedNumbers(message)
  ])
  if (source.numberId === undefined) return skipped("message:without_number")
  if (id === undefined) return skipped("message:without_id")
  if (customer === undefined) return skipped("message:without_sender")
  const profile = customers.profileOf(customer)
  return {
    _tag: "Message",
    message: {
      providerNumberId: source.numberId,
      providerMessageId: id,
      customer,
      at,
      ...(group_id === undefined ? contentIn(message, type) : inGroup(message, type)),
      context: contextOf(message),
      preference: undefined,
      ...(profile === undefined ? {} : { profile })
    }
  }
}

/** The content of a message in a group. The business cannot answer its sender there, so it is passed on unchanged. */
const inGroup = (message: Payload.Fields, type: string | undefined) =>
  aside(type, Payload.pick(message, ["group_id", ...type === undefined ? [] : [type]]))

/** The content of an item from a customer that is no message to the number. */
const aside = (
  type: string | undefined,
  content: Payload.Fields
): Pick<InboundMessage.InboundMessage, "type" | "content" | "isAside"> => ({
  type: "unsupported",
  content: { type: type ?? null, errors: [], content },
  isAside: true
})

const Call = Payload.shape({
  id: Payload.word,
  from: Customers.phone,
  from_user_id: Customers.userId,
  from_parent_user_id: Customers.userId,
  to: Customers.phone,
  timestamp: Payload.instant,
  event: Payload.word,
  direction: Payload.word
})

/** The fields of a call that its content omits, because the message has them: its parties and its time. */
const named = new Set([
  "from",
  "from_user_id",
  "from_parent_user_id",
  "to",
  "to_user_id",
  "to_parent_user_id",
  "timestamp"
])

/**
 * Reads an event of a customer's call. Meta uses the same id for the beginning and the end of a call, so the message's
 * id includes the event. `own` is the business's number, because some of Meta's examples swap the parties.
 */
export const readCall = (
  json: Payload.Json,
  own: E164.E164 | undefined,
  customers: Customers.Directory,
  source: PostSource
): InboundItem.InboundItem => {
  const { direction, event, from, from_parent_user_id, from_user_id, id, timestamp, to } = Call(json)
  if (direction === "BUSINESS_INITIATED") return skipped("call:outgoing")
  if (source.numberId === undefined) return skipped("call:without_number")
  if (id === undefined) return skipped("call:without_id")
  const customer = customers.find(from !== undefined && from === own ? to : from, from_user_id, from_parent_user_id)
  if (customer === undefined) return skipped("call:without_sender")
  const profile = customers.profileOf(customer)
  const others = Object.entries(Payload.fields(json) ?? {}).filter(([name]) => !named.has(name))
  return {
    _tag: "Message",
    message: {
      providerNumberId: source.numberId,
      providerMessageId: event === undefined || event === "connect" ? id : `${id}:${event}`,
      customer,
      at: happened(timestamp, source),
      ...aside("call", Object.fromEntries(others)),
      context: null,
      preference: undefined,
      ...(profile === undefined ? {} : { profile })
    }
  }
}

/** The type and content of a message; `unsupported` if the type is unknown or its content is invalid. */
const contentIn = (
  message: Payload.Fields,
  type: string | undefined
): Pick<InboundMessage.InboundMessage, "type" | "content" | "file"> => {
  const found = type === undefined ? undefined : byType.get(type)?.(message[type])
  return found === undefined || type === undefined
    ? { type: "unsupported", content: unsupported(type, message).content }
    : { type, ...found }
}

/** Reads a message that the business wrote to a customer on its own phone. */
export const readEcho = (json: Payload.Json, source: PostSource): InboundItem.InboundItem => {
  const message = Payload.fields(json) ?? {}
  const { group_id, id, timestamp, to, to_user_id, type } = Message(json)
  if (group_id !== undefined) return skipped("echo:group")
  const customer = Customers.of(to, to_user_id)
  if (source.numberId === undefined) return skipped("echo:without_number")
  if (id === undefined) return skipped("echo:without_id")
  if (customer === undefined) return skipped("echo:without_recipient")
  return {
    _tag: "Message",
    message: {
      providerNumberId: source.numberId,
      providerMessageId: id,
      customer,
      at: happened(timestamp, source),
      ...contentIn(message, type),
      context: contextOf(message),
      preference: undefined,
      isEcho: true
    }
  }
}
