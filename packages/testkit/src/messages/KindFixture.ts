/**
 * An example of every kind of message and of each of its forms. None refers to another message or to an uploaded file.
 */
import type { Message, Template } from "@wac/core"

type Content<Kind extends Message.MessageType> = Message.OutboundOf<Kind>[Kind & keyof Message.OutboundOf<Kind>]

const link = (name: string) => ({ link: `https://files.example/${name}` })

const body = { body: { text: "Which one?" } }

/** Contents by kind. A kind without an example does not compile. */
export const contents: {
  readonly [Kind in Exclude<Message.MessageType, "template" | "reaction">]: readonly [
    Content<Kind>,
    ...ReadonlyArray<Content<Kind>>
  ]
} = {
  text: [{ body: "See https://shop.example/42", previewUrl: true }],
  image: [{ ...link("shelf.jpg"), caption: "The shelf, assembled" }],
  audio: [link("song.mp3"), { ...link("hello.ogg"), voice: true }],
  video: [{ ...link("how-to.mp4"), caption: "How to hang it" }],
  document: [{ ...link("1042.pdf"), caption: "Your invoice", filename: "invoice 1042.pdf" }],
  sticker: [link("thanks.webp")],
  location: [{
    latitude: 52.516266,
    longitude: 13.377775,
    name: "Brandenburger Tor",
    address: "Pariser Platz, Berlin"
  }],
  contacts: [[{
    name: { formatted_name: "Zoë Doe", first_name: "Zoë", last_name: "Doe" },
    birthday: "2000-02-29",
    addresses: [{
      street: "1 Hacker Way",
      city: "Menlo Park",
      country: "United States",
      country_code: "us",
      type: "WORK"
    }],
    emails: [{ email: "zoe@shop.example", type: "WORK" }],
    org: { company: "Shop", department: "Service", title: "Manager" },
    phones: [{ phone: "+1 555-010-0199", wa_id: "15550100199", type: "CELL" }],
    urls: [{ url: "https://shop.example", type: "WORK" }]
  }]],
  interactive: [
    {
      type: "button",
      header: { type: "image", image: link("shelf.jpg") },
      ...body,
      footer: { text: "Tap one" },
      action: { buttons: [{ type: "reply", reply: { id: "yes", title: "Yes" } }] }
    },
    {
      type: "list",
      header: { type: "text", text: "Delivery" },
      ...body,
      action: {
        button: "Times",
        sections: [
          { title: "Today", rows: [{ id: "noon", title: "Noon", description: "12:00 to 13:00" }] },
          { title: "Tomorrow", rows: [{ id: "later", title: "Morning" }] }
        ]
      }
    },
    {
      type: "cta_url",
      header: { type: "document", document: { ...link("1042.pdf"), filename: "1042.pdf" } },
      ...body,
      action: { name: "cta_url", parameters: { display_text: "Pay", url: "https://shop.example/pay" } }
    },
    {
      type: "flow",
      ...body,
      action: {
        name: "flow",
        parameters: {
          flow_message_version: "3",
          flow_id: "1",
          flow_token: "t",
          flow_cta: "Book",
          flow_action: "navigate",
          flow_action_payload: { screen: "START", data: { name: "Zoë" } }
        }
      }
    },
    { type: "location_request_message", ...body, action: { name: "send_location" } },
    { type: "request_contact_info", ...body, action: { name: "request_contact_info" } },
    { type: "product", action: { catalog_id: "1", product_retailer_id: "sku-1" } },
    {
      type: "product_list",
      header: { type: "text", text: "Ours" },
      ...body,
      action: { catalog_id: "1", sections: [{ title: "Shelves", product_items: [{ product_retailer_id: "sku-1" }] }] }
    },
    {
      type: "catalog_message",
      ...body,
      action: { name: "catalog_message", parameters: { thumbnail_product_retailer_id: "sku-1" } }
    },
    {
      type: "carousel",
      ...body,
      action: {
        cards: [0, 1].map((card_index) => ({
          card_index,
          type: "cta_url",
          header: { type: "video", video: link(`${card_index}.mp4`) },
          body: { text: "A shelf" },
          action: { buttons: [{ type: "quick_reply", quick_reply: { id: `buy-${card_index}`, title: "Buy" } }] }
        }))
      }
    },
    {
      type: "carousel",
      ...body,
      action: {
        cards: ["sku-1", "sku-2"].map((product_retailer_id, card_index) => ({
          card_index,
          type: "product",
          action: { product_retailer_id, catalog_id: "1" }
        }))
      }
    },
    {
      type: "order_details",
      ...body,
      action: { name: "review_and_pay", parameters: { reference_id: "1042", currency: "INR" } }
    },
    {
      type: "order_status",
      ...body,
      action: { name: "review_order", parameters: { reference_id: "1042", order: { status: "shipped" } } }
    }
  ]
}

