import { QueueStore } from "@wac/core"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { type Event, fakeClock, memory, whatsapp } from "../src/promises.ts"
import { failure, fresh, hello, serve, shared, start, startLive, templates, until } from "./instance.ts"

/** What a program with such an instance prints until its process ends by itself. */
const printed = async (code: string): Promise<string> => {
  const program = `
    import { createWac, memory, sandbox } from ${JSON.stringify(new URL("../src/promises.ts", import.meta.url).href)}
    import { once } from "node:events"
    import { createServer } from "node:http"
    const wac = await createWac({ storage: memory(), provider: sandbox(), background: false })
    ${code}`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=source", "--input-type=module", "--eval", program],
    { timeout: 500_000, cwd: import.meta.dirname }
  )
  return stdout
}

describe("an instance without background work", () => {
  it("a queued message waits for work, and is sent during it", async () => {
    const { clock, wac } = await start({ background: false })
    const { messageId } = await wac.messages.enqueue(hello(), fresh())
    await clock.advance("10 minutes")
    assert.strictEqual((await wac.messages.get(messageId)).status, "queued")
    const working = wac.work({ for: "20 seconds" })
    await clock.advance("20 seconds")
    await working
    assert.include(["sent", "delivered", "read"], (await wac.messages.get(messageId)).status)
    const later = await wac.messages.enqueue(hello(), fresh())
    await clock.advance("10 minutes")
    assert.strictEqual((await wac.messages.get(later.messageId)).status, "queued")
  })

  it("work resolves only after the provider has answered for the queued messages that it was sending", async () => {
    const { clock, wac } = await start({ background: false })
    // the sandbox answers after 3 seconds
    const { messageId } = await wac.messages.enqueue(hello("+15005550010"), fresh())
    const status = wac.work({ for: "1 second" }).then(async () => (await wac.messages.get(messageId)).status)
    await clock.advance("20 seconds")
    assert.include(["sent", "delivered", "read"], await status)
  })

  it("listeners and subscriptions get during work what was recorded between, each event once", async () => {
    const { clock, wac } = await start({ background: false })
    const heard: Array<string> = []
    const handled: Array<string> = []
    const stop = wac.on("message.sent", (event) => void heard.push(event.data.message_id))
    const unsubscribe = await wac.subscribe(
      "orders",
      { types: ["message.sent"] },
      (event) => void handled.push(event.data.message_id)
    )
    const ids: Array<string> = []
    const work = async () => {
      const working = wac.work({ for: 5000 })
      await clock.advance(5000)
      await working
    }
    for (const _round of [1, 2]) {
      ids.push((await wac.messages.send(hello(), fresh())).messageId)
      await clock.advance("1 minute")
      assert.deepStrictEqual([heard, handled], [ids.slice(0, -1), ids.slice(0, -1)])
      await work()
      assert.deepStrictEqual([heard, handled], [ids, ids])
    }
    stop()
    await unsubscribe()
    await wac.messages.send(hello(), fresh())
    await work()
    assert.deepStrictEqual([heard, handled], [ids, ids])
  })

  it("a listener whose call outlives work gets the next event only when that call has ended", async () => {
    const { clock, wac } = await start({ background: false })
    const mayEnd = Promise.withResolvers<void>()
    const heard: Array<string> = []
    wac.on("message.sent", async ({ data }) => {
      heard.push(data.message_id)
      if (heard.length === 1) await mayEnd.promise
    })
    const ids: Array<string> = []
    for (const _ of [1, 2]) ids.push((await wac.messages.send(hello(), fresh())).messageId)
    const work = async () => {
      const working = wac.work({ for: "1 second" })
      await clock.advance("20 seconds")
      await working
    }
    await work()
    await work()
    assert.deepStrictEqual(heard, ids.slice(0, 1))
    mayEnd.resolve()
    await work()
    assert.deepStrictEqual(heard, ids)
  })

  it("work does not give a subscription back the types that a later call has changed", async () => {
    const { clock, options, shift } = shared({ background: false })
    const [{ wac: old }, { wac: updated }] = [await start(options), await start(options)]
    const [byOld, byUpdated]: [Array<string>, Array<string>] = [[], []]
    const noting = (types: Array<string>) => ({ type }: Event) => void types.push(type)
    await old.subscribe("orders", { types: ["message.sent"] }, noting(byOld))
    await updated.subscribe("orders", { types: ["message.sent", "message.delivered"] }, noting(byUpdated))
    await old.messages.send(hello(), fresh())
    await clock.advance("1 minute")
    await shift(old, "5 seconds")
    await shift(updated, "5 seconds")
    assert.deepStrictEqual([byOld, byUpdated], [[], ["message.sent", "message.delivered"]])
  })

  it("of a restored database, what a person has let continue is not held by the next work", async () => {
    const { clock, options, shift, storage } = shared({ background: false })
    const { wac: before } = await start(options)
    const { id } = await before.campaigns.create({
      name: "Hello",
      template: { name: "hello_world", language: "en_US" },
      startAt: new Date(clock.now().getTime() + 600_000)
    })
    await before.campaigns.addRecipients(id, [{ to: "+12025550100" }])
    await before.campaigns.check(id)
    await shift(before, "20 seconds")
    await before.campaigns.start(id)
    const { messageId } = await before.messages.enqueue(hello("+12025550101"), fresh())
    const { wac } = await start({ ...options, restored: true })
    await shift(wac, "20 seconds")
    assert.strictEqual((await wac.campaigns.get(id)).status, "paused")
    assert.strictEqual((await wac.messages.get(messageId)).status, "queued")
    await wac.campaigns.resume(id)
    await Effect.runPromise(
      QueueStore.QueueStore.use(({ release }) => release(null)).pipe(Effect.provide(storage))
    )
    await shift(wac, "20 seconds")
    assert.notStrictEqual((await wac.campaigns.get(id)).status, "paused")
    assert.notStrictEqual((await wac.messages.get(messageId)).status, "queued")
  })

  it("stored templates are not listed at the start, and again during work alone", async () => {
    let listings = 0
    const { options, shift } = shared({
      background: false,
      provider: {
        phoneNumber: "+15005550100",
        templates: (given) => {
          listings++
          return templates(given)
        },
        send: async ({ messageId }) => ({ status: "accepted", providerMessageId: messageId })
      }
    })
    const { wac: first } = await start(options)
    assert.strictEqual(listings, 1)
    assert.strictEqual((await first.messages.send(hello(), fresh())).status, "sent")
    const { wac } = await start(options)
    assert.strictEqual(listings, 1)
    assert.strictEqual((await wac.messages.send(hello(), fresh())).status, "sent")
    await shift(wac, "20 seconds")
    assert.strictEqual(listings, 2)
  })

  it("the state of WhatsApp numbers is asked for during work alone", async () => {
    const targets: Array<string> = []
    const baseUrl = await serve((request, response) => {
      targets.push(request.url!)
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ id: "1", display_phone_number: "+1 631-555-1000", data: [] }))
    })
    const { clock, options, shift } = shared({ background: false })
    const provider = whatsapp({
      accessToken: "token",
      phoneNumberId: "1",
      businessAccountId: "2",
      appSecret: "secret",
      verifyToken: "verify",
      baseUrl
    })
    const { wac } = await start({ ...options, provider })
    // a shift lists the templates too
    const ofNumber = () => targets.filter((target) => /\/1\?/.test(target)).length
    const atStart = targets.length
    const before = ofNumber()
    await clock.advance("3 hours")
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.lengthOf(targets, atStart)
    await shift(wac, "20 seconds")
    await until(() => ofNumber() > before)
  })

  it("deliveries are attempted during work alone", async () => {
    let posts = 0
    const url = await serve((request, response) => {
      posts++
      request.resume().on("end", () => response.end("{}"))
    })
    const wac = await startLive({
      background: false,
      receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] }
    })
    await wac.webhook.set({ url })
    await wac.messages.send(hello(), fresh())
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.strictEqual(posts, 0)
    const working = wac.work({ for: "1 hour" })
    await until(() => posts > 0)
    await wac.close()
    await working
  })

  it("work waits for a listener that is running, and calls none after it", async () => {
    const wac = await startLive({ background: false })
    let began = 0
    let ended = 0
    wac.on("message.sent", async () => {
      began++
      await new Promise((resolve) => setTimeout(resolve, 400))
      ended++
    })
    for (const _message of [1, 2, 3, 4, 5]) await wac.messages.send(hello(), fresh())
    await wac.work({ for: "3 seconds" })
    assert.strictEqual(ended, began)
    assert.isAtLeast(began, 1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.strictEqual(began, ended)
  })

  it("several calls at once work until the last of them ends, and closing ends them all", async () => {
    const { clock, wac } = await start({ background: false })
    const [short, long] = [wac.work({ for: "1 second" }), wac.work({ for: "1 hour" })]
    await clock.advance("10 seconds")
    await short
    const { messageId } = await wac.messages.enqueue(hello(), fresh())
    await clock.advance("10 seconds")
    assert.notStrictEqual((await wac.messages.get(messageId)).status, "queued")
    await wac.close()
    await long
  })

  it("what a call records for the dashboard is written when it settles", async () => {
    const { wac } = await start({ background: false })
    const { apiKey } = await wac.keys.create({ name: "caller" })
    const response = await wac.handler(
      new Request("http://localhost/v1/messages", { headers: { authorization: `Bearer ${apiKey}` } })
    )
    assert.strictEqual(response.status, 200)
    const [key] = await Array.fromAsync(wac.keys.list())
    assert.isNotNull(key!.lastUsedAt)
  })

  it("wrong options are refused, and so is work on an instance that works anyway", async () => {
    const { wac } = await start({ background: false })
    const loose = wac.work as (options?: unknown) => Promise<void>
    for (const options of [undefined, {}, { for: "soon" }, { for: -1 }, { for: 1, until: 2 }]) {
      assert.strictEqual((await failure(loose(options))).code, "invalid_body")
    }
    const { wac: other } = await start()
    assert.include((await failure(other.work({ for: 1 }))).message, "background: false")
    const wrong = await failure(start({ background: "no" as never, clock: fakeClock(), storage: memory() }))
    assert.strictEqual(wrong.code, "invalid_body")
  })

  it("a process with an instance that is not closed ends by itself", async () => {
    const text = await printed(`
      wac.on("message.sent", () => console.log("heard"))
      await wac.messages.send(${JSON.stringify(hello())}, { idempotencyKey: "1" })
      await wac.work({ for: 500 })
      console.log("done")`)
    assert.strictEqual(text, "heard\ndone\n")
  })

  it("a process ends if a client had left before its request reached the handler", async () => {
    const text = await printed(`
      const caller = new AbortController()
      const server = createServer(async (request, response) => {
        caller.abort()
        await once(response, "close")
        wac.nodeHandler(request, response)
        server.close()
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      const closed = once(server, "close")
      const url = "http://127.0.0.1:" + server.address().port + "/healthz"
      await fetch(url, { signal: caller.signal }).catch(() => console.log("left"))
      await closed
      await wac.close()
      console.log("done")`)
    assert.strictEqual(text, "left\ndone\n")
  })
})
