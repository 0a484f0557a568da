/**
 * The content of interactive messages (contract §9), with the provider's field names and limits. Defines schemas only.
 */
import { Schema } from "effect"
import { PlainJsonObject } from "../PlainJson.ts"
import * as PlainText from "../PlainText.ts"
import * as FileContent from "./FileContent.ts"

const text = (max: number) =>
  Schema.Struct({
    text: PlainText.between(1, max).annotateKey({ description: `At most ${max.toLocaleString("en")} characters` })
  })

const id = (max: number) => PlainText.between(1, max)

const TextHeader = Schema.Struct({ type: Schema.Literal("text"), text: PlainText.between(1, 60) })
const ImageHeader = Schema.Struct({ type: Schema.Literal("image"), image: FileContent.Plain })
const VideoHeader = Schema.Struct({ type: Schema.Literal("video"), video: FileContent.Plain })
const DocumentHeader = Schema.Struct({ type: Schema.Literal("document"), document: FileContent.HeaderDocument })

/** The header above the text. */
const Header = Schema.Union([TextHeader, ImageHeader, VideoHeader, DocumentHeader]).annotate({
  identifier: "InteractiveHeader",
  description: "The header above the text: at most 60 characters, or a file."
})

const body = { body: text(1024) }
const footer = { footer: Schema.optionalKey(text(60)) }
const header = { header: Schema.optionalKey(Header) }

const words = { ...header, ...body, ...footer }

/** The index of the first element that repeats an earlier one; -1 if there is none. */
const repeated = (names: ReadonlyArray<string>): number => names.findIndex((name, i) => names.indexOf(name) < i)

const between = <S extends Schema.Constraint>(element: S, min: number, max: number) => {
  const message = `must have ${min} to ${max} elements`
  return Schema.Array(element).check(Schema.isMinLength(min, { message }), Schema.isMaxLength(max, { message }))
}

const Button = Schema.Struct({
  type: Schema.Literal("reply"),
  reply: Schema.Struct({ id: id(256), title: PlainText.between(1, 20) })
})

const Buttons = Schema.Struct({
  type: Schema.Literal("button"),
  ...words,
  action: Schema.Struct({
    buttons: between(Button, 1, 3).check(
      Schema.makeFilter((buttons: ReadonlyArray<typeof Button.Type>) => {
        const same = repeated(buttons.map(({ reply }) => reply.id))
        return same < 0 || { path: [same, "reply", "id"], issue: "must differ from those of the other buttons" }
      })
    )
  })
}).annotate({
  identifier: "ButtonsContent",
  description: "One to three buttons, with titles of at most 20 characters."
})

const Row = Schema.Struct({
  id: id(200),
  title: PlainText.between(1, 24),
  description: Schema.optionalKey(PlainText.between(1, 72))
})

const Section = Schema.Struct({
  title: Schema.optionalKey(PlainText.between(1, 24)),
  rows: between(Row, 1, 10)
})

const mostRows = 10

const sections = Schema.makeFilter((sections: ReadonlyArray<typeof Section.Type>) => {
  const rows = sections.flatMap(({ rows }, section) => rows.map((row, place) => ({ row, section, place })))
  const untitled = sections.findIndex(({ title }) => title === undefined)
  if (sections.length > 1 && untitled >= 0) {
    return { path: [untitled, "title"], issue: "is required if there is more than one section" }
  }
  const beyond = rows[mostRows]
  if (beyond !== undefined) {
    return {
      path: [beyond.section, "rows", beyond.place],
      issue: `all sections together may have at most ${mostRows} rows`
    }
  }
  const same = rows[repeated(rows.map(({ row }) => row.id))]
  return same === undefined ||
    { path: [same.section, "rows", same.place, "id"], issue: "must differ from those of the other rows" }
})

const List = Schema.Struct({
  type: Schema.Literal("list"),
  header: Schema.optionalKey(TextHeader),
  body: text(4096),
  ...footer,
  action: Schema.Struct({
    button: PlainText.between(1, 20),
    sections: between(Section, 1, 10).check(sections)
  })
}).annotate({
  identifier: "ListContent",
  description: "A list that opens, with ten rows in all: titles of at most 24 characters, descriptions of at most 72."
})

