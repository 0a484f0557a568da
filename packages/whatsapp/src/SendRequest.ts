/**
 * Writes the body of a send as the Cloud API documents it, and lists the texts that errors must not repeat.
 */
import { CustomerNames, type FileContent, type Message, type Provider } from "@wac/core"
import { Predicate, type Schema } from "effect"
import * as File from "./File.ts"
import * as TemplateRequest from "./TemplateRequest.ts"

type Json = { readonly [field: string]: Schema.Json }
type Refers = Provider.ProviderSend["refers"]

/** Writes the object under the name of each type of message. */
const contents: {
  readonly [Kind in Message.MessageType]: (
    message: Message.OutboundOf<Kind>,
    send: Provider.ProviderSend
  ) => Schema.Json
} = {
  template: ({ template }, send) => TemplateRequest.of(template, send),
  text: ({ text: { body, previewUrl } }) => ({ body, preview_url: previewUrl ?? false }),
  image: ({ image }, { refers }) => File.of(image, refers),
  audio: ({ audio }, { refers }) => File.of(audio, refers),
  video: ({ video }, { refers }) => File.of(video, refers),
  document: ({ document }, { refers }) => File.of(document, refers),
  sticker: ({ sticker }, { refers }) => File.of(sticker, refers),
  location: ({ location }) => location,
  contacts: ({ contacts }) => contacts,
  interactive: ({ interactive }, { refers }) => {
    const { action, header } = { header: undefined, ...interactive }
    return {
      ...interactive,
      ...(header === undefined ? {} : { header: headerOf(header, refers) }),
      action: "cards" in action ? { cards: action.cards.map((card) => cardOf(card, refers)) } : action
    } as Json
  },
  reaction: ({ reaction: { emoji } }, { refers: { quoted } }) => ({ message_id: quoted, emoji })
}

interface Header {
  readonly type: string
  readonly image?: FileContent.FileContent
  readonly video?: FileContent.FileContent
  readonly document?: FileContent.FileContent
}

const headerOf = (header: Header, refers: Refers): Json => {
  const { document, image, video, ...rest } = header
  return {
    ...rest,
    ...(image === undefined ? {} : { image: File.of(image, refers) }),
    ...(video === undefined ? {} : { video: File.of(video, refers) }),
    ...(document === undefined ? {} : { document: File.of(document, refers) })
  }
}

const cardOf = (card: object, refers: Refers): Json =>
  (Predicate.hasProperty(card, "header") ? { ...card, header: headerOf(card.header as Header, refers) } : card) as Json

const contentOf = <Kind extends Message.MessageType>(kind: Kind, send: Provider.ProviderSend): Schema.Json =>
  contents[kind](send.message as Message.OutboundOf<Kind>, send)

/**
 * The body to post. `to` keeps its plus: without it, Meta may read the number as one of the sender's country. A user id
 * has its own field. Every status of the message contains our message id (`biz_opaque_callback_data`).
 */
export const bodyOf = (send: Provider.ProviderSend): Json => {
  const { message: { to, type }, refers: { quoted } } = send
  return {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    [CustomerNames.isUserId(to) ? "recipient" : "to"]: to,
    ...(quoted === null || type === "reaction" ? {} : { context: { message_id: quoted } }),
    type,
    [type]: contentOf(type, send),
    biz_opaque_callback_data: send.messageId
  }
}

/** Fields whose values are Meta's words, and so reveal nothing of the message. */
const ownWords = new Set(["type", "mode", "flow_action", "flow_message_version"])

/**
 * The same fields of interactive messages: in them `name` is one of Meta's words too, but elsewhere a person's or a
 * place's.
 */
const ownWordsOfActions = new Set([...ownWords, "name"])

const textsIn = (json: unknown, name: string, own: ReadonlySet<string>): ReadonlyArray<string> => {
  if (Predicate.isString(json)) return own.has(name) ? [] : [json]
  if (Array.isArray(json)) return json.flatMap((element) => textsIn(element, name, own))
  return Predicate.isObject(json) ? Object.entries(json).flatMap(([name, value]) => textsIn(value, name, own)) : []
}

const contentTexts = (message: Message.OutboundMessage): ReadonlyArray<string> => {
  if (message.type !== "template") {
    const own = message.type === "interactive" ? ownWordsOfActions : ownWords
    return textsIn(message[message.type as never], message.type, own)
  }
  // the template's name and language are no secret
  const { language: _language, name: _name, ...filled } = message.template
  return textsIn(filled, "template", ownWords)
}

/** The texts and the recipient of a message. Meta's errors may repeat them, and ours must not. */
export const textsOf = ({ message }: Provider.ProviderSend): ReadonlyArray<string> => [
  message.to,
  ...(CustomerNames.isUserId(message.to) ? [] : [message.to.slice(1)]),
  ...contentTexts(message)
]
