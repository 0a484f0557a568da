import type { ReceivedContentByType } from "@wac/verifier"
import { assert, describe, it } from "vitest"
import type { CustomerMessage, ErrorReason, OneContent, ReceivedContent } from "../../src/index.ts"
import { failure, fresh, start } from "../instance.ts"

const customer = { type: "message", providerNumberId: "sandbox-1", from: "+15551234567" } as const

/** One of each type; the types hold the list to be complete. */
const contents: { readonly [type in keyof ReceivedContent]: ReceivedContent[type] } = {
  text: { body: "Where is my order?" },
  image: { id: "media-1", mime_type: "image/jpeg", sha256: "abc", caption: "This one" },
  video: { id: "media-2", mime_type: "video/mp4" },
  audio: { id: "media-3", mime_type: "audio/ogg", voice: true },
  document: { id: "media-4", mime_type: "application/pdf", filename: "invoice.pdf" },
  sticker: { id: "media-5", mime_type: "image/webp", animated: false },
  location: { latitude: 52.52, longitude: 13.405, name: "Office" },
  contacts: [{ name: { formatted_name: "Ana Lima" }, phones: [{ phone: "+15557654321" }] }],
  button: { text: "Yes", payload: "confirm" },
  interactive: { type: "list_reply", list_reply: { id: "slot-2", title: "Tuesday" } },
  order: { catalog_id: "c-1", product_items: [{ product_retailer_id: "sku-1", quantity: 2 }] },
  reaction: { message_id: "wamid.1", emoji: "👍" },
  unsupported: { type: "poll", errors: [{ code: 131051, message: "Message type unknown" }] }
}

const types = Object.keys(contents) as Array<keyof ReceivedContent>

describe("a customer's message that a test or a provider reports", () => {
  it.each(types)("as %s is an event with that content, and opens the service window", async (type) => {
    const { clock, wac } = await start()
    const heard: Array<unknown> = []
    wac.on("message.received", ({ data }) => void heard.push([data.type, data[data.type], data.context]))
    const context = { message_id: "wamid.0" }
    await wac.inbound.receive([
      { ...customer, providerMessageId: "in-1", context, [type]: contents[type] } as CustomerMessage
    ])
    await clock.advance("1 second")
    assert.deepStrictEqual(heard, [[type, contents[type], context]])
    await wac.messages.send({ to: customer.from, type: "text", text: { body: "Thanks" } }, fresh())
  })

  it("as a button or a button reply that says stop opts the customer out, as the text STOP does", async () => {
    const stops: ReadonlyArray<OneContent> = [
      { text: { body: " stop " } },
      { button: { text: "Stop promotions", payload: null } },
      { interactive: { type: "button_reply", button_reply: { id: "STOP", title: "No more" } } }
    ]
    for (const [index, content] of stops.entries()) {
      const { wac } = await start()
      await wac.inbound.receive([{ ...customer, providerMessageId: `in-${index}`, ...content }])
      const refused = await failure(
        wac.messages.send({ to: customer.from, type: "text", text: { body: "Hi" } }, fresh())
      )
      assert.strictEqual(refused.reason, "opted_out", JSON.stringify(content))
    }
  })

  it("needs exactly one content, of its type's shape, and says which field is wrong", async () => {
    const { wac } = await start()
    const wrong: ReadonlyArray<readonly [content: object, param: string, reason: ErrorReason]> = [
      [{}, "text", "missing_field"],
      [{ text: { body: "a" }, image: { id: "m" } }, "image", "invalid_field"],
      [{ image: { mime_type: "image/png" } }, "image.id", "missing_field"],
      [{ location: { latitude: "north", longitude: 1 } }, "location.latitude", "invalid_field"],
      [{ interactive: { type: "dance" } }, "interactive.type", "invalid_field"],
      [{ hologram: {} }, "hologram", "unknown_field"]
    ]
    for (const [content, param, reason] of wrong) {
      const error = await failure(
        wac.inbound.receive([{ ...customer, providerMessageId: "in-1", ...content }] as never)
      )
      assert.deepInclude(error, { code: "invalid_body", param: `[0].${param}`, reason }, JSON.stringify(content))
    }
    assert.deepStrictEqual((await wac.events.list().page()).data, [])
  })

  it("is typed as a webhook's receiver has it", () => {
    const asReceived: ReceivedContentByType = contents
    assert.sameMembers(Object.keys(asReceived), types)
  })
})