/** A button's URL, opened in the customer's browser. The provider also accepts `http`. */
const Address = Schema.Struct({ display_text: PlainText.between(1, 20), url: FileContent.address("https", "http") })

const CtaUrl = Schema.Struct({
  type: Schema.Literal("cta_url"),
  ...words,
  action: Schema.Struct({ name: Schema.Literal("cta_url"), parameters: Address })
}).annotate({ identifier: "CtaUrlContent", description: "A button that opens a URL." })

const FlowParameters = Schema.Struct({
  flow_message_version: Schema.Literal("3"),
  flow_id: Schema.optionalKey(id(128)),
  flow_name: Schema.optionalKey(id(256)),
  flow_token: Schema.optionalKey(id(1024)),
  flow_cta: PlainText.between(1, 30),
  mode: Schema.optionalKey(Schema.Literals(["draft", "published"])),
  flow_action: Schema.optionalKey(Schema.Literals(["navigate", "data_exchange"])),
  flow_action_payload: Schema.optionalKey(
    Schema.Struct({ screen: id(256), data: Schema.optionalKey(PlainJsonObject) })
  )
}).check(
  Schema.makeFilter(({ flow_id, flow_name }: { readonly flow_id?: string; readonly flow_name?: string }) =>
    (flow_id === undefined) !== (flow_name === undefined) ||
    { path: ["flow_id"], issue: "exactly one of flow_id and flow_name is required" }
  )
)

const Flow = Schema.Struct({
  type: Schema.Literal("flow"),
  ...words,
  action: Schema.Struct({ name: Schema.Literal("flow"), parameters: FlowParameters })
}).annotate({
  identifier: "FlowContent",
  description: "A flow, which is a form inside WhatsApp. Exactly one of `flow_id` and `flow_name` is required."
})

const LocationRequest = Schema.Struct({
  type: Schema.Literal("location_request_message"),
  ...body,
  action: Schema.Struct({ name: Schema.Literal("send_location") })
}).annotate({ identifier: "LocationRequestContent", description: "Asks for the customer's location." })

const ContactRequest = Schema.Struct({
  type: Schema.Literal("request_contact_info"),
  ...body,
  action: Schema.Struct({ name: Schema.Literal("request_contact_info") })
}).annotate({ identifier: "ContactRequestContent", description: "Asks for the customer's phone number." })

const Product = Schema.Struct({
  type: Schema.Literal("product"),
  body: Schema.optionalKey(text(1024)),
  ...footer,
  action: Schema.Struct({ catalog_id: id(128), product_retailer_id: id(256) })
}).annotate({ identifier: "ProductContent", description: "One product of a catalog." })

const ProductSection = Schema.Struct({
  title: Schema.optionalKey(PlainText.between(1, 24)),
  product_items: between(Schema.Struct({ product_retailer_id: id(256) }), 1, 30)
})

const mostProducts = 30

const productSections = Schema.makeFilter((sections: ReadonlyArray<typeof ProductSection.Type>) => {
  const untitled = sections.findIndex(({ title }) => title === undefined)
  if (sections.length > 1 && untitled >= 0) {
    return { path: [untitled, "title"], issue: "is required if there is more than one section" }
  }
  const items = sections.flatMap(({ product_items }, section) => product_items.map((_, place) => ({ section, place })))
  const beyond = items[mostProducts]
  return beyond === undefined ||
    {
      path: [beyond.section, "product_items", beyond.place],
      issue: `all sections together may have at most ${mostProducts} products`
    }
})

const ProductList = Schema.Struct({
  type: Schema.Literal("product_list"),
  header: TextHeader,
  ...body,
  ...footer,
  action: Schema.Struct({
    catalog_id: id(128),
    sections: between(ProductSection, 1, 10).check(productSections)
  })
}).annotate({ identifier: "ProductListContent", description: "Up to thirty products of a catalog." })

const Catalog = Schema.Struct({
  type: Schema.Literal("catalog_message"),
  ...body,
  ...footer,
  action: Schema.Struct({
    name: Schema.Literal("catalog_message"),
    parameters: Schema.optionalKey(Schema.Struct({ thumbnail_product_retailer_id: Schema.optionalKey(id(256)) }))
  })
}).annotate({ identifier: "CatalogContent", description: "A whole catalog." })

