/**
 * A send of each kind, as examples for the OpenAPI document.
 */
import type { Message } from "@wac/core"
import type { Schema } from "effect"
import * as ExampleValues from "../ExampleValues.ts"

const to = ExampleValues.customer

/** A template to a customer. */
export const template = { to, type: "template", template: ExampleValues.template } as const

/** The content of each kind of message. A kind without an example does not compile. */
const contents: { readonly [Kind in Message.MessageType]: Schema.Json } = {
  template: ExampleValues.template,
  text: { body: "See https://shop.example/1042", preview_url: true },
  image: { media: ExampleValues.media, caption: "The shelf" },
  audio: { link: "https://files.example/hello.ogg", voice: true },
  video: { link: "https://files.example/how-to.mp4" },
  document: { media: ExampleValues.media, filename: "invoice 1042.pdf", caption: "Your invoice" },
  sticker: { link: "https://files.example/thanks.webp" },
  location: { latitude: 52.516266, longitude: 13.377775, name: "Brandenburger Tor", address: "Pariser Platz, Berlin" },
  contacts: [{
    name: { formatted_name: "Ana Lima", first_name: "Ana" },
    phones: [{ phone: "+1 555-010-0199", type: "WORK" }]
  }],
  interactive: {
    type: "button",
    body: { text: "Will you come?" },
    action: {
      buttons: [
        { type: "reply", reply: { id: "yes", title: "Yes" } },
        { type: "reply", reply: { id: "no", title: "No" } }
      ]
    }
  },
  reaction: { message_id: ExampleValues.received.id, emoji: "👍" }
}

/**
 * Bodies of `POST /v1/messages` by name: one of each kind, one that quotes a customer's message, and one to a customer
 * without a phone number.
 */
export const requests: { readonly [name: string]: Schema.Json } = {
  ...Object.fromEntries(
    Object.entries(contents).map(([type, content]) => [
      type,
      { to, type, [type]: content, ...(type === "template" ? { client_reference: ExampleValues.sent.reference } : {}) }
    ])
  ),
  user_id: { to: "US.13491208655302741918", type: "text", text: { body: "It is on its way" } },
  quote: { to, type: "text", text: { body: "It is on its way" }, context: { message_id: ExampleValues.received.id } }
}
