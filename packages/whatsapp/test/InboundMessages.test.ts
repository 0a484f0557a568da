import { assert, describe, it } from "@effect/vitest"
import { InboundMessage, OptOutWords } from "@wac/core"
import type { ReceivedContentByType as Told } from "@wac/verifier"
import {
  ana,
  change,
  entry,
  type Json,
  message,
  now,
  number,
  post,
  product,
  read,
  readPost,
  secondsAgo,
  skipped
} from "./posts.ts"

/** The one message that a conversation is read as. */
const received = (
  fields: { readonly [name: string]: Json },
  contacts: ReadonlyArray<Json> = [ana]
): InboundMessage.InboundMessage => {
  const items = read({ contacts, messages: [message(fields)] })
  assert.lengthOf(items, 1)
  const [item] = items
  assert(item?._tag === "Message")
  return item.message
}

/** Type, content and wish of it. */
const said = (fields: { readonly [name: string]: Json }) => {
  const message = received(fields)
  return [message.type, message.content, InboundMessage.preferenceOf(message, OptOutWords.noSettings)]
}

describe("a message", () => {
  it("a message has its sender and number, and Meta's id and time", () => {
    assert.deepStrictEqual(received({ type: "text", text: { body: "Größe 42?" } }), {
      providerNumberId: number,
      providerMessageId: "wamid.in.1",
      customer: { phone: `+${ana.wa_id}`, userId: ana.user_id },
      at: now - 60_000,
      type: "text",
      content: { body: "Größe 42?" },
      context: null,
      preference: undefined,
      profile: { name: "Ana" }
    })
  })

  it("a message has the profile of its sender only", () => {
    const profile = (contacts: ReadonlyArray<Json>) =>
      received({ type: "text", text: { body: "hi" } }, contacts).profile
    const named = { ...ana, profile: { name: "Ana", username: "ana", more: 1 }, parent_user_id: "US.ENT.1" }
    assert.deepStrictEqual(profile([named]), { name: "Ana", username: "ana", parent_user_id: "US.ENT.1" })
    assert.isUndefined(profile([{ ...named, wa_id: "15557020012", user_id: "US.2" }]))
    assert.isUndefined(profile([{ wa_id: ana.wa_id, profile: null }]))
    assert.isUndefined(profile([]))
  })

  it("a message without a time, or with a time in the future, has the current time", () => {
    for (const timestamp of [secondsAgo(-3600), null]) {
      assert.strictEqual(received({ type: "text", text: { body: "hi" }, timestamp }).at, now)
    }
  })

  it("a message without a time has that of its entry", () => {
    const value = { ...product, messages: [message({ timestamp: "?", type: "text", text: { body: "hi" } })] }
    const [item] = readPost(post(entry([change("messages", value)], now / 1000 - 1200)))
    assert(item?._tag === "Message")
    assert.strictEqual(item.message.at, now - 1_200_000)
  })

  it("a message without an id, a sender or a number is ignored", () => {
    const text = { type: "text", text: { body: "hi" } }
    assert.deepStrictEqual(read({ messages: [message({ ...text, id: null })] }), [skipped("message:without_id")])
    assert.deepStrictEqual(read({ messages: [message({ ...text, from: null })] }), [skipped("message:without_sender")])
    assert.deepStrictEqual(read({ metadata: {}, messages: [message(text)] }), [skipped("message:without_number")])
    assert.deepStrictEqual(read({ messages: [null] }), [skipped("message:without_id")])
  })

  it("a report that the chat was opened is not a message", () => {
    assert.deepStrictEqual(read({ contacts: [ana], messages: [message({ type: "request_welcome" })] }), [
      skipped("message:request_welcome")
    ])
  })
})

