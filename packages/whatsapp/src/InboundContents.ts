/**
 * Reads the contents of customers' messages, of every type. The table in the package's README lists the fields of each
 * content.
 */
import type { InboundMessage } from "@wac/core"
import { Predicate } from "effect"
import * as GraphError from "./GraphError.ts"
import * as Payload from "./Payload.ts"

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

/** The type and content of a message; `unsupported` if the type is unknown or its content is invalid. */
export const contentIn = (
  message: Payload.Fields,
  type: string | undefined
): Pick<InboundMessage.InboundMessage, "type" | "content" | "file"> => {
  const found = type === undefined ? undefined : byType.get(type)?.(message[type])
  return found === undefined || type === undefined
    ? { type: "unsupported", content: unsupported(type, message).content }
    : { type, ...found }
}

/** The content of an item from a customer that is no message to the number. */
export const aside = (
  type: string | undefined,
  content: Payload.Fields
): Pick<InboundMessage.InboundMessage, "type" | "content" | "isAside"> => ({
  type: "unsupported",
  content: { type: type ?? null, errors: [], content },
  isAside: true
})
