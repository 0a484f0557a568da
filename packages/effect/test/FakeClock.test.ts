import { pbkdf2 } from "node:crypto"
import { assert, describe, it, vi } from "vitest"
import { fakeClock, type Span } from "../src/promises.ts"
import { failure, fresh, hello, serve, start } from "./instance.ts"

/** The template list of a host's provider. */
const templates = [{
  providerTemplateId: "1",
  name: "hello_world",
  language: "en_US",
  category: "utility",
  status: "approved",
  components: [{ type: "BODY", text: "Hello" }]
}]

describe("a fake clock", () => {
  it("a fake clock stands still until it is advanced", async () => {
    const clock = fakeClock({ now: "2030-05-01T12:00:00Z" })
    assert.strictEqual(clock.now().toISOString(), "2030-05-01T12:00:00.000Z")
    const { wac } = await start({ clock })
    const { messageId } = await wac.messages.send(hello(), fresh())
    // longer than the sandbox takes with a real clock
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.strictEqual((await wac.messages.get(messageId)).status, "sent")
    await clock.set("2030-05-01T12:00:00.199Z")
    assert.strictEqual((await wac.messages.get(messageId)).status, "sent")
    await clock.set("2030-05-01T12:00:00.200Z")
    assert.strictEqual((await wac.messages.get(messageId)).status, "delivered")
  })

  it("moving back, or advancing by an invalid duration, is refused", async () => {
    const clock = fakeClock()
    assert.deepInclude(await failure(clock.set("2020-01-01")), { code: "invalid_body", param: "to" })
    assert.deepInclude(await failure(clock.advance(-1)), { param: "by" })
    assert.deepInclude(await failure(clock.advance(Number.NaN)), { param: "by" })
    assert.deepInclude(await failure(clock.advance("24h" as Span)), { param: "by" })
    assert.deepInclude(await failure(clock.set("never")), { param: "to" })
    assert.throws(() => fakeClock({ now: "never" }), /now must be/)
    assert.throws(() => fakeClock({ nwo: "2030-05-01" } as never), /no option nwo/)
  })

  it("everything happens at its own time, however far the clock is advanced at once", async () => {
    const { clock, wac } = await start()
    const { messageId } = await wac.messages.send(hello(), fresh())
    await clock.advance("10 minutes")
    assert.deepInclude(await wac.messages.get(messageId), {
      deliveredAt: "2026-01-01T00:00:00.200Z",
      readAt: "2026-01-01T00:00:00.400Z"
    })
    assert.strictEqual(clock.now().toISOString(), "2026-01-01T00:10:00.000Z")
  })

  it("concurrent movements add up", async () => {
    const { clock } = await start()
    await Promise.all((["1 second", 500, "1 minute"] satisfies Array<Span>).map((by) => clock.advance(by)))
    assert.strictEqual(clock.now().getTime() - Date.UTC(2026, 0, 1), 61_500)
  })

  it("the clock waits for work on other threads, however busy they are", async () => {
    const { clock, wac } = await start({
      provider: {
        phoneNumber: "+15005550100",
        send: () => new Promise(() => {}),
        templates: async () => templates
      }
    })
    // one for each thread; the first send seals the secret of the host's own key
    for (let i = 0; i < 4; i++) pbkdf2("password", "salt", 40_000, 64, "sha512", () => {})
    let reason: string | undefined
    void failure(wac.messages.send(hello(), fresh())).then((error) => reason = error.reason)
    await clock.advance("8 seconds")
    assert.strictEqual(reason, "outcome_unknown")
  })

  it("the clock waits until a file's type is recognized, however long the library takes to load", async () => {
    const turns = async () => {
      for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    vi.doMock("file-type", async () => {
      await turns()
      return { fileTypeFromBuffer: () => Promise.resolve({ ext: "png", mime: "image/png" }) }
    })
    try {
      const { clock, wac } = await start()
      const uploading = wac.media.upload({ bytes: new Uint8Array(100) })
      await clock.advance("1 hour")
      const { expiresAt, mimeType } = await uploading
      assert.deepStrictEqual([mimeType, expiresAt], ["image/png", "2026-01-31T00:00:00.000Z"])
    } finally {
      vi.doUnmock("file-type")
    }
  })

  it("a suspension of the process does not use up the clock's patience", async () => {
    const { clock, wac } = await start({
      provider: {
        phoneNumber: "+15005550100",
        send: async () => {
          await new Promise((resolve) => setImmediate(resolve))
          // longer than the patience
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
          for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
          return { status: "accepted", providerMessageId: "p-1" }
        },
        templates: async () => templates
      }
    })
    const sending = wac.messages.send(hello(), fresh())
    await clock.advance("1 minute")
    assert.strictEqual((await sending).providerMessageId, "p-1")
  })

  it("the clock waits for the host's own promises", async () => {
    const answers: Array<string> = []
    const { clock, wac } = await start({
      provider: {
        phoneNumber: "+15005550100",
        send: async () => {
          // many more turns of the event loop than an idle clock lets pass
          for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve))
          answers.push("sent")
          return { status: "accepted", providerMessageId: "p-1" }
        },
        templates: async () => templates
      }
    })
    const sending = wac.messages.send(hello(), fresh())
    await clock.advance("1 minute")
    assert.deepStrictEqual(answers, ["sent"])
    assert.strictEqual((await sending).providerMessageId, "p-1")
  })

  it("the clock waits for receivers", async () => {
    const { clock, wac } = await start({ receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] } })
    const answers = [500, 500, 500, 200]
    const url = await serve((request, response) => {
      request.resume()
      void (async () => {
        for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve))
        response.writeHead(answers.shift()!).end()
      })()
    })
    await wac.webhook.set({ url, eventTypes: ["message.sent"] })
    await wac.messages.send(hello(), fresh())
    await clock.advance("1 minute")
    const [delivery] = (await wac.webhook.deliveries.list().page()).data
    const { attempts, status } = await wac.webhook.deliveries.get(delivery!.id)
    assert.strictEqual(status, "delivered")
    assert.deepStrictEqual(attempts.map(({ durationMs, statusCode }) => [statusCode, durationMs]), [
      [500, 0],
      [500, 0],
      [500, 0],
      [200, 0]
    ])
  })

  it("the clock waits for a receiver that never responds only as long as its patience", async () => {
    const { clock, wac } = await start({ receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] } })
    await wac.webhook.set({ url: await serve((request) => void request.resume()), eventTypes: ["message.sent"] })
    await wac.messages.send(hello(), fresh())
    await clock.advance("5 seconds")
    const [delivery] = (await wac.webhook.deliveries.list().page()).data
    const { attempts } = await wac.webhook.deliveries.get(delivery!.id)
    assert.deepStrictEqual(attempts.map(({ durationMs, outcome }) => [outcome, durationMs]), [["timeout", 5000]])
  })

  it("a day in memory takes few turns of the event loop, not several for each second", async () => {
    const { clock, wac } = await start()
    const heard: Array<string> = []
    wac.on("message.read", ({ created_at }) => void heard.push(created_at))
    await wac.messages.send(hello("+15005550006"), fresh()).catch(() => {})
    await wac.messages.send(hello(), fresh())
    const { setImmediate } = globalThis
    let turns = 0
    globalThis.setImmediate = ((...given: Parameters<typeof setImmediate>) => {
      turns++
      return setImmediate(...given)
    }) as typeof setImmediate
    try {
      await clock.advance("24 hours")
    } finally {
      globalThis.setImmediate = setImmediate
    }
    // a second would take 8 turns if everything polled once
    assert.isBelow(turns, 40_000)
    assert.deepStrictEqual(heard, ["2026-01-01T00:00:00.400Z"])
  })

  it("in a day that passes at once, timeouts happen within a second of their time, and retries at their times", async () => {
    const { clock, wac } = await start({
      provider: {
        phoneNumber: "+15005550100",
        send: async () => ({ status: "unknown" }),
        templates: async () => templates
      },
      receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] }
    })
    const times: Array<number> = []
    const url = await serve((request, response) => {
      times.push(clock.now().getTime() - Date.UTC(2026, 0, 1))
      request.resume()
      response.writeHead(500).end()
    })
    await wac.webhook.set({ url, eventTypes: ["message.failed"] })
    const { code } = await failure(wac.messages.send(hello(), fresh()))
    assert.strictEqual(code, "server_error")
    await clock.advance("25 hours")
    const [message] = (await wac.messages.list().page()).data
    const failedAt = Date.parse(message!.failedAt!) - Date.UTC(2026, 0, 1)
    assert.isTrue(failedAt >= 600_000 && failedAt <= 601_000, `${failedAt}`)
    // the delays of contract §6, each up to a tenth longer, with the last one at the end of the 24 hours
    const delays = times.slice(1).map((time, i) => (time - times[i]!) / 1000)
    const planned = [1, 5, 25, 120, 600, 3000]
    planned.forEach((delay, i) => assert.isTrue(delays[i]! >= delay && delays[i]! <= delay * 1.1 + 0.001, `${delays}`))
    assert.strictEqual(times.at(-1)! - times[0]!, 24 * 3600 * 1000)
    assert.strictEqual((await wac.webhook.get()).status, "paused")
  })

  it("an instance closes even if its sends wait for time to pass", async () => {
    const { clock, wac } = await start()
    const slow = wac.messages.send(hello("+15005550010"), fresh())
    await wac.close()
    assert.strictEqual((await slow).status, "sent")
    assert.isAtLeast(clock.now().getTime(), Date.UTC(2026, 0, 1) + 3000)
  })
})