describe("a message in a group", () => {
  it("a message in a group is unsupported, keeps Meta's content and opens no window", () => {
    const posted = { type: "text", text: { body: "STOP" }, group_id: "Y2FwaV9n" }
    const { content, type, ...rest } = received({ ...posted, context: { id: "wamid.before" } })
    assert.deepStrictEqual<unknown>([type, content], [
      "unsupported",
      {
        type: "text",
        errors: [],
        content: { group_id: "Y2FwaV9n", text: { body: "STOP" } }
      } satisfies Told["unsupported"]
    ])
    assert.deepInclude(rest, { customer: { phone: `+${ana.wa_id}`, userId: ana.user_id }, preference: undefined })
    assert.deepStrictEqual(rest.context, { message_id: "wamid.before" })
    const message = received(posted)
    assert.isFalse(InboundMessage.opensWindow(message))
    assert.isUndefined(InboundMessage.preferenceOf(message, OptOutWords.noSettings))
  })

  it("a file of a message in a group is not downloaded", () => {
    const posted = { type: "image", image: { id: "881", mime_type: "image/png" }, group_id: "Y2FwaV9n" }
    const { content, file } = received(posted)
    assert.isUndefined(file)
    assert.deepStrictEqual<unknown>(content, {
      type: "image",
      errors: [],
      content: { group_id: "Y2FwaV9n", image: posted.image }
    })
  })
})

describe("a sender", () => {
  const text = { type: "text", text: { body: "hi" } }
  const sender = (fields: { readonly [name: string]: Json }, contacts?: ReadonlyArray<Json>) =>
    received({ ...text, ...fields }, contacts).customer

  it("a sender may have only a user id, from the message or the contact beside it", () => {
    const alone = { phone: null, userId: ana.user_id }
    const bare = { profile: { name: "Ana", username: "ana" }, user_id: ana.user_id, parent_user_id: "US.ENT.1" }
    const withParent = { ...alone, aliases: ["US.ENT.1"] }
    assert.deepStrictEqual(sender({ from: null, from_user_id: ana.user_id }, [bare]), withParent)
    assert.deepStrictEqual(sender({ from: null, from_user_id: ana.user_id }, []), alone)
    assert.deepStrictEqual(sender({ from: null }, [bare]), withParent)
    const told = { from: null, from_user_id: ana.user_id, from_parent_user_id: "US.ENT.1" }
    assert.deepStrictEqual(sender(told, []), withParent)
  })

  it("a sender gets the number of a card that the business asked for, and of no other card", () => {
    const card = (origin?: string) => ({
      type: "contacts",
      from: null,
      from_user_id: ana.user_id,
      contacts: [{
        name: { formatted_name: "Ana" },
        phones: [{ phone: "+1 555 702 0011", wa_id: ana.wa_id }],
        ...(origin === undefined ? {} : { origin })
      }]
    })
    const alone = { phone: null, userId: ana.user_id }
    assert.deepStrictEqual(sender(card("contact_request"), []), { ...alone, aliases: [`+${ana.wa_id}`] })
    for (const origin of [undefined, "other"]) assert.deepStrictEqual(sender(card(origin), []), alone)
  })

  it("a sender has number and user id if the post has both anywhere", () => {
    const both = { phone: `+${ana.wa_id}`, userId: ana.user_id }
    assert.deepStrictEqual(sender({ from_user_id: ana.user_id }, []), both)
    assert.deepStrictEqual(sender({ from: null, from_user_id: ana.user_id }), both)
    assert.deepStrictEqual(sender({ from: null }), both)
    assert.deepStrictEqual(sender({}, [{ wa_id: "15557020012", user_id: "US.2" }, ana]), both)
  })

  it("a sender does not get the user id of another contact", () => {
    const ben = { wa_id: "15557020012", user_id: "US.2" }
    assert.deepStrictEqual(sender({}, [ben]), { phone: `+${ana.wa_id}`, userId: null })
    assert.deepStrictEqual(sender({ from: null, from_user_id: ana.user_id }, [ben]), {
      phone: null,
      userId: ana.user_id
    })
  })

  it("a sender in Brazil matches the contact with or without the ninth digit", () => {
    assert.deepStrictEqual(sender({ from: "551187654321" }, [{ wa_id: "5511987654321", user_id: "BR.1" }]), {
      phone: "+551187654321",
      userId: "BR.1"
    })
  })
})

describe("a text", () => {
  it("a text that is a listed word is an opt-out or an opt-in, in upper or lower case", () => {
    for (
      const [body, wish] of [
        ["STOP", "opt_out"],
        [" unsubscribe\n", "opt_out"],
        ["Cancel", "opt_out"],
        ["Start", "opt_in"],
        ["stop it", undefined],
        ["", undefined]
      ] as const
    ) assert.deepStrictEqual(said({ type: "text", text: { body } }), ["text", { body }, wish])
  })
})

