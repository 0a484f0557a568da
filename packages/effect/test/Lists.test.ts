import { assert, describe, it } from "vitest"
import type { Contact, Message } from "../src/promises.ts"
import { failure, fresh, hello, start } from "./instance.ts"

const all = async <A>(list: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  for await (const item of list) items.push(item)
  return items
}

describe("messages", () => {
  it("messages are listed newest first, as get returns them, and can be filtered", async () => {
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

describe("messages and events of a time", () => {
  it("messages and events are found by client reference and by a range of time", async () => {
    const { clock, wac } = await start()
    const times: Array<Date> = []
    const ids: Array<string> = []
    for (const clientReference of ["order-1", "order-2", "order-1"]) {
      times.push(clock.now())
      ids.push((await wac.messages.send({ ...hello("+15005550003"), clientReference }, fresh())).messageId)
      await clock.advance(1000)
    }
    const [first, second, third] = ids
    const found = async (filter: Parameters<typeof wac.messages.list>[0]) =>
      (await all(wac.messages.list(filter))).map(({ messageId }) => messageId)
    assert.deepStrictEqual(await found({ clientReference: "order-1" }), [third, first])
    assert.deepStrictEqual(await found({ clientReference: "order" }), [])
    assert.deepStrictEqual(await found({ since: times[1]! }), [third, second])
    assert.deepStrictEqual(await found({ until: times[1]!.toISOString() }), [first])
    assert.deepStrictEqual(await found({ since: times[1]!, until: times[2]! }), [second])
    assert.deepStrictEqual(await found({ clientReference: "order-1", since: times[1]! }), [third])
    for (const field of ["since", "until"]) {
      for (const moment of [Number.NaN, "yesterday"]) {
        const error = await failure(wac.messages.list({ [field]: moment }).page())
        assert.deepInclude(error, { code: "invalid_body", reason: "invalid_field", param: field })
      }
    }
  })

  it("events are listed oldest first, or newest first on request", async () => {
    const { clock, wac } = await start()
    for (const to of ["+15005550003", "+15551234567"]) {
      await wac.messages.send(hello(to), fresh())
      await clock.advance(1000)
    }
    const ids = async (filter: Parameters<typeof wac.events.list>[0]) =>
      (await all(wac.events.list(filter))).map(({ id }) => id)
    const oldest = await ids({})
    assert.lengthOf(oldest, 4)
    assert.deepStrictEqual(await ids({ order: "oldest" }), oldest)
    assert.deepStrictEqual(await ids({ order: "newest" }), [...oldest].reverse())
    const sent = await ids({ type: "message.sent", order: "newest" })
    assert.deepStrictEqual(sent, (await ids({ type: "message.sent" })).reverse())
    const page = await wac.events.list({ order: "newest" }).page({ limit: 3 })
    assert.deepStrictEqual([page.data.map(({ id }) => id), page.hasMore], [[...oldest].reverse().slice(0, 3), true])
    const rest = await wac.events.list({ order: "newest" }).page({ limit: 3, cursor: page.nextCursor! })
    assert.deepStrictEqual([rest.data.map(({ id }) => id), rest.hasMore, rest.nextCursor], [[oldest[0]], false, null])
    // @ts-expect-error no such order
    assert.deepInclude(await failure(wac.events.list({ order: "random" }).page()), { param: "order" })
  })
})

describe("the cursor of another list", () => {
  it("a list refuses the cursor of another list", async () => {
    const { wac } = await start()
    for (let n = 0; n < 2; n++) await wac.messages.send(hello("+15005550003"), fresh())
    const cursor = (await wac.messages.list().page({ limit: 1 })).nextCursor!
    assert.lengthOf((await wac.messages.list().page({ cursor })).data, 1)
    for (const list of [wac.events.list(), wac.templates.list(), wac.contacts.list(), wac.keys.list()]) {
      assert.deepInclude(await failure(list.page({ cursor })), { reason: "invalid_field", param: "cursor" })
    }
  })
})

describe("the cursor of an empty page of events", () => {
  it("the next page continues from the time of the empty one, not from the oldest event", async () => {
    const { clock, wac } = await start()
    await wac.messages.send(hello("+15005550003"), fresh())
    await clock.advance(1000)
    const empty = await wac.events.list({ since: clock.now() }).page()
    assert.deepStrictEqual([empty.data, empty.hasMore], [[], false])
    const later = () => wac.events.list().page({ cursor: empty.nextCursor! })
    assert.deepStrictEqual(await later(), empty)
    const { messageId } = await wac.messages.send(hello("+15005550003"), fresh())
    assert.deepStrictEqual((await later()).data.map(({ data }) => data), [
      { ...(await wac.events.list({ order: "newest" }).page({ limit: 1 })).data[0]!.data, message_id: messageId }
    ])
  })
})

describe("contacts", () => {
  it("contacts show who may be messaged, and until when", async () => {
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
