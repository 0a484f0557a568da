import { assert, describe, it } from "vitest"
import type {
  ConversationFilter,
  CustomerMessage,
  ErrorReason,
  OneContent,
  Received,
  ReceivedContentByType,
  Told
} from "../../src/promises.ts"
import { failure, fresh, hello, start } from "../instance.ts"

const customer = { type: "message", providerNumberId: "sandbox-1", from: "+15551234567" } as const

/** One of each type. The types require the list to be complete. */
const contents: ReceivedContentByType = {
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
  edit: { original_message_id: "wamid.1", message: { type: "text", text: { body: "At noon" } } },
  revoke: { original_message_id: "wamid.1" },
  unsupported: { type: "poll", errors: [{ code: 131051, message: "Message type unknown" }] }
}

const types = Object.keys(contents) as Array<keyof ReceivedContentByType>

describe("a customer's message from a test or a provider", () => {
  it.each(types)("a %s becomes an event with its content and opens the window if it is new", async (type) => {
    const { clock, wac } = await start()
    const heard: Array<unknown> = []
    wac.on("message.received", ({ data }) => void heard.push([data.type, data[data.type as never], data.context]))
    const context = { message_id: "wamid.0" }
    await wac.inbound.receive([
      { ...customer, providerMessageId: "in-1", context, [type]: contents[type] } as CustomerMessage
    ])
    await clock.advance("1 second")
    const content = type === "reaction"
      ? { ...contents[type], provider_message_id: "wamid.1" }
      : type === "edit" || type === "revoke"
      ? { ...contents[type], original_provider_message_id: "wamid.1" }
      : contents[type]
    const [[heardType, heardContent, heardContext]] = heard as [[string, { readonly media_id?: string }, unknown]]
    assert.deepStrictEqual([heardType, heardContext], [type, { ...context, provider_message_id: "wamid.0" }])
    if ("id" in content) {
      // the sandbox downloads files, so ours takes the place of the reported id
      const { id: _, ...described } = content
      const { media_id, ...rest } = heardContent
      assert.match(media_id!, /^med_/)
      assert.deepStrictEqual(rest, described)
    } else assert.deepStrictEqual<unknown>(heardContent, content)
    const answer = wac.messages.send({ to: customer.from, type: "text", text: { body: "Thanks" } }, fresh())
    if (type !== "edit" && type !== "revoke") return void await answer
    assert.strictEqual((await failure(answer)).reason, "outside_service_window")
  })

  it("a reference to a known message contains our id and the provider's", async () => {
    const { clock, wac } = await start()
    const heard: Array<unknown> = []
    wac.on("message.received", ({ data }) => void heard.push(data.type === "reaction" ? data.reaction : data.context))
    const to = customer.from
    const { messageId, providerMessageId } = await wac.messages.send(
      { to, type: "template", template: { name: "hello_world", language: "en_US" } },
      fresh()
    )
    await wac.inbound.receive([
      { ...customer, providerMessageId: "in-1", reaction: { message_id: providerMessageId, emoji: "👍" } },
      { ...customer, providerMessageId: "in-2", context: { message_id: "in-1" }, text: { body: "I like it" } }
    ])
    await clock.advance("1 second")
    const [first] = (await wac.events.list({ type: "message.received" }).page()).data
    assert.deepStrictEqual(heard, [
      { message_id: messageId, provider_message_id: providerMessageId, emoji: "👍" },
      { message_id: first!.data.message_id, provider_message_id: "in-1" }
    ])
  })

  it("a conversation has both directions under every name of the customer, and each message is found by its id", async () => {
    const { clock, wac } = await start()
    const to = "+15551234567"
    const template = { name: "hello_world", language: "en_US" }
    const sent = await wac.messages.send({ to, type: "template", template, clientReference: "order-7" }, fresh())
    await wac.inbound.receive([
      { ...customer, from: to, fromUserId: "US.1", providerMessageId: "in-1", text: { body: "Thank you" } },
      { ...customer, from: "+15551230002", providerMessageId: "in-2", text: { body: "Who is this?" } }
    ])
    const reply = await wac.messages.send({ to, type: "text", text: { body: "Bye", preview_url: true } }, fresh())
    await clock.advance("1 second")
    const conversation = (await wac.messages.conversation({ contact: "US.1" }).page()).data
    const [bye, received, first] = conversation
    assert.lengthOf(conversation, 3)
    assert.deepInclude(bye, {
      direction: "outbound",
      messageId: reply.messageId,
      status: "read",
      text: { body: "Bye", preview_url: true }
    })
    assert.deepInclude(first, { messageId: sent.messageId, clientReference: "order-7", template })
    assert(received?.direction === "inbound")
    assert.deepStrictEqual<unknown>(received, {
      direction: "inbound",
      status: "received",
      messageId: received.messageId,
      providerMessageId: "in-1",
      workspaceId: wac.id,
      from: to,
      fromUserId: "US.1",
      to: "+15005550100",
      type: "text",
      text: { body: "Thank you" },
      context: null,
      receivedAt: "2026-01-01T00:00:00.000Z"
    })
    assert.deepStrictEqual(await wac.messages.get(received.messageId), received)
    const bodies = async (filter: ConversationFilter) =>
      (await wac.messages.conversation(filter).page()).data.map(({ messageId }) => messageId)
    assert.deepStrictEqual(await bodies({ contact: to, direction: "outbound" }), [reply.messageId, sent.messageId])
    assert.deepStrictEqual(await bodies({ contact: to, direction: "inbound" }), [received.messageId])
    assert.lengthOf(await bodies({}), 2)
    assert.deepStrictEqual(await bodies({ direction: "outbound" }), [reply.messageId, sent.messageId])
    assert.lengthOf((await wac.messages.list().page()).data, 2)
    assert.deepInclude(await failure(wac.messages.conversation({ contact: "1555" }).page()), { param: "contact" })
  })

  it("a report of the price and of playing reaches the message", async () => {
    const { clock, wac } = await start()
    const { messageId } = await wac.messages.send(
      { to: "+15005550003", type: "template", template: { name: "hello_world", language: "en_US" } },
      fresh()
    )
    const pricing = { billable: true, model: "PMP", type: "regular", category: "utility" }
    const played = { type: "status", messageId, status: "read", pricing, isPlayed: true } as const
    await clock.advance("1 second")
    await wac.inbound.receive([played])
    assert.deepInclude(await wac.messages.get(messageId), {
      pricing,
      playedAt: "2026-01-01T00:00:01.000Z",
      status: "read"
    })
    const events = (await wac.events.list().page()).data.map(({ data, type }) => [type, "pricing" in data])
    assert.deepStrictEqual(events, [["message.sent", false], ["message.delivered", false], ["message.read", true]])
  })

  it("a report that a failed message was read corrects it, and listeners are told so", async () => {
    const { clock, wac } = await start()
    const heard: Array<unknown> = []
    for (const type of ["message.sent", "message.delivered", "message.read"] as const) {
      wac.on(type, ({ data, type }) => void heard.push([type, data.corrects]))
    }
    const { messageId } = await wac.messages.send(
      { to: "+15005550002", type: "template", template: { name: "hello_world", language: "en_US" } },
      fresh()
    )
    await clock.advance("1 second")
    assert.deepInclude(await wac.messages.get(messageId), {
      status: "failed",
      failedAt: "2026-01-01T00:00:00.200Z"
    })
    const read = { type: "status", messageId, status: "read" } as const
    await wac.inbound.receive([read, { ...read, status: "failed" }, read])
    await clock.advance("1 second")
    const at = "2026-01-01T00:00:01.000Z"
    assert.deepInclude(await wac.messages.get(messageId), {
      status: "read",
      deliveredAt: at,
      readAt: at,
      failedAt: null,
      error: null
    })
    assert.sameDeepMembers(heard, [
      ["message.sent", undefined],
      ["message.delivered", "failed"],
      ["message.read", "failed"]
    ])
  })

  it("a button or button reply that means stop opts the customer out, like the text STOP", async () => {
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

  it("a customer's message needs exactly one valid content, and the error names the wrong field", async () => {
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
      assert.deepInclude<object>(
        error,
        { code: "invalid_body", param: `[0].${param}`, reason },
        JSON.stringify(content)
      )
    }
    assert.deepStrictEqual((await wac.events.list().page()).data, [])
  })
})

it("what became of each report is returned, in its place", async () => {
  const { wac } = await start()
  const { messageId } = await wac.messages.send(hello("+15005550003"), fresh())
  const from = { from: "+15551234567", text: { body: "Hi" } }
  const told = (): ReadonlyArray<Told> => [
    { type: "status", messageId, status: "delivered" },
    { type: "status", messageId: "msg_01JD0000000000000000000000", status: "delivered" },
    { type: "status", providerMessageId: "nobody's", status: "read" },
    { type: "message", providerNumberId: "unknown", providerMessageId: "in-1", ...from },
    { type: "message", providerNumberId: "sandbox-1", providerMessageId: "in-2", ...from, at: "2020-01-01T00:00:00Z" },
    { type: "message", providerNumberId: "sandbox-1", providerMessageId: "in-3", ...from }
  ]
  const expected: ReadonlyArray<Received> = [
    { applied: true },
    { applied: false, reason: "unknown_message" },
    { applied: false, reason: "unknown_message" },
    { applied: false, reason: "unknown_number" },
    { applied: false, reason: "too_old" },
    { applied: true }
  ]
  assert.deepStrictEqual(await wac.inbound.receive(told()), expected)
  assert.deepStrictEqual(await wac.inbound.receive(told()), expected)
  assert.deepStrictEqual(await wac.inbound.receive([]), [])
})