describe("a tap", () => {
  it("a tap on a template's button has its text and payload, and either can be an opt-out", () => {
    for (
      const [button, wish] of [
        [{ payload: "Unsubscribe", text: "Unsubscribe" }, "opt_out"],
        [{ payload: "STOP", text: "No more of this" }, "opt_out"],
        [{ payload: "p1", text: "START" }, "opt_in"],
        [{ payload: "p1", text: "No" }, undefined],
        [{ text: "Stop" }, "opt_out"],
        [{ payload: "Stop promotions", text: "No, thanks" }, "opt_out"],
        // of an order, not of being written to
        [{ payload: "CANCEL", text: "Cancel" }, undefined],
        [{ payload: "p1", text: "End" }, undefined]
      ] as const
    ) {
      const told = { payload: null, ...button } satisfies Told["button"]
      assert.deepStrictEqual(said({ type: "button", button }), ["button", told, wish])
    }
  })

  it("a tap on a button or a row names the button or row", () => {
    const reply = (type: string, answer: Json) => said({ type: "interactive", interactive: { type, [type]: answer } })
    const button = { id: "b1", title: "Yes" }
    assert.deepStrictEqual(reply("button_reply", button), [
      "interactive",
      { type: "button_reply", button_reply: button } satisfies Told["interactive"],
      undefined
    ])
    assert.strictEqual(reply("button_reply", { id: "b2", title: "Stop" })[2], "opt_out")
    assert.strictEqual(reply("button_reply", { id: "b2", title: "Quit" })[2], undefined)
    const row = { id: "r1", title: "Express", description: "In two days" }
    assert.deepStrictEqual(reply("list_reply", row), [
      "interactive",
      { type: "list_reply", list_reply: row } satisfies Told["interactive"],
      undefined
    ])
  })

  it("a completed flow has the values that were filled in, if they can be read", () => {
    const flow = (answer: { readonly [name: string]: Json }) => {
      const [type, content] = said({ type: "interactive", interactive: { type: "nfm_reply", nfm_reply: answer } })
      assert.strictEqual(type, "interactive")
      return content
    }
    assert.deepStrictEqual(
      flow({ name: "flow", body: "Sent", response_json: "{\"size\":\"42\",\"note\":\"a\\u0000b\"}" }),
      {
        type: "nfm_reply",
        nfm_reply: { name: "flow", body: "Sent", response: { size: "42", note: "a\uFFFDb" } }
      } satisfies Told["interactive"]
    )
    for (
      const answer of [{ name: "flow", response_json: "{\"size\":" }, { name: "flow", response_json: "7" }, {
        name: "flow"
      }]
    ) {
      const told = { type: "nfm_reply", nfm_reply: answer } satisfies Told["interactive"]
      assert.deepStrictEqual(flow(answer), told)
    }
  })

  it("an interactive reply of an unknown kind is passed on unchanged", () => {
    const interactive = { type: "call_permission_reply", call_permission_reply: { response: "accept" } }
    assert.deepStrictEqual(said({ type: "interactive", interactive }), ["interactive", interactive, undefined])
  })
})

describe("a reaction", () => {
  it("a reaction has its emoji, and none if it is removed", () => {
    const reaction = (fields: { readonly [name: string]: Json }) =>
      said({ type: "reaction", reaction: { message_id: "wamid.out.1", ...fields } })[1]
    const made = { message_id: "wamid.out.1", emoji: "😮" } satisfies Told["reaction"]
    assert.deepStrictEqual(reaction({ emoji: "😮" }), made)
    for (const none of [{}, { emoji: "" }, { emoji: null }]) {
      assert.deepStrictEqual(reaction(none), { ...made, emoji: null } satisfies Told["reaction"])
    }
  })
})

describe("a change of a message", () => {
  it("an edit names its message, has the new content, and may opt out but not in", () => {
    const made = { original_message_id: "wamid.in.0", message: { type: "text", text: { body: "At noon" } } }
    assert.deepStrictEqual(said({ type: "edit", edit: made }), [
      "edit",
      made satisfies Told["edit"],
      undefined
    ])
    assert.deepStrictEqual(
      said({ type: "edit", edit: { ...made, message: { type: "hologram", hologram: { id: 1 } } } })[1],
      {
        ...made,
        message: { type: "unsupported", unsupported: { type: "hologram", errors: [], content: { id: 1 } } }
      }
    )
    const wish = (body: string) =>
      said({ type: "edit", edit: { ...made, message: { type: "text", text: { body } } } })[2]
    // a mistyped STOP may be corrected; an edit that ended an opt-out could be of a message from long before it
    assert.strictEqual(wish("STOP"), "opt_out")
    assert.isUndefined(wish("START"))
  })

  it("a revocation names its message", () => {
    const made = { original_message_id: "wamid.in.0" } satisfies Told["revoke"]
    assert.deepStrictEqual(said({ type: "revoke", revoke: { ...made, more: 1 } }), ["revoke", made, undefined])
  })
})

