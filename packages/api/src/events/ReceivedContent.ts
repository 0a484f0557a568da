/**
 * The schemas of what customers write (contract §9), in the events `message.received` and `message.echoed`: the content
 * is in a field with the name of its type.
 */
import { Schema, Struct } from "effect"

const Text = Schema.String
const optionalText = Schema.optionalKey(Text)

/** A text with a description of its own. */
const text = (description: string) => Text.annotate({ description })

const Fields = Schema.Record(Schema.String, Schema.Json)

/** An object of the provider: the fields that the provider documents, and any others. */
const open = <const Own extends Schema.Struct.Fields>(fields: Own) =>
  Schema.StructWithRest(Schema.Struct(fields), [Fields])

/** A name other than the known ones. With a plain string, comparing with a known name would not narrow the type. */
const unknownName = (known: ReadonlyArray<string>) =>
  Text.check(Schema.makeFilter((name: string) => !known.includes(name) || `${name} is known`))
    .annotate({ plainType: "UnknownName" })

/** The message that a customer's message replies to or quotes. */
export const ReceivedContext = open({
  message_id: Schema.optionalKey(
    text("The service's identifier of the other message if the service knows it, otherwise the provider's.")
  ),
  provider_message_id: Schema.optionalKey(text("The provider's identifier of the other message.")),
  from: optionalText,
  forwarded: Schema.optionalKey(Schema.Boolean)
}).annotate({
  identifier: "ReceivedContext",
  description: "The message that a customer's message replies to or quotes."
})

const ReceivedText = Schema.Struct({ body: Text }).annotate({ identifier: "ReceivedText", description: "A text." })

const ReceivedButton = Schema.Struct({ text: Schema.NullOr(Text), payload: Schema.NullOr(Text) }).annotate({
  identifier: "ReceivedButton",
  description: "A tap on a template's quick reply."
})

const named = {
  button_reply: open({ id: Text, title: Text }),
  list_reply: open({ id: Text, title: Text, description: optionalText }),
  nfm_reply: open({
    name: optionalText,
    body: optionalText,
    response: Schema.optionalKey(
      Fields.annotate({ description: "The values that the customer filled into the flow." })
    ),
    response_json: Schema.optionalKey(text("The raw text, in place of `response`, if it is not a JSON object."))
  })
}

const ReceivedInteractive = Schema.Union([
  Schema.Struct({ type: Schema.Literal("button_reply"), button_reply: named.button_reply }),
  Schema.Struct({ type: Schema.Literal("list_reply"), list_reply: named.list_reply }),
  Schema.Struct({ type: Schema.Literal("nfm_reply"), nfm_reply: named.nfm_reply }),
  open({ type: unknownName(Struct.keys(named)) })
]).annotate({ identifier: "ReceivedInteractive", description: "A customer's choice or filled-in form." })

const ReceivedReaction = Schema.Struct({
  message_id: text("The service's id of the message if the service knows it, otherwise the provider's."),
  provider_message_id: Schema.optionalKey(text("The provider's id of the message.")),
  emoji: Schema.NullOr(Text).annotate({ description: "`null` if the reaction was removed." })
}).annotate({ identifier: "ReceivedReaction", description: "An emoji on a message." })

const ReceivedMedia = Schema.Struct({
  media_id: optionalText,
  id: optionalText,
  mime_type: optionalText,
  sha256: Schema.optionalKey(text("In hexadecimal.")),
  url: optionalText,
  caption: optionalText,
  filename: Schema.optionalKey(text("Of a document.")),
  voice: Schema.optionalKey(Schema.Boolean.annotate({ description: "Of an audio: recorded in the chat." })),
  animated: Schema.optionalKey(Schema.Boolean.annotate({ description: "Of a sticker." }))
}).annotate({
  identifier: "ReceivedMedia",
  description:
    "A file that a customer sent. `media_id` reads it at `/v1/media/{media_id}`, for as long as it is kept. It is absent " +
    "only if the service runs with a provider of its host that downloads no files: then `id` is that provider's."
})

