import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@wac/core"
import { KindFixture } from "@wac/testkit"
import * as FirstChoice from "../src/FirstChoice.ts"

const to = "+15005550011"

describe("FirstChoice", () => {
  it("the first choice is the first button, row, card's button or form", () => {
    const chosen = KindFixture.messages(to).flatMap((message) => {
      const said = FirstChoice.of(message, undefined)
      return said === undefined ? [] : [[KindFixture.nameOf(message), said.content]]
    })
    assert.deepStrictEqual(chosen, [
      ["interactive button", { type: "button_reply", button_reply: { id: "yes", title: "Yes" } }],
      [
        "interactive list",
        { type: "list_reply", list_reply: { id: "noon", title: "Noon", description: "12:00 to 13:00" } }
      ],
      ["interactive flow", { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response: {} } }],
      ["interactive carousel", { type: "button_reply", button_reply: { id: "buy-0", title: "Buy" } }]
    ])
  })

  it("the first choice of a template is its first quick reply, with the payload of the send", () => {
    const { content, template } = KindFixture.templates.find(({ template }) => template.name === "picture_and_buttons")!
    const message = (more: object) =>
      ({
        to,
        type: "template",
        template: { name: template.name, language: "en_US", ...more }
      }) as Message.OutboundMessage
    const known = template as Parameters<typeof FirstChoice.of>[1]
    assert.deepStrictEqual(FirstChoice.of(message(content), known), {
      type: "button",
      content: { text: "Stop", payload: "stop" }
    })
    assert.deepStrictEqual(FirstChoice.of(message({}), known)?.content, { text: "Stop", payload: "Stop" })
    assert.isUndefined(FirstChoice.of(message({}), undefined))
  })
})