const CardButton = Schema.Struct({
  type: Schema.Literal("quick_reply"),
  quick_reply: Schema.Struct({ id: id(256), title: PlainText.between(1, 20) })
})

interface MediaCardAction {
  readonly name?: string
  readonly parameters?: object
  readonly buttons?: ReadonlyArray<unknown>
}

/** A URL button, or reply buttons. */
const MediaCardAction = Schema.Struct({
  name: Schema.optionalKey(Schema.Literal("cta_url")),
  parameters: Schema.optionalKey(Address),
  buttons: Schema.optionalKey(between(CardButton, 1, 3))
}).check(
  Schema.makeFilter(({ buttons, name, parameters }: MediaCardAction) =>
    buttons === undefined
      ? name === undefined
        ? { path: ["name"], issue: "either name and parameters or buttons are required" }
        : parameters !== undefined || { path: ["parameters"], issue: "is required" }
      : name === undefined && parameters === undefined ||
        { path: ["buttons"], issue: "a card must have either a URL or buttons, not both" }
  )
)

const cardIndex = { card_index: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })) }

const MediaCard = Schema.Struct({
  ...cardIndex,
  type: Schema.Literal("cta_url"),
  header: Schema.Union([ImageHeader, VideoHeader]),
  body: Schema.optionalKey(text(160)),
  action: MediaCardAction
}).annotate({ identifier: "MediaCard", description: "A card with a picture or video, and either a URL or buttons." })

const ProductCard = Schema.Struct({
  ...cardIndex,
  type: Schema.Literal("product"),
  action: Schema.Struct({ product_retailer_id: id(256), catalog_id: id(128) })
}).annotate({ identifier: "ProductCard", description: "A card with a product of a catalog." })

const Card = Schema.Union([MediaCard, ProductCard])

/** The properties that all cards of a carousel must share, as one string. */
const shapeOf = (card: typeof Card.Type): string =>
  card.type === "product"
    ? `product ${card.action.catalog_id}`
    : card.action.buttons === undefined
    ? `${card.header.type} address`
    : `${card.header.type} buttons ${card.action.buttons.length}`

const Carousel = Schema.Struct({
  type: Schema.Literal("carousel"),
  ...body,
  action: Schema.Struct({
    cards: between(Card, 2, 10).check(
      Schema.makeFilter((cards: ReadonlyArray<typeof Card.Type>) => {
        const other = cards.findIndex((card) => shapeOf(card) !== shapeOf(cards[0]!))
        if (other >= 0) return { path: [other], issue: "all cards must have the same type, header and kind of action" }
        const misplaced = cards.findIndex(({ card_index }, i) => card_index !== i)
        return misplaced < 0 ||
          { path: [misplaced, "card_index"], issue: "card_index must count up from 0 in the order of the cards" }
      })
    )
  })
}).annotate({ identifier: "CarouselContent", description: "Two to ten cards of the same shape, side by side." })

const OrderDetails = Schema.Struct({
  type: Schema.Literal("order_details"),
  ...words,
  action: Schema.Struct({ name: Schema.Literal("review_and_pay"), parameters: PlainJsonObject })
}).annotate({
  identifier: "OrderDetailsContent",
  description: "An order to pay, in countries where the provider collects payments."
})

const OrderStatus = Schema.Struct({
  type: Schema.Literal("order_status"),
  ...body,
  ...footer,
  action: Schema.Struct({ name: Schema.Literal("review_order"), parameters: PlainJsonObject })
}).annotate({ identifier: "OrderStatusContent", description: "The status of an order sent with `order_details`." })

/** Every kind of interactive message, by its `type`. */
export const InteractiveContent = Schema.Union([
  Buttons,
  List,
  CtaUrl,
  Flow,
  LocationRequest,
  ContactRequest,
  Product,
  ProductList,
  Catalog,
  Carousel,
  OrderDetails,
  OrderStatus
]).annotate({ identifier: "InteractiveContent", description: "An interactive message, by its `type`." })
export type InteractiveContent = typeof InteractiveContent.Type
