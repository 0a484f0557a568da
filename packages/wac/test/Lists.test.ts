import { assert, describe, it } from "vitest"
import type { Contact, Message } from "../src/index.ts"
import { failure, fresh, hello, start } from "./instance.ts"

const all = async <A>(list: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  for await (const item of list) items.push(item)
  return items
}

describe("messages", () => {
  it("are listed newest first, as get gives them, and filtered", async () => {
    const { clock, wac } = await start()
    const ids: Array<string> = []
    for (const to of ["+15005550003", "+15551234567", "+15551234568"]) {
      ids.unshift((await wac.messages.send(hello(to), fresh())).messageId)
      await clock.advance(1000)
    }
    const messages: ReadonlyArray<Message> = await all(wac.messages.list())
    assert.deepStrictEqual(messages.map(({ messageId }) => messageId), ids)
    assert.deepStrictEqual(messages[0], await wac.messages.get(ids[0]!))
    const page = await wac.messages.list({ status: "read" }).page({ limit: 1 })
    assert.deepStrictEqual([page.data, page.hasMore], [messages.slice(0, 1), true])
    assert.deepStrictEqual(await all(wac.messages.list({ to: "+15005550003", status: "sent" })), messages.slice(2))

    // @ts-expect-error no such status
    const wrong = await failure(wac.messages.list({ status: "lost" }).page())
    assert.deepInclude(wrong, { code: "invalid_body", reason: "invalid_field", param: "status" })
    const number = await failure(wac.messages.list({ to: "1555" }).page())
    assert.deepInclude(number, { code: "invalid_body", reason: "invalid_field", param: "to" })
  })
})

describe("contacts", () => {
  it("tell who may be written to, and until when", async () => {
    const { clock, wac } = await start()
    // the sandbox replies from the first, and from the second with STOP
    for (const to of ["+15005550008", "+15005550009"]) await wac.messages.send(hello(to), fresh())
    await clock.advance(1000)
    const contacts: ReadonlyArray<Contact> = await all(wac.contacts.list())
    const [number] = (await wac.phoneNumbers.list().page()).data
    const common = { phoneNumberId: number!.id, userId: null, lastInboundAt: "2026-01-01T00:00:00.200Z" }
    assert.deepStrictEqual(contacts, [
      {
        ...common,
        id: `${number!.id}:+15005550008`,
        phone: "+15005550008",
        windowOpenUntil: "2026-01-02T00:00:00.200Z",
        optedOut: false,
        preferenceAt: null
      },
      {
        ...common,
        id: `${number!.id}:+15005550009`,
        phone: "+15005550009",
        windowOpenUntil: "2026-01-02T00:00:00.200Z",
        optedOut: true,
        preferenceAt: "2026-01-01T00:00:00.200Z"
      }
    ])
    assert.deepStrictEqual(await wac.contacts.get(contacts[0]!.id), contacts[0])
    assert.deepStrictEqual(await all(wac.contacts.list({ phoneNumberId: number!.id })), contacts)
    assert.deepStrictEqual(await all(wac.contacts.list({ phoneNumberId: "pn_01ARZ3NDEKTSV4RRFFQ69G5FAV" })), [])

    assert.deepInclude(await failure(wac.contacts.get("nobody")), { code: "not_found" })
    // @ts-expect-error misspelt
    const wrong = await failure(wac.contacts.list({ phoneNumber: number!.id }).page())
    assert.deepInclude(wrong, { reason: "unknown_field", param: "phoneNumber" })
  })
})
