/**
 * Messages that customers write (`messages` of a post). The table of the package's README has the fields of each
 * content.
 */
import { CustomerNames, type InboundItem, type InboundMessage, type PhoneNumber } from "@wac/core"
import { Predicate } from "effect"
import * as Customers from "./Customers.ts"
import * as GraphError from "./GraphError.ts"
import * as Payload from "./Payload.ts"
import { happened, type PostSource, skipped } from "./PostSource.ts"

/** The content of a message. */
interface Said {
  readonly content: Payload.Json
  readonly file?: InboundMessage.InboundFile
}

/** Reads what stands under the name of a type; undefined when it is not what that type asks for. */
type ReadSaid = Payload.Read<Said | undefined>

/** An object that must have the fields of `required`, and may have those of `optional`. */
const object = (
  required: { readonly [name: string]: Payload.Read<Payload.Json | undefined> },
  optional: ReadonlyArray<string> = []
): ReadSaid => {
  const read = Payload.shape(required)
  return (json) => {
    const found = read(json)
    return Object.values(found).includes(undefined)
      ? undefined
      : { content: { ...(found as Payload.Fields), ...Payload.pick(json, optional) } }
  }
}

const text: ReadSaid = (json) => {
  const { body } = Payload.shape({ body: Payload.text })(json)
  return body === undefined ? undefined : { content: { body } }
}

/** A tap on a template's quick reply. */
const button: ReadSaid = (json) => {
  const { payload, text } = Payload.shape({ payload: Payload.text, text: Payload.text })(json)
  return payload === undefined && text === undefined
    ? undefined
    : { content: { text: text ?? null, payload: payload ?? null } }
}

/** A completed flow is JSON within JSON; it may be missing or broken, and is then left as it came. */
const flow = (answer: Payload.Fields): Payload.Json => {
  const { response_json, ...rest } = answer
  const response = Payload.fields(Payload.parse(Payload.text(response_json) ?? ""))
  return response === undefined ? answer : { ...rest, response }
}

/** A tap on a button or a row, a filled-in flow, or what comes later under a name of its own. */
const interactive: ReadSaid = (json) => {
  const kind = Payload.word(Payload.fields(json)?.["type"])
  const answer = kind === undefined ? undefined : Payload.fields(Payload.pick(json, [kind])[kind])
  if (kind === undefined || answer === undefined) return undefined
  return { content: { type: kind, [kind]: kind === "nfm_reply" ? flow(answer) : answer } }
}

/** An emoji on a message; none takes the one before away. */
const reaction: ReadSaid = (json) => {
  const { emoji, message_id } = Payload.shape({ message_id: Payload.word, emoji: Payload.word })(json)
  return message_id === undefined ? undefined : { content: { message_id, emoji: emoji ?? null } }
}

const elements: Payload.Read<Payload.Json | undefined> = (json) => Array.isArray(json) ? json : undefined

const contacts: ReadSaid = (json) => Array.isArray(json) ? { content: json } : undefined

/** A digest as we write it; Meta posts it in base64. Undefined for what is none. */
const digestOf = (told: string): string | undefined => {
  const bytes = Buffer.from(told, "base64")
  return bytes.length === 32 ? bytes.toString("hex") : undefined
}

/** A file, without Meta's own id and address: we fetch it by the id, and our own takes its place. */
const media: ReadSaid = (json) => {
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

const byType: ReadonlyMap<string, ReadSaid> = new Map([
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

/** A message of a known type, as it is after a change. */
const changed = (json: Payload.Json | undefined): Said | undefined => {
  const message = Payload.fields(json)
  const type = Payload.word(message?.["type"])
  const said = message === undefined || type === undefined ? undefined : byType.get(type)?.(message[type])
  return message === undefined || type === undefined
    ? undefined
    : said === undefined
    ? { content: { type: "unsupported", unsupported: unsupported(type, message).content } }
    : { ...said, content: { type, [type]: said.content } }
}

const edit: ReadSaid = (json) => {
  const { message, original_message_id } = Payload.shape({ original_message_id: Payload.word, message: changed })(json)
  return original_message_id === undefined || message === undefined
    ? undefined
    : { ...message, content: { original_message_id, message: message.content } }
}

/** Of a type that we do not know, that Meta does not hand over, or without what its type asks for. */
const unsupported = (type: string | undefined, message: Payload.Fields): Said => {
  const errors = Payload.list(message["errors"]).map((error) => GraphError.read(error)).filter(Predicate.isNotUndefined)
  const { type: inner, ...rest } = (type === undefined ? undefined : Payload.fields(message[type])) ?? {}
  const named = type === "unsupported" ? Payload.word(inner) : type
  const isKnown = type !== undefined && byType.has(type)
  return {
    content: {
      type: named ?? null,
      errors: errors.map(({ code, message }) => ({ code, message })),
      // of what we know something is wrong, and of the rest Meta may have said something that is of use
      ...(isKnown || Object.keys(rest).length === 0 ? {} : { content: rest })
    }
  }
}

const Context = Payload.shape({ id: Payload.word, from: Customers.phone })

/** The message that is quoted or answered, whether it was forwarded, and the advertisement that led to it. */
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

/** Entries among the messages that are no messages: a customer opened the chat. */
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

/** A customer's message, or what the platform says of the customer. */
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
      ...(group_id === undefined ? saidIn(message, type) : inGroup(message, type)),
      context: contextOf(message),
      preference: undefined,
      ...(profile === undefined ? {} : { profile })
    }
  }
}

/** A message in a group: no sender is answered there, so it is passed on as it came. */
const inGroup = (message: Payload.Fields, type: string | undefined) =>
  aside(type, Payload.pick(message, ["group_id", ...type === undefined ? [] : [type]]))

/** An item from a customer that is no message to the number. */
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

/** The fields of a call that name its parties, and its time, which the message has. */
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
 * An event of a customer's call: Meta names its beginning and its end alike. `own` is the business's number, as
 * some of Meta's examples have the parties of a customer's call the other way round.
 */
export const readCall = (
  json: Payload.Json,
  own: PhoneNumber.E164 | undefined,
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
  const told = Object.entries(Payload.fields(json) ?? {}).filter(([name]) => !named.has(name))
  return {
    _tag: "Message",
    message: {
      providerNumberId: source.numberId,
      providerMessageId: event === undefined || event === "connect" ? id : `${id}:${event}`,
      customer,
      at: happened(timestamp, source),
      ...aside("call", Object.fromEntries(told)),
      context: null,
      preference: undefined,
      ...(profile === undefined ? {} : { profile })
    }
  }
}

/** The content of a message, under the type that we know it by. */
const saidIn = (
  message: Payload.Fields,
  type: string | undefined
): Pick<InboundMessage.InboundMessage, "type" | "content" | "file"> => {
  const said = type === undefined ? undefined : byType.get(type)?.(message[type])
  return said === undefined || type === undefined
    ? { type: "unsupported", content: unsupported(type, message).content }
    : { type, ...said }
}

/** A message of the business to a customer from its own phone. */
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
      ...saidIn(message, type),
      context: contextOf(message),
      preference: undefined,
      isEcho: true
    }
  }
}
