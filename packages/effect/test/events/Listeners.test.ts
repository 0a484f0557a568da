import { Events as Core, EventStore, Id, StorageTime, StoreError } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { PostgresStorage } from "@wac/postgres"
import { Fixture } from "@wac/testkit"
import { Clock, Context, Effect, Layer, Scheduler } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as Adapter from "../../src/Adapter.ts"
import * as Background from "../../src/Background.ts"
import * as Events from "../../src/events/Events.ts"
import { Recorded } from "../../src/events/Recorded.ts"
import { steeredOf } from "../../src/FakeClock.ts"
import { InFlight } from "../../src/InFlight.ts"
import * as Log from "../../src/Log.ts"
import { type Event, type EventType, fakeClock, type MessageReceived, WacError } from "../../src/promises.ts"
import { closing, fresh, hello, start, startLive, until } from "../instance.ts"

const workspaceId = Id.WorkspaceId.make("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV")

/** An event whose id ends in this digit. */
const recorded = (digit: string) => ({
  id: Id.EventId.make(`evt_01ARZ3NDEKTSV4RRFFQ69G5FA${digit}`),
  workspaceId,
  type: "message.sent" as const,
  orderKey: null,
  sequence: null,
  data: {},
  trace: null,
  createdAt: 0
})

/** The ids of the events that a listener gets in 5 seconds, if events are read in this way. */
const heardOf = async (
  reading: (recorded: Recorded["Service"]) => Pick<Core.Events["Service"], "latest" | "list">
): Promise<ReadonlyArray<string>> => {
  const clock = fakeClock()
  const heard: Array<string> = []
  await Effect.runPromise(
    Effect.scoped(Effect.gen(function*() {
      const events = Core.Events.of({ ...reading(yield* Recorded), get: () => Effect.die("not asked for") })
      const listening = yield* Effect.provideService(Events.listening, Core.Events, events)
      const { clock: steered, during, scheduler } = steeredOf(clock)
      const context = (yield* Layer.build(Log.layer(undefined))).pipe(
        Context.add(Clock.Clock, steered),
        Context.add(Scheduler.Scheduler, scheduler)
      )
      const on = listening(context, during, new InFlight(), yield* Background.always)
      on(workspaceId)("message.sent", (event) => void heard.push(event.id))
      yield* Effect.promise(() => clock.advance("5 seconds"))
    })).pipe(Effect.provide(Recorded.layer))
  )
  return heard
}

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

  it("a listener gets each event once from registration on, even if the newest one that it got is erased", async () => {
    const directory = mkdtempSync(join(tmpdir(), "wac-"))
    closing(async () => rmSync(directory, { recursive: true }))
    let lists = 0
    const counted = Layer.effect(
      EventStore.EventStore,
      Effect.map(EventStore.EventStore, (store) => ({
        ...store,
        list: (...given) =>
          Effect.suspend(() => {
            lists++
            return store.list(...given)
          })
      }))
    )
    const wac = await startLive({
      storage: Adapter.storage(Layer.provideMerge(counted, PostgresStorage.layerEmbedded({ directory }))),
      masterKey: new Uint8Array(32),
      provider: {
        phoneNumber: "+15005550100",
        providerNumberId: "number-1",
        templates: async () => [],
        send: async () => ({ status: "accepted", providerMessageId: "p-1" })
      }
    })
    const receive = (from: string) =>
      wac.inbound.receive([{
        type: "message",
        providerNumberId: "number-1",
        providerMessageId: `in-${from}`,
        from,
        text: { body: "Hello" }
      }])
    const [before, first, erased, last] = ["+15551230001", "+15551230002", "+15551230003", "+15551230004"] as const
    await receive(before)
    const heard: Array<string> = []
    let listsAtErasure: number | undefined
    wac.on("message.received", async ({ data: { from } }) => {
      heard.push(String(from))
      if (from !== erased) return
      await wac.customers.erase(erased)
      listsAtErasure = lists
    })
    await receive(first)
    await until(() => heard.length >= 1)
    await receive(erased)
    // a list that began after the erasure has ended, since the next one has begun
    await until(() => listsAtErasure !== undefined && lists >= listsAtErasure + 2)
    await receive(last)
    await until(() => heard.includes(last))
    assert.deepStrictEqual(heard, [first, erased, last])
  })

  it.each([["behind", -10_000], ["ahead", 10_000]])(
    "a listener gets what is recorded from registration on, once, even if the storage's clock is 10 s %s",
    async (_, ahead) => {
      const clock = fakeClock()
      const { clock: steered } = steeredOf(clock)
      const layer = MemoryStorage.layer.pipe(
        Layer.provide([
          Layer.succeed(Clock.Clock, Fixture.clockAt(steered, () => steered.currentTimeMillisUnsafe() + ahead)),
          Layer.succeed(StorageTime.JudgedBy, "storage")
        ])
      )
      const { wac } = await start({ clock, storage: Adapter.storage(layer) })
      await wac.messages.send(hello(), fresh())
      await clock.advance("1 second")
      const heard: Array<string> = []
      wac.on("message.sent", ({ data }) => void heard.push(data.message_id))
      const first = await wac.messages.send(hello(), fresh())
      await clock.advance("1 minute")
      const second = await wac.messages.send(hello(), fresh())
      await clock.advance("1 minute")
      assert.deepStrictEqual(heard, [first.messageId, second.messageId])
    }
  )

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
    const failures = [Effect.die(new Error("a mistake")), Effect.fail(new StoreError.StoreError({ operation: "list" }))]
    const heard = await heardOf(() => ({
      list: (_workspaceId, _filter, { after }) =>
        failures.pop() ?? Effect.succeed(
          after === null
            ? { items: [recorded("V")], places: ["1"], next: null, resume: "" }
            : { items: [], places: [], next: null, resume: "" }
        ),
      latest: () => failures.pop() ?? Effect.succeed({ items: [], places: [], next: null })
    }))
    assert.deepStrictEqual([heard, failures], [[recorded("V").id], []])
  })

  it("a listener gets what its process records while it looks where to begin, and what was being recorded", async () => {
    const [earlier, late, own] = [recorded("1"), recorded("2"), recorded("3")]
    const log = [earlier, late, own]
    const heard = await heardOf(({ recording }) => ({
      list: (_workspaceId, _filter, { after }) =>
        Effect.sync(() => {
          const begin = log.findIndex(({ id }) => id === after) + 1
          return { items: log.slice(begin), places: ["1", "2", "3"].slice(begin), next: null, resume: "" }
        }),
      // `late` has an earlier place, and is committed later
      latest: () => recording([own.id])(Effect.succeed({ items: [own, earlier], places: ["2", "1"], next: null }))
    }))
    assert.deepStrictEqual(heard, [late.id, own.id])
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
