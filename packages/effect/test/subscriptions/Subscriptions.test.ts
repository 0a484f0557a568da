import { type Ports, StoreError, Subscription, SubscriptionStore } from "@wac/core"
import { Context, Duration, Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import * as Adapter from "../../src/Adapter.ts"
import { type Event, type EventOf, type Try, type Wac } from "../../src/promises.ts"
import { failure, fresh, hello, shared, start, until } from "../instance.ts"

/** An event's message and type. */
const told = ({ data, type }: Event) => `${"message_id" in data ? data.message_id : ""} ${type}`

const sends = async (wac: Wac, count: number): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  for (let i = 0; i < count; i++) ids.push((await wac.messages.send(hello(), fresh())).messageId)
  return ids
}

/** A storage whose subscriptions do something else instead of work, as long as that is not `undefined`. */
const disturbed = (
  storage: Layer.Layer<Ports.Ports>,
  instead: (
    work: ReturnType<SubscriptionStore.SubscriptionStore["Service"]["work"]>
  ) => ReturnType<SubscriptionStore.SubscriptionStore["Service"]["work"]> | undefined
) =>
  Adapter.storage(Layer.effectContext(Effect.map(Layer.build(storage), (ports) => {
    const store = Context.get(ports, SubscriptionStore.SubscriptionStore)
    return Context.add(ports, SubscriptionStore.SubscriptionStore, {
      ...store,
      work: (command) => Effect.suspend(() => instead(store.work(command)) ?? store.work(command))
    })
  })))

const failed = Effect.fail(new StoreError.StoreError({ operation: "SubscriptionStore.work", problem: "disk_full" }))

