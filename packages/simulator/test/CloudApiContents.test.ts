import { assert, describe, it } from "@effect/vitest"
import { refused } from "../src/messages/CloudApiContents.ts"

type Json = ReturnType<typeof JSON.parse>

const link = "https://files.example/a"
const body = { text: "Which?" }
const x = (length: number) => "x".repeat(length)
const button = (id: string, title = "Yes") => ({ type: "reply", reply: { id, title } })
const buttons = (...buttons: ReadonlyArray<Json>) => ({ type: "button", body, action: { buttons } })
const list = (sections: Json) => ({ type: "list", body, action: { button: "Times", sections } })
const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `${i}`, title: "Noon" }))
const card = (card_index: number, type = "cta_url") => ({ card_index, type })
const name = { formatted_name: "Ana Doe", first_name: "Ana" }

/** What is refused of each kind. */
const faults: { readonly [kind: string]: ReadonlyArray<readonly [content: Json, code: number]> } = {
  image: [[{}, 100], [{ id: "1", link }, 100], [{ link: "ftp://a" }, 131009], [{ link, caption: x(1025) }, 100]],
  video: [[{}, 100], [{ link: 7 }, 131009], [{ id: "" }, 131009], [{ link, caption: x(1025) }, 100]],
  document: [[{}, 100], [{ link, caption: x(1025) }, 100], [{ link, filename: x(241) }, 100]],
  audio: [[{}, 100], [{ link: "a" }, 131009], [{ link, caption: "a" }, 100]],
  sticker: [[{}, 100], [{ link, id: "1" }, 100], [{ link, caption: "a" }, 100]],
  location: [[{ longitude: 1 }, 131008], [{ latitude: 91, longitude: 1 }, 131009], [
    { latitude: 1, longitude: "x" },
    131009
  ]],
  contacts: [
    [{}, 100],
    [[], 131008],
    [[{}], 131008],
    [[{ name: { formatted_name: "Ana" } }], 131008],
    [Array.from({ length: 258 }, () => ({ name })), 131009]
  ],
  reaction: [
    [{ emoji: "👍" }, 131008],
    [{ message_id: "wamid.1" }, 131008],
    [{ message_id: "1", emoji: "👍" }, 131009],
    [{ message_id: "wamid.1", emoji: "👍👍" }, 131009]
  ],
  interactive: [
    [{ type: "hologram", body }, 100],
    [{ type: "button", action: {} }, 131008],
    [{ type: "button", body }, 131008],
    [buttons(), 131009],
    [buttons(button("a"), button("a")), 131009],
    [buttons(button("a", x(21))), 100],
    [{ ...buttons(button("a")), footer: { text: x(61) } }, 100],
    [{ ...buttons(button("a")), header: { type: "text", text: x(61) } }, 100],
    [list([]), 131009],
    [list([{ rows: rows(11) }]), 131009],
    [list([{ title: "a", rows: rows(1) }, { rows: [] }]), 131008],
    [{ type: "cta_url", body, action: { name: "cta_url", parameters: { url: link } } }, 131008],
    [{ type: "flow", body, action: { name: "flow", parameters: { flow_message_version: "3" } } }, 131008],
    [{ type: "location_request_message", body, action: { name: "x" } }, 131009],
    [{ type: "request_contact_info", body, action: {} }, 131009],
    [{ type: "product", action: { catalog_id: "1" } }, 131008],
    [{ type: "product_list", body, action: { catalog_id: "1", sections: [] } }, 131009],
    [{ type: "carousel", body, action: { cards: [card(0)] } }, 131009],
    [{ type: "carousel", body, action: { cards: [card(0), card(0)] } }, 131009],
    [{ type: "carousel", body, action: { cards: [card(0), card(1, "product")] } }, 131009],
    [{ type: "carousel", body, footer: body, action: { cards: [card(0), card(1)] } }, 100]
  ]
}

describe("the simulated Cloud API", () => {
  it.each(
    Object.entries(faults).flatMap(([kind, all]) => all.map(([content, code]) => [kind, content, code] as const))
  )(
    "content of %s is refused: %j with %i",
    (kind, content, code) => {
      const refusal = refused(kind, content)
      assert.strictEqual((refusal?.body("trace") as Json)?.error?.code, code)
    }
  )
})
