import { afterEach, assert, describe, it, vi } from "vitest"
import type { EventType } from "../src/generated/Event.ts"
import { exampleEvents } from "../src/generated/ExampleEvents.ts"
import { receive } from "../src/index.ts"
import { exampleEvent, signDelivery } from "../src/Testing.ts"
import { vectors } from "./vectors.ts"

const { secret } = vectors

describe("exampleEvent", () => {
  afterEach(() => void vi.useRealTimers())

  it.each(Object.keys(exampleEvents) as Array<EventType>)(
    "an example of %s, signed by signDelivery, is received as the same event",
    async (type) => {
      const event = exampleEvent(type)
      const { body, headers } = await signDelivery({ payload: event, secret })
      const received = await receive(body, headers, secret)
      assert.isTrue(received.ok)
      assert.deepEqual(received.ok && received.event as unknown, event)
      assert.strictEqual(event.type, type)
    }
  )

  it("each example has an id of its own, which a test can set like every other field", () => {
    assert.notStrictEqual(exampleEvent("message.sent").id, exampleEvent("message.sent").id)
    const event = exampleEvent("message.failed", {
      id: "evt_1",
      tenant_id: "ws_2",
      data: { message_id: "msg_1", error: { code: "server_error", message: "lost" } }
    })
    assert.deepInclude(event, { id: "evt_1", tenant_id: "ws_2" })
    assert.deepInclude(event.data, {
      message_id: "msg_1",
      status: "failed",
      error: { code: "server_error", message: "lost" }
    })
    assert.notInclude(exampleEvent("message.failed").data, { message_id: "msg_1" })
  })

  it("a new id has the shape of the service's ids, which receivers may check, and begins with the time", async () => {
    const now = Date.UTC(2030, 0, 2, 3, 4, 5, 678)
    vi.useFakeTimers({ now, toFake: ["Date"] })
    const { headers } = await signDelivery({ payload: "{}", secret })
    const before = exampleEvent("message.sent").id
    for (const id of [before, headers["webhook-id"]!]) assert.match(id, /^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    const time = Array.from(before.slice(4, 14)).reduce(
      (sum, c) => sum * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(c),
      0
    )
    assert.strictEqual(time, now)
  })

  it("a customer's message of another kind replaces the example's text", () => {
    const { data } = exampleEvent("message.received", { data: { type: "image", image: { media_id: "med_1" } } })
    assert.deepInclude(data, { type: "image", image: { media_id: "med_1" }, late: false })
    assert.notProperty(data, "text")
    const text = exampleEvent("message.received", { data: { type: "text", text: { body: "Hello" } } })
    assert.deepInclude(text.data, { type: "text", text: { body: "Hello" } })
  })

  it("the types know the fields of each type", () => {
    const at: string = exampleEvent("message.delivered").data.delivered_at
    assert.isString(at)
    // @ts-expect-error: a message that was sent has no time of delivery
    exampleEvent("message.sent", { data: { delivered_at: at } })
    // @ts-expect-error: there is no such type
    assert.throws(() => exampleEvent("message.snet"))
  })
})