describe("what the business writes on its own phone", () => {
  const echo = { from: number, to: ana.wa_id, id: "wamid.echo.1", timestamp: secondsAgo(60) }
  const told = (fields: { readonly [name: string]: Json }) =>
    readPost(post(entry([change("smb_message_echoes", { ...product, message_echoes: [{ ...echo, ...fields }] })])))

  it("a message from the business's phone is an echo to the customer, and no opt-out", () => {
    assert.deepStrictEqual(told({ type: "text", text: { body: "STOP" } }), [{
      _tag: "Message",
      message: {
        providerNumberId: number,
        providerMessageId: "wamid.echo.1",
        customer: { phone: `+${ana.wa_id}`, userId: null },
        at: now - 60_000,
        type: "text",
        content: { body: "STOP" },
        context: null,
        preference: undefined,
        isEcho: true
      }
    }])
  })

  it("an echo may be revoked, and may be to a customer without a number", () => {
    const [item] = told({ to: null, to_user_id: "US.1", type: "revoke", revoke: { original_message_id: "wamid.1" } })
    assert(item?._tag === "Message")
    assert.deepInclude(item.message, { type: "revoke", customer: { phone: null, userId: "US.1" }, isEcho: true })
  })

  it("an echo without a customer or a content, or in a group, is ignored", () => {
    const text = { type: "text", text: { body: "hi" } }
    assert.deepStrictEqual(told({ ...text, to: null }), [skipped("echo:without_recipient")])
    assert.deepStrictEqual(told({ ...text, id: null }), [skipped("echo:without_id")])
    assert.deepStrictEqual(told({ ...text, group_id: "a" }), [skipped("echo:group")])
  })
})

describe("media", () => {
  it("media of each kind have their known fields and name the file to download", () => {
    const posted = { id: "881", mime_type: "x/y", sha256: "4654+8g=", url: "https://example.com/m?mid=881" }
    const common = { mime_type: "x/y", sha256: "4654+8g=" }
    for (
      const [type, more] of [
        ["image", { caption: "résumé" }],
        ["audio", { voice: true }],
        ["video", { caption: "STOP" }],
        ["document", { filename: "Currículum café.pdf", caption: "My résumé" }],
        ["sticker", { animated: false }]
      ] as const
    ) {
      assert.deepStrictEqual(said({ type, [type]: { ...posted, ...more, secret_field: 1 } }), [
        type,
        { ...common, ...more } satisfies Told["image"],
        undefined
      ])
    }
    assert.deepStrictEqual(said({ type: "image", image: { id: 882 } }), ["image", {}, undefined])
  })

  it("media have a digest in hexadecimal, even in an edited message", () => {
    const bytes = Buffer.alloc(32, 0xab)
    const image = { id: "881", sha256: bytes.toString("base64"), caption: "a" }
    const file = { providerMediaId: "881", sha256: "ab".repeat(32), filename: null }
    const fileOf = (fields: { readonly [name: string]: Json }) => {
      const { content, file } = received(fields)
      return [content, file]
    }
    assert.deepStrictEqual(fileOf({ type: "image", image }), [{ sha256: file.sha256, caption: "a" }, file])
    assert.deepStrictEqual(
      fileOf({ type: "edit", edit: { original_message_id: "wamid.1", message: { type: "image", image } } }),
      [
        { original_message_id: "wamid.1", message: { type: "image", image: { sha256: file.sha256, caption: "a" } } },
        file
      ]
    )
  })
})