/** A message of each form to this recipient. */
export const messages = (to: Message.OutboundMessage["to"]): ReadonlyArray<Message.OutboundMessage> =>
  Object.entries(contents).flatMap(([type, examples]) =>
    examples.map((content) => ({ to, type, [type]: content }) as unknown as Message.OutboundMessage)
  )

/** A reaction to a message of the conversation with this recipient. */
export const reaction = (
  to: Message.OutboundMessage["to"],
  message_id: Message.OutboundOf<"reaction">["reaction"]["message_id"]
): Message.OutboundMessage => ({ to, type: "reaction", reaction: { message_id, emoji: "👍" } })

/** The form's name for a test title. */
export const nameOf = (message: Message.OutboundMessage): string =>
  message.type === "interactive"
    ? `interactive ${message.interactive.type}`
    : message.type === "template"
    ? `template ${message.template.name}`
    : message.type

const approved = {
  language: "en_US",
  category: "marketing",
  status: "approved",
  parameterFormat: "positional",
  quality: null,
  rejectionReason: null
} as const

/** A template of each form, with content that fills it. */
export const templates: ReadonlyArray<{
  readonly template: Template.ProviderTemplate
  readonly content: Omit<Content<"template">, "name" | "language">
}> = [
  {
    template: {
      ...approved,
      providerTemplateId: "1",
      name: "named_header",
      category: "utility",
      parameterFormat: "named",
      components: [
        { type: "HEADER", format: "TEXT", text: "Order {{order_id}}" },
        { type: "BODY", text: "Hi {{first_name}}, it is ready." }
      ]
    },
    content: { header: { text: "1042" }, bodyParams: { first_name: "Ana" } }
  },
  {
    template: {
      ...approved,
      providerTemplateId: "2",
      name: "picture_and_buttons",
      components: [
        { type: "HEADER", format: "IMAGE" },
        { type: "BODY", text: "{{1}} off, {{2}}." },
        {
          type: "BUTTONS",
          buttons: [
            { type: "QUICK_REPLY", text: "Stop" },
            { type: "URL", text: "Shop", url: "https://shop.example/{{1}}" },
            { type: "COPY_CODE", text: "Copy" },
            { type: "FLOW", text: "Book" },
            { type: "CATALOG", text: "See all" }
          ]
        }
      ]
    },
    content: {
      header: { image: link("sale.jpg") },
      bodyParams: [
        { currency: { fallback_value: "$10", code: "USD", amount_1000: 10_000 } },
        { date_time: { fallback_value: "today" } }
      ],
      buttons: [
        { index: 0, payload: "stop" },
        { index: 1, urlSuffix: "sale" },
        { index: 2, code: "SALE10" },
        { index: 3, flowToken: "t", flowData: { day: "monday" } },
        { index: 4, thumbnailProductRetailerId: "sku-1" }
      ]
    }
  },
  {
    template: {
      ...approved,
      providerTemplateId: "3",
      name: "place",
      category: "utility",
      components: [{ type: "HEADER", format: "LOCATION" }, { type: "BODY", text: "Here it is." }]
    },
    content: { header: { location: { latitude: 1, longitude: 2, name: "Shop", address: "1 Hacker Way" } } }
  },
  {
    template: {
      ...approved,
      providerTemplateId: "4",
      name: "offer",
      components: [
        { type: "BODY", text: "Only for {{1}}." },
        { type: "LIMITED_TIME_OFFER", limited_time_offer: { text: "Hurry", has_expiration: true } },
        {
          type: "BUTTONS",
          buttons: [{ type: "COPY_CODE", text: "Copy" }, { type: "URL", text: "Shop", url: "https://a.example" }]
        }
      ]
    },
    content: {
      bodyParams: ["Ana"],
      limitedTimeOffer: { expiresAt: "2026-01-02T03:04:05.678Z" },
      buttons: [{ index: 0, code: "SALE10" }]
    }
  },
  {
    template: {
      ...approved,
      providerTemplateId: "5",
      name: "cards",
      components: [
        { type: "BODY", text: "For {{1}}:" },
        {
          type: "CAROUSEL",
          cards: [0, 1].map(() => ({
            components: [
              { type: "HEADER", format: "VIDEO" },
              { type: "BODY", text: "{{1}}" },
              {
                type: "BUTTONS",
                buttons: [{ type: "QUICK_REPLY", text: "More" }, {
                  type: "URL",
                  text: "Buy",
                  url: "https://a.example/{{1}}"
                }]
              }
            ]
          }))
        }
      ]
    },
    content: {
      bodyParams: ["Ana"],
      cards: [0, 1].map((i) => ({
        header: { video: link(`${i}.mp4`) },
        bodyParams: [`shelf ${i}`],
        buttons: [{ index: 0, payload: `more-${i}` }, { index: 1, urlSuffix: `sku-${i}` }]
      }))
    }
  },
  {
    template: {
      ...approved,
      providerTemplateId: "6",
      name: "code",
      category: "authentication",
      components: [
        { type: "BODY", text: "{{1}} is your code." },
        { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE", text: "Copy code" }] }
      ]
    },
    content: { bodyParams: ["4711"] }
  }
]
