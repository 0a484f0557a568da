import { Events as Core, Id, StoreError } from "@wac/core"
import { Clock, Context, Effect, Layer, Scheduler } from "effect"
import { assert, describe, it } from "vitest"
import * as Background from "../../src/Background.ts"
import * as Events from "../../src/events/Events.ts"
import { Recorded } from "../../src/events/Recorded.ts"
import { steeredOf } from "../../src/FakeClock.ts"
import { InFlight } from "../../src/InFlight.ts"
import * as Log from "../../src/Log.ts"
import { type Event, type EventType, fakeClock, type MessageReceived, WacError } from "../../src/promises.ts"
import { fresh, hello, start, until } from "../instance.ts"

describe("a listener", () => {
  it("a listener gets the events of its type in the order of recording, from registration on", async () => {
    const { clock, wac } = await start()
    await wac.messages.send(hello(), fresh())
    await clock.advance("1 minute")
    const heard: Array<Event> = []
    wac.on("message.sent", (event) => void heard.push(event))
    wac.on("message.read", (event) => void heard.push(event))
    const first = await wac.messages.send(hello(), fresh())
    const second = await wac.messages.send(hello(), fresh())
    await clock.advance("1 minute")
    assert.deepStrictEqual(
      heard.map(({ data, type }) => [type, "message_id" in data && data.message_id]),
      [
        ["message.sent", first.messageId],
        ["message.sent", second.messageId],
        ["message.read", first.messageId],
        ["message.read", second.messageId]
      ]
    )
    const [recorded] = (await wac.events.list({ type: "message.sent", since: heard[0]!.created_at }).page()).data
    assert.deepStrictEqual(recorded, heard[0])
  })

  it("a listener gets events that it caused itself, without time passing", async () => {
    const { wac } = await start()
    let heard = 0
    wac.on("message.sent", () => heard++)
    await wac.messages.send(hello(), fresh())
    await until(() => heard === 1)
  })

  it("a listener gets what customers write", async () => {
    const { clock, wac } = await start()
    const heard: Array<MessageReceived> = []
    wac.on("message.received", (event) => void heard.push(event))
    await wac.messages.send(hello("+15005550008"), fresh())
    await clock.advance(200)
    assert.deepStrictEqual(
      heard.map(({ data }) => [data.from, data.to, data.type === "text" && data.text.body]),
      [["+15005550008", "+15005550100", "Thank you, got it!"]]
    )
  })

  it("if a listener throws or rejects, the error is logged, and no listener misses an event", async () => {
    const { clock, log, wac } = await start()
    let heard = 0
    wac.on("message.sent", () => {
      heard++
      throw new Error("thrown by the host")
    })
    wac.on("message.sent", async () => {
      heard++
      throw new Error("rejected by the host")
    })
    wac.on("message.sent", () => heard++)
    await wac.messages.send(hello(), fresh())
    await wac.messages.send(hello(), fresh())
    await clock.advance(1)
    assert.strictEqual(heard, 6)
    const errors = log.filter(({ level }) => level === "error")
    assert.strictEqual(errors.length, 4)
    assert.isTrue(
      errors.every(({ error, message }) =>
        message.startsWith("a listener to message.sent failed at evt_") && /by the host/.test(error!)
      )
    )
  })

  it("a slow listener does not delay the others and gets its next event when it is done", async () => {
    const { clock, wac } = await start()
    const slow: Array<string> = []
    let quick = 0
    let release = () => {}
    wac.on("message.sent", async ({ id }) => {
      slow.push(id)
      if (slow.length === 1) await new Promise<void>((resolve) => release = resolve)
    })
    wac.on("message.sent", () => quick++)
    await wac.messages.send(hello(), fresh())
    await wac.messages.send(hello(), fresh())
    await until(() => quick === 2)
    assert.strictEqual(slow.length, 1)
    release()
    await until(() => slow.length === 2)
    await clock.advance("1 minute")
    assert.strictEqual(new Set(slow).size, 2)
    assert.strictEqual(slow.length, 2)
  })

  it("a listener can be removed, even from within itself", async () => {
    const { clock, wac } = await start()
    let heard = 0
    const off = wac.on("message.sent", () => {
      heard++
      off()
      off()
    })
    await wac.messages.send(hello(), fresh())
    await wac.messages.send(hello(), fresh())
    await clock.advance("1 minute")
    assert.strictEqual(heard, 1)
  })

  it("a listener continues where it was after events could not be read", async () => {
    const id = Id.EventId.make("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV")
    const workspaceId = Id.WorkspaceId.make("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV")
    const recorded = {
      id,
      workspaceId,
      type: "message.sent",
      orderKey: null,
      sequence: null,
      data: {},
      trace: null
    } as const
    const failures = [Effect.die(new Error("a mistake")), Effect.fail(new StoreError.StoreError({ operation: "list" }))]
    const events = Core.Events.of({
      list: (_workspaceId, { since = 0 }, { after }) =>
        failures.pop() ??
          Effect.succeed({ items: after === null ? [{ ...recorded, createdAt: since }] : [], next: null }),
      latest: () => Effect.die("not asked for"),
      get: () => Effect.die("not asked for")
    })
    const clock = fakeClock()
    const heard: Array<string> = []
    await Effect.runPromise(
      Effect.scoped(Effect.gen(function*() {
        const listening = yield* Events.listening
        const { clock: steered, during, scheduler } = steeredOf(clock)
        const context = (yield* Layer.build(Log.layer(undefined))).pipe(
          Context.add(Clock.Clock, steered),
          Context.add(Scheduler.Scheduler, scheduler)
        )
        const on = listening(context, during, new InFlight(), yield* Background.always)
        on(workspaceId)("message.sent", (event) => void heard.push(event.id))
        yield* Effect.promise(() => clock.advance("5 seconds"))
      })).pipe(
        Effect.provide(Layer.merge(Recorded.layer, Layer.succeed(Core.Events, events)))
      )
    )
    assert.deepStrictEqual([heard, failures], [[id], []])
  })

  it("on() throws for an unknown event type and for a listener that is not a function", async () => {
    const { wac } = await start()
    for (
      const [type, listener, param] of [["message.lost", () => {}, "type"], ["message.sent", undefined, "listener"]]
    ) {
      assert.throws(() => wac.on(type as EventType, listener as never), WacError, `${param} must be`)
    }
  })

  it("a listener gets nothing of another workspace", async () => {
    const { clock, wac } = await start()
    const other = wac.workspace((await wac.workspaces.create({ name: "Other", phoneNumber: "+15005550101" })).id)
    const heard: Array<string> = []
    wac.on("message.sent", ({ tenant_id }) => void heard.push(tenant_id))
    other.on("message.sent", ({ tenant_id }) => void heard.push(tenant_id))
    await other.templates.sync()
    await other.messages.send(hello(), fresh())
    await clock.advance(1)
    assert.deepStrictEqual(heard, [other.id])
  })
})
