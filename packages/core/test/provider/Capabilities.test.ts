import { assert, describe, it } from "vitest"
import type { MediaId, MessageId } from "../../src/Id.ts"
import type { OutboundMessage } from "../../src/messages/Message.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import { templated, text } from "../samples.ts"

const to = "+15551234567"
const media = "med_01JD0000000000000000000000" as MediaId
const link = "https://example.com/a"
const messageId = "msg_01JD0000000000000000000000" as MessageId

/** Messages, with the capability that each needs and the field that needs it. */
const cases: ReadonlyArray<readonly [OutboundMessage, keyof Capabilities.Capabilities, string]> = [
  [templated(), "templates", "type"],
  [{ to, type: "image", image: { link } }, "media", "type"],
  [{ to, type: "video", video: { link } }, "media", "type"],
  [{ to, type: "audio", audio: { link } }, "media", "type"],
  [{ to, type: "document", document: { link } }, "media", "type"],
  [{ to, type: "sticker", sticker: { link } }, "media", "type"],
  [{ to, type: "image", image: { media } }, "uploads", "image.media"],
  [{ to, type: "location", location: { latitude: 1, longitude: 2 } }, "location", "type"],
  [{ to, type: "contacts", contacts: [{ name: { formatted_name: "Ana", first_name: "Ana" } }] }, "contacts", "type"],
  [{ to, type: "reaction", reaction: { message_id: messageId, emoji: "" } }, "reactions", "type"],
  [{ ...text(), context: { message_id: messageId } } as OutboundMessage, "quotes", "context"],
  [{ ...text(), to: "US.13491208655302741918" }, "userIds", "to"]
]

describe("a message", () => {
  it("a message that the channel does not support is refused, and the refusal names the field and the capability", () => {
    for (const [message, capability, param] of cases) {
      assert.isUndefined(Capabilities.refusal(Capabilities.all, message))
      const refusal = Capabilities.refusal({ ...Capabilities.all, [capability]: false }, message)
      assert.deepInclude(refusal, { code: "invalid_body", reason: "invalid_field", param }, capability)
      assert.include(refusal!.message, capability)
    }
  })

  it("a text from a phone number to another can be sent on every channel", () => {
    assert.isUndefined(Capabilities.refusal(Capabilities.none, text()))
  })

  it("every capability but the window and read marks is needed by a message", () => {
    const needed = new Set([...cases.map(([, capability]) => capability), "interactive"])
    const others = Capabilities.names.filter((name) => !needed.has(name))
    assert.deepStrictEqual(others, ["serviceWindow", "readMarks"])
  })
})