describe("a subscription", () => {
  it("a subscription handles every event since its name was first used, in order for each message, and others side by side", async () => {
    const { clock, wac } = await start()
    await sends(wac, 1)
    await clock.advance("1 minute")
    const handled: Array<string> = []
    let running = 0
    let most = 0
    await wac.subscribe("orders", {}, async (event, { attempt }) => {
      assert.strictEqual(attempt, 1)
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      handled.push(told(event))
    }, { concurrency: 5 })
    const ids = await sends(wac, 10)
    await clock.advance("1 minute")
    assert.strictEqual(handled.length, 30)
    for (const id of ids) {
      assert.deepStrictEqual(
        handled.filter((one) => one.startsWith(id)),
        ["message.sent", "message.delivered", "message.read"].map((type) => `${id} ${type}`)
      )
    }
    assert.isAbove(most, 1)
    assert.isAtMost(most, 5)
    assert.deepStrictEqual(await wac.subscriptions.list(), [{ name: "orders", oldestUnhandledAt: null, failed: 0 }])
  })

  it("a subscription handles what it caused itself, without time passing", async () => {
    const { wac } = await start()
    const handled: Array<EventOf<"message.sent">> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (event) => void handled.push(event))
    const [id] = await sends(wac, 1)
    await until(() => handled.length === 1)
    assert.strictEqual(handled[0]!.data.message_id, id)
  })

  it("a subscription continues where it stopped, under the same name only", async () => {
    const { clock, wac } = await start()
    const first: Array<string> = []
    const stop = await wac.subscribe("orders", { types: ["message.sent"] }, (event) => void first.push(told(event)))
    await sends(wac, 1)
    await clock.advance("1 second")
    await stop()
    const [id] = await sends(wac, 1)
    await clock.advance("1 minute")
    assert.lengthOf(first, 1)
    const second: Array<string> = []
    const other: Array<string> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (event) => void second.push(told(event)))
    await wac.subscribe("billing", { types: ["message.sent"] }, (event) => void other.push(told(event)))
    await clock.advance("1 second")
    assert.deepStrictEqual(second, [`${id} message.sent`])
    assert.deepStrictEqual(other, [])
  })

  it("stopping waits for running handlers, and begins no more", async () => {
    const { wac } = await start()
    let began = 0
    let end = (): void => {}
    const stop = await wac.subscribe("orders", { types: ["message.sent"] }, () => {
      began++
      return new Promise<void>((resolve) => end = resolve)
    })
    await sends(wac, 2)
    await until(() => began === 1)
    let isStopped = false
    const stopping = stop().then(() => isStopped = true)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.isFalse(isStopped)
    end()
    await stopping
    assert.strictEqual(began, 1)
    const attempts: Array<number> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (_, { attempt }) => void attempts.push(attempt))
    await until(() => attempts.length === 1)
    assert.deepStrictEqual(attempts, [1])
  })

  it("a subscription tries a failed event again with growing delays for 24 hours, while other messages go on", async () => {
    const { clock, log, wac } = await start()
    const tries: Array<readonly [number, Try["attempt"]]> = []
    const handled: Array<string> = []
    let bad = ""
    await wac.subscribe("orders", { types: ["message.sent", "message.delivered"] }, async (event, { attempt }) => {
      bad ||= event.data.message_id
      if (event.data.message_id === bad && event.type === "message.sent") {
        tries.push([clock.now().getTime(), attempt])
        throw new Error("the order system is down")
      }
      handled.push(told(event))
    })
    const [first, second] = await sends(wac, 2)
    await clock.advance("10 minutes")
    assert.deepStrictEqual(handled, [`${second} message.sent`, `${second} message.delivered`])
    assert.deepStrictEqual((await wac.subscriptions.failed("orders").page()).data, [])
    await clock.advance("25 hours")
    assert.deepStrictEqual(handled.slice(2), [`${first} message.delivered`])
    assert.deepStrictEqual(tries.map(([, attempt]) => attempt), tries.map((_, i) => i + 1))
    const waits = tries.slice(1).map(([at], i) => (at - tries[i]![0]) / 1000)
    for (const [i, seconds] of [1, 5, 25, 120, 600, 3000, 15_000].entries()) {
      assert.isAtLeast(waits[i]!, seconds)
      assert.isAtMost(waits[i]!, seconds * 1.1 + 1)
    }
    assert.strictEqual(tries.at(-1)![0] - tries[0]![0], 24 * 3_600_000)

    const [aside] = (await wac.subscriptions.failed("orders").page()).data
    assert.strictEqual(aside!.error, "the order system is down")
    assert.strictEqual(aside!.attempts, tries.length)
    assert.strictEqual(told(aside!.event), `${first} message.sent`)
    assert.strictEqual((await wac.subscriptions.list())[0]!.failed, 1)
    assert.isTrue(log.some(({ level, message }) => level === "warn" && message.includes("the order system is down")))
  })

  it("an event that was set aside can be retried or discarded", async () => {
    const { clock, wac } = await start()
    let isDown = true
    const attempts: Array<number> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (_, { attempt }) => {
      if (isDown) throw new Error("down")
      attempts.push(attempt)
    })
    await sends(wac, 2)
    await clock.advance("25 hours")
    const [first, second] = (await wac.subscriptions.failed("orders").page()).data
    isDown = false
    assert.strictEqual(await wac.subscriptions.retry("orders", first!.event.id), 1)
    await clock.advance("1 second")
    assert.deepStrictEqual(attempts, [first!.attempts + 1])
    assert.strictEqual((await failure(wac.subscriptions.retry("orders", first!.event.id))).code, "not_found")
    assert.strictEqual((await failure(wac.subscriptions.retry("orders", "nothing"))).code, "not_found")
    assert.strictEqual(await wac.subscriptions.discard("orders", second!.event.id), 1)
    assert.strictEqual(await wac.subscriptions.retry("orders"), 0)
    assert.strictEqual(await wac.subscriptions.discard("orders"), 0)
    await wac.subscriptions.remove("orders")
    assert.strictEqual((await failure(wac.subscriptions.remove("orders"))).code, "not_found")
  })

  it.for(
    [
      ["fails", failed],
      ["does not answer", Effect.never]
    ] as const
  )(
    "if the storage %s, running handlers are aborted before another process may try their events",
    async ([, outage]) => {
      const { clock, options, storage } = shared()
      let isCut = false
      let renewedAt = 0
      const cut = disturbed(storage, () => {
        if (isCut) return outage
        renewedAt = clock.now().getTime()
      })
      const { wac: first } = await start({ ...options, storage: cut })
      const { wac: second } = await start(options)
      const tries: Array<readonly [string, number, number]> = []
      const noteTry = (name: string, attempt: number) => tries.push([name, attempt, clock.now().getTime() - renewedAt])
      await first.subscribe("orders", { types: ["message.sent"] }, (_, { attempt, signal }) => {
        noteTry("first", attempt)
        signal.addEventListener("abort", () => noteTry("aborted", attempt))
        return new Promise(() => {})
      })
      await second.subscribe("orders", { types: ["message.sent"] }, (_, { attempt }) => void noteTry("second", attempt))
      await sends(first, 1)
      await clock.advance("5 seconds")
      isCut = true
      await clock.advance("20 seconds")
      assert.deepStrictEqual(tries.map(([name, attempt]) => [name, attempt]), [["first", 1], ["aborted", 1], [
        "second",
        2
      ]])
      assert.isAtMost(tries[1]![2], Duration.toMillis(Subscription.lease))
      assert.isAtLeast(tries[2]![2], Duration.toMillis(Subscription.lease))
    }
  )

  it("an event whose beginning the storage answers later than the lease lasts is not handled by that answer", async () => {
    const { clock, options, storage } = shared()
    let isSlow = false
    const { wac } = await start({
      ...options,
      storage: disturbed(
        storage,
        (work) => isSlow ? Effect.tap(work, () => Effect.sleep(Subscription.lease)) : undefined
      )
    })
    const tries: Array<readonly [number, boolean]> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (_, { attempt, signal }) => {
      tries.push([attempt, signal.aborted])
    })
    await clock.advance("1 second")
    isSlow = true
    await sends(wac, 1)
    await clock.advance("5 seconds")
    isSlow = false
    await clock.advance("1 minute")
    assert.deepStrictEqual(tries, [[2, false]])
  })

  it("what a handler did while the storage failed is recorded once the storage answers again", async () => {
    const { clock, options, storage } = shared()
    let isCut = false
    const { wac } = await start({ ...options, storage: disturbed(storage, () => isCut ? failed : undefined) })
    const ends: Array<() => void> = []
    const attempts: Array<number> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (_, { attempt }) => {
      attempts.push(attempt)
      return new Promise<void>((resolve) => ends.push(resolve))
    }, { concurrency: 2 })
    await sends(wac, 2)
    await clock.advance("1 second")
    isCut = true
    ends[0]!()
    await clock.advance("1 minute")
    isCut = false
    await clock.advance("10 seconds")
    // the other was aborted, and is tried again
    assert.deepStrictEqual(attempts, [1, 1, 2])
  })

  it("two subscriptions with one name take turns in handling events", async () => {
    const { clock, wac } = await start()
    let running = 0
    let most = 0
    let handled = 0
    const handler = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      handled++
    }
    await wac.subscribe("orders", {}, handler)
    await wac.subscribe("orders", {}, handler)
    await sends(wac, 10)
    await clock.advance("1 minute")
    assert.deepStrictEqual([handled, most], [30, 1])
  })

  it("with further types, a subscription is handled by the handlers that have them all", async () => {
    const { clock, wac } = await start()
    const first: Array<string> = []
    const second: Array<string> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (event) => void first.push(told(event)))
    await wac.subscribe("orders", { types: ["message.sent", "message.delivered"] }, (event) => {
      second.push(told(event))
    })
    const ids = await sends(wac, 2)
    await clock.advance("1 minute")
    assert.deepStrictEqual(first, [])
    assert.sameMembers(second, ids.flatMap((id) => [`${id} message.sent`, `${id} message.delivered`]))
  })

  it("with fewer types, a handler gets no event of the others, even if one of them was to be tried again", async () => {
    const { clock, wac } = await start()
    const stop = await wac.subscribe("orders", { types: ["message.sent", "message.delivered"] }, () => {
      throw new Error("down")
    })
    const [id] = await sends(wac, 1)
    await clock.advance("1 minute")
    await stop()
    const handled: Array<string> = []
    await wac.subscribe("orders", { types: ["message.delivered"] }, (event) => void handled.push(told(event)))
    await clock.advance("1 hour")
    assert.deepStrictEqual(handled, [`${id} message.delivered`])
    assert.deepStrictEqual(await wac.subscriptions.list(), [{ name: "orders", oldestUnhandledAt: null, failed: 0 }])
  })

  it("an invalid argument of a subscription is refused by its name", async () => {
    const { wac } = await start()
    const nothing = () => {}
    const refused = async (...given: Parameters<Wac["subscribe"]>) => (await failure(wac.subscribe(...given))).param
    assert.strictEqual(await refused("", {}, nothing), "name")
    assert.strictEqual(await refused("a".repeat(101), {}, nothing), "name")
    assert.strictEqual(await refused("a", { types: [] }, nothing), "types")
    assert.strictEqual(await refused("a", { types: ["message.lost" as "message.sent"] }, nothing), "types[0]")
    assert.strictEqual(await refused("a", { type: [] } as object, nothing), "type")
    assert.strictEqual(await refused("a", {}, nothing, { concurrency: 0 }), "concurrency")
    assert.strictEqual(await refused("a", {}, nothing, { concurrent: 2 } as object), "concurrent")
    assert.strictEqual(await refused("a", {}, "no" as never), "handler")
    const elsewhere = wac.workspace("ws_00000000000000000000000000")
    assert.strictEqual((await failure(elsewhere.subscribe("a", {}, nothing))).code, "not_found")
  })

  it("closing waits for a running handler, records its end and aborts nothing", async () => {
    const { clock, wac } = await start()
    let isDone = false
    let wasAborted = false
    await wac.subscribe("orders", { types: ["message.sent"] }, async (event, { signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      await wac.messages.get(event.data.message_id)
      wasAborted = signal.aborted
      isDone = true
    })
    await sends(wac, 1)
    await clock.advance(1)
    await wac.close()
    assert.deepStrictEqual([isDone, wasAborted], [true, false])
  })

  it("while the instance closes, a handler cannot subscribe", async () => {
    const { wac } = await start()
    const closing: Array<Promise<void>> = []
    const late: Array<string> = []
    let refused: string | undefined
    await wac.subscribe("orders", { types: ["message.sent"] }, async () => {
      closing.push(wac.close())
      refused = (await failure(wac.subscribe("late", {}, (event) => void late.push(told(event))))).message
      await wac.messages.send(hello(), fresh())
      await new Promise((resolve) => setTimeout(resolve, 100))
    })
    await sends(wac, 1)
    await until(() => closing.length === 1)
    await closing[0]
    assert.deepStrictEqual([refused, late], ["this instance was closed", []])
  })

  it("closing aborts a handler that takes longer than 9.5 seconds", async () => {
    const { wac } = await start()
    const signals: Array<AbortSignal> = []
    await wac.subscribe("orders", { types: ["message.sent"] }, (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    await sends(wac, 1)
    await until(() => signals.length === 1)
    await wac.close()
    assert.isTrue(signals[0]!.aborted)
  })
})