describe("other contents", () => {
  it("locations, cards and orders are read", () => {
    assert.deepStrictEqual(said({ type: "location", location: { latitude: 12.25, longitude: "-43.5" } }), [
      "location",
      { latitude: 12.25, longitude: -43.5 } satisfies Told["location"],
      undefined
    ])
    assert.deepStrictEqual(
      said({
        type: "location",
        location: { latitude: 1, longitude: 2, name: "Office", address: "Main 1", url: null }
      })[1],
      { latitude: 1, longitude: 2, name: "Office", address: "Main 1" }
    )
    const cards = [
      { name: { formatted_name: "Ben" }, phones: [{ phone: "+1 555-702-0012", type: "CELL" }] }
    ] satisfies Told["contacts"]
    assert.deepStrictEqual(said({ type: "contacts", contacts: cards }), ["contacts", cards, undefined])
    const order = {
      catalog_id: "c",
      text: "Love these!",
      product_items: [{ product_retailer_id: "p", quantity: 2, item_price: 7.99, currency: "USD" }]
    } satisfies Told["order"]
    assert.deepStrictEqual(said({ type: "order", order }), ["order", order, undefined])
  })

  it("contents that cannot be read are unsupported, with the name of their type", () => {
    const unsupported = (fields: { readonly [name: string]: Json }) => {
      const [type, content, preference] = said(fields)
      assert.deepStrictEqual([type, preference], ["unsupported", undefined])
      return content
    }
    const errors = [{
      code: 131051,
      title: "Message type unknown",
      error_data: { details: "Message type is currently not supported." }
    }]
    assert.deepStrictEqual(
      unsupported({ type: "unsupported", errors }),
      {
        type: null,
        errors: [{ code: 131051, message: "Message type unknown: Message type is currently not supported." }]
      } satisfies Told["unsupported"]
    )
    assert.deepStrictEqual(
      unsupported({ type: "unsupported", unsupported: { type: "poll" }, errors: [null] }),
      { type: "poll", errors: [] } satisfies Told["unsupported"]
    )
    assert.deepStrictEqual(
      unsupported({ type: "hologram", hologram: { id: 1 } }),
      { type: "hologram", errors: [], content: { id: 1 } } satisfies Told["unsupported"]
    )
    assert.deepStrictEqual(
      unsupported({ type: "unsupported", unsupported: { type: "unknown", raw_type: "x" } }),
      { type: "unknown", errors: [], content: { raw_type: "x" } } satisfies Told["unsupported"]
    )
    assert.deepStrictEqual(unsupported({ type: "toString" }), { type: "toString", errors: [] })
    assert.deepStrictEqual(unsupported({}), { type: null, errors: [] })
  })

  it("contents without what their type requires are unsupported, with the name of their type", () => {
    for (
      const type of [
        "text",
        "button",
        "interactive",
        "reaction",
        "image",
        "location",
        "contacts",
        "order",
        "edit",
        "revoke"
      ]
    ) {
      for (
        const broken of [null, 7, "x", [], {}, { body: 7, id: null, type: "x", message_id: "", latitude: "north" }]
      ) {
        if (type === "contacts" && Array.isArray(broken)) continue
        assert.deepStrictEqual(said({ type, [type]: broken }), ["unsupported", { type, errors: [] }, undefined])
      }
    }
  })
})

describe("a context", () => {
  const context = (fields: { readonly [name: string]: Json }) =>
    received({ type: "text", text: { body: "hi" }, ...fields }).context

  it("a context names the message that is answered", () => {
    assert.deepStrictEqual(context({ context: { from: "15557010002", id: "wamid.out.1" } }), {
      message_id: "wamid.out.1",
      from: "+15557010002"
    })
    assert.deepStrictEqual(context({ context: { id: "wamid.out.1", more: 1 } }), { message_id: "wamid.out.1" })
  })

  it("a context has whether the message was forwarded, and its product or advertisement", () => {
    assert.deepStrictEqual(context({ context: { forwarded: true } }), { forwarded: true })
    const product = { catalog_id: "c", product_retailer_id: "p" }
    const referral = { source_url: "https://example.com/ad", source_id: "1", source_type: "ad", headline: "Sale" }
    assert.deepStrictEqual(
      context({ context: { id: "wamid.out.1", frequently_forwarded: true, referred_product: product }, referral }),
      { message_id: "wamid.out.1", frequently_forwarded: true, referred_product: product, referral }
    )
  })

  it("an empty context is no context", () => {
    for (const nothing of [null, {}, [], "x", { id: "" }, { from: "15557010002" }]) {
      assert.isNull(context({ context: nothing }))
    }
  })
})