const ReceivedLocation = Schema.Struct({
  latitude: Schema.Finite,
  longitude: Schema.Finite,
  name: optionalText,
  address: optionalText,
  url: optionalText
}).annotate({ identifier: "ReceivedLocation", description: "A place." })

const ReceivedContact = open({
  name: Schema.optionalKey(open({ formatted_name: optionalText, first_name: optionalText, last_name: optionalText })),
  phones: Schema.optionalKey(Schema.Array(open({ phone: optionalText, wa_id: optionalText, type: optionalText })))
}).annotate({
  identifier: "ReceivedContact",
  description: "An address-book entry; most of its fields are optional."
})

const ReceivedOrder = Schema.Struct({
  catalog_id: optionalText,
  text: optionalText,
  product_items: Schema.Array(open({
    product_retailer_id: optionalText,
    quantity: Schema.optionalKey(Schema.Finite),
    item_price: Schema.optionalKey(Schema.Finite),
    currency: optionalText
  }))
}).annotate({ identifier: "ReceivedOrder", description: "An order from a catalogue." })

const changed = {
  original_message_id: text("The service's id of the message if the service knows it, otherwise the provider's."),
  original_provider_message_id: Schema.optionalKey(text("The provider's id of the message."))
}

const ReceivedEdit = Schema.Struct({
  ...changed,
  message: open({ type: Text }).annotate({
    description: "Its content as it is after the edit: `type`, and a field of that name."
  })
}).annotate({
  identifier: "ReceivedEdit",
  description: "The customer edited a message. Does not open a service window."
})

const ReceivedRevoke = Schema.Struct(changed).annotate({
  identifier: "ReceivedRevoke",
  description: "The customer deleted a message. Does not open a service window."
})

const ReceivedUnsupported = Schema.Struct({
  type: Schema.NullOr(Text).annotate({ description: "The type, if known." }),
  errors: Schema.Array(Schema.Struct({ code: Schema.Finite, message: Text })).annotate({
    description: "The provider's reasons."
  }),
  content: Schema.optionalKey(Fields.annotate({ description: "The provider's data, as reported." }))
}).annotate({
  identifier: "ReceivedUnsupported",
  description: "A message whose type or content the provider does not pass on."
})

/** The content under the name of the type, for the types that the provider documents. */
export const ReceivedContentByType = Schema.Struct({
  text: ReceivedText,
  button: ReceivedButton,
  interactive: ReceivedInteractive,
  reaction: ReceivedReaction,
  image: ReceivedMedia,
  audio: ReceivedMedia,
  video: ReceivedMedia,
  document: ReceivedMedia,
  sticker: ReceivedMedia,
  location: ReceivedLocation,
  contacts: Schema.Array(ReceivedContact),
  order: ReceivedOrder,
  edit: ReceivedEdit,
  revoke: ReceivedRevoke,
  unsupported: ReceivedUnsupported
}).annotate({
  identifier: "ReceivedContentByType",
  description: "The content under the name of the type, for the types that the provider documents."
})

const { fields: contents } = ReceivedContentByType

const types = Struct.keys(contents)

const ReceivedOther = open({ type: unknownName(types) }).annotate({
  identifier: "ReceivedOther",
  description: "A kind that this version does not know; its content is under its own name: `data[data.type]`."
})

/** `type`, and a field of that name. */
const ofType = (type: keyof typeof contents) => ({ type: Schema.Literal(type), [type]: contents[type] })

/** The content that a customer wrote. */
export const ReceivedContent = Schema.Union([...types.map((type) => Schema.Struct(ofType(type))), ReceivedOther])
  .annotate({
    identifier: "ReceivedContent",
    description:
      "The content that a customer wrote: `type`, and a field of that name. Optional fields, elements of arrays and the " +
      "fields of `interactive` are passed on from the provider unchanged: their types follow its documentation."
  })

/** An object that has a content and these fields. */
export const withContent = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Union([
    ...types.map((type) => Schema.Struct({ ...fields, ...ofType(type) })),
    open({ ...fields, type: ReceivedOther.schema.fields.type })
  ]).annotate({ intersection: [ReceivedContent, Schema.Struct(fields)] })
