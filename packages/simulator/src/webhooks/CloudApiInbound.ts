/** The messages that customers send, and that a business writes on its own phone, with an example of each kind. */
import { Schema } from "effect"

/** A file that a customer sends. */
const InboundFile = Schema.Struct({
  /** The file's bytes. */
  base64: Schema.String,
  type: Schema.optionalKey(Schema.String),
  filename: Schema.optionalKey(Schema.String),
  /**
   * False statements that upstream makes about the file: a wrong digest in the webhook, a wrong address in the lookup.
   */
  lies: Schema.optionalKey(Schema.Struct({
    sha256: Schema.optionalKey(Schema.String),
    url: Schema.optionalKey(Schema.String)
  })),
  /** How long upstream keeps the file, in milliseconds; seven days by default. */
  lives: Schema.optionalKey(Schema.Int)
})
/** One value of the schema of the same name. */
export type InboundFile = typeof InboundFile.Type

/** A message from a customer. Omitted fields get the simulator's defaults. */
export const Inbound = Schema.Struct({
  /** The customer's number; if omitted, the customer has only the `userId`. */
  from: Schema.optionalKey(Schema.String),
  userId: Schema.optionalKey(Schema.String),
  parentUserId: Schema.optionalKey(Schema.String),
  username: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  /** The id of the business number that gets the message; the first number by default. */
  number: Schema.optionalKey(Schema.String),
  /** One of {@link kinds}, whose example is the message's content unless `content` replaces it. */
  kind: Schema.optionalKey(Schema.String),
  /** The body of a text message. */
  text: Schema.optionalKey(Schema.String),
  /**
   * Fields of the message in upstream's shape, such as `type` and the object with that name. They override the rest.
   */
  content: Schema.optionalKey(Schema.JsonObject),
  context: Schema.optionalKey(Schema.JsonObject),
  /** The message's own time, in milliseconds; now by default. */
  at: Schema.optionalKey(Schema.Int),
  /** The file of a picture, a document and so on, which can be downloaded for seven days. */
  file: Schema.optionalKey(InboundFile),
  /** The message's wamid. A repeated wamid makes a duplicate. */
  id: Schema.optionalKey(Schema.String)
})
export type Inbound = typeof Inbound.Type

/** A message that the business writes to a customer on its own phone. Omitted fields are as in {@link Inbound}. */
export const Echo = Schema.Struct({
  /** The customer's number; if omitted, the customer has only the `userId`. */
  to: Schema.optionalKey(Schema.String),
  userId: Schema.optionalKey(Schema.String),
  /** The id of the business number that writes; the first number by default. */
  number: Schema.optionalKey(Schema.String),
  kind: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  content: Schema.optionalKey(Schema.JsonObject),
  at: Schema.optionalKey(Schema.Int)
})
export type Echo = typeof Echo.Type

const media = (type: string, mime_type: string, rest: Schema.JsonObject = {}): Schema.JsonObject => ({
  type,
  [type]: {
    id: "987654321012345",
    mime_type,
    sha256: "9sq3VBcIDOmBOmMbBhi/nFTjWvMEFIhuPJXcAcIJEhI=",
    url: "https://lookaside.example/whatsapp_business/attachments/?mid=987654321012345",
    ...rest
  }
})

const interactive = (type: string, rest: Schema.JsonObject): Schema.JsonObject => ({
  type: "interactive",
  interactive: { type, [type]: rest }
})

/** An example of each kind, which is the default content of a message. */
export const kinds: { readonly [kind: string]: Schema.JsonObject } = {
  text: { type: "text", text: { body: "Olá! Is my order <42> on its way? 📦 a@b.example 100%" } },
  button: { type: "button", button: { payload: "YES", text: "Yes" } },
  button_reply: interactive("button_reply", { id: "choice_yes", title: "Yes" }),
  list_reply: interactive("list_reply", { id: "slot_2", title: "At noon", description: "12:00" }),
  flow_reply: interactive("nfm_reply", {
    name: "flow",
    body: "Sent",
    response_json: "{\"flow_token\":\"t\",\"day\":\"2\"}"
  }),
  reaction: { type: "reaction", reaction: { message_id: "wamid.of-another", emoji: "👍" } },
  unreaction: { type: "reaction", reaction: { message_id: "wamid.of-another" } },
  image: media("image", "image/jpeg", { caption: "Schön, nicht?" }),
  audio: media("audio", "audio/ogg; codecs=opus", { voice: true }),
  video: media("video", "video/mp4"),
  document: media("document", "application/pdf", { filename: "Reçu café.pdf", caption: "My résumé" }),
  sticker: media("sticker", "image/webp", { animated: false }),
  location: {
    type: "location",
    location: { latitude: 52.516266, longitude: 13.377775, name: "Brandenburger Tor", address: "Pariser Platz, Berlin" }
  },
  contacts: {
    type: "contacts",
    contacts: [{
      name: { formatted_name: "Zoë Doe", first_name: "Zoë", last_name: "Doe" },
      phones: [{ phone: "+1 555-010-0199", wa_id: "15550100199", type: "CELL" }]
    }]
  },
  order: {
    type: "order",
    order: {
      catalog_id: "123456",
      text: "Please",
      product_items: [{ product_retailer_id: "sku-1", quantity: 2, item_price: 9.5, currency: "EUR" }]
    }
  },
  referral: {
    type: "text",
    text: { body: "I saw this" },
    referral: { source_url: "https://ads.example/1", source_id: "1", source_type: "ad", headline: "Sale" }
  },
  identity: { type: "system", system: { type: "customer_identity_changed", body: "New device", identity: "hash" } },
  edit: {
    type: "edit",
    edit: { original_message_id: "wamid.of-another", message: { type: "text", text: { body: "B" } } }
  },
  revoke: { type: "revoke", revoke: { original_message_id: "wamid.of-another" } },
  request_welcome: { type: "request_welcome" },
  // developers.facebook.com/documentation/business-messaging/whatsapp/groups/webhooks
  group: { type: "text", text: { body: "Hello all" }, group_id: "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM" },
  // developers.facebook.com/documentation/business-messaging/whatsapp/calling/user-initiated-calls
  call: {
    event: "connect",
    direction: "USER_INITIATED",
    session: { sdp_type: "offer", sdp: "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" }
  },
  unsupported: {
    type: "unsupported",
    errors: [{
      code: 131051,
      title: "Message type unknown",
      message: "Message type unknown",
      error_data: { details: "Message type is currently not supported." }
    }]
  }
}

/** Whether the content is a call, which has a webhook field of its own. */
export const isCall = ({ event }: Schema.JsonObject): boolean => event !== undefined

/** Whether the content opens the service window: system messages, messages in groups and calls do not. */
export const opensWindow = (content: Schema.JsonObject): boolean =>
  content.type !== "system" && content.group_id === undefined && !isCall(content)

/** The error for an unknown kind. */
export const unknownKind = `\`kind\` is one of ${Object.keys(kinds).join(", ")}`

/**
 * The content of a message: the example of its kind, its text, and the given fields. Undefined if the kind is unknown.
 */
export const contentOf = (
  { content, kind = "text", text }: Pick<Inbound, "content" | "kind" | "text">
): Schema.JsonObject | undefined => {
  const example = kinds[kind]
  return example && { ...example, ...(text === undefined ? {} : { text: { body: text } }), ...content }
}
