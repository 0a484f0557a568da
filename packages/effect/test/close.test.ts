import { Readable } from "node:stream"
import { assert, describe, it } from "vitest"
import type { CustomProvider, Wac } from "../src/promises.ts"
import { failure, fresh, hello, shared, start, startLive, templates, until } from "./instance.ts"

/** Reads a stream while the instance closes, which must end only after the stream, and soon. Returns the stream's size. */
const sizeReadWhileClosing = async (wac: Wac, stream: AsyncIterable<Uint8Array>): Promise<number> => {
  let size = 0
  let closed: Promise<void> | undefined
  let isClosed = false
  for await (const piece of stream) {
    assert.isFalse(isClosed)
    size += piece.length
    closed ??= wac.close().then(() => {
      isClosed = true
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const begin = performance.now()
  await closed
  assert.isBelow(performance.now() - begin, 5000)
  return size
}

describe("close", () => {
  it("closing waits for a running listener, which may still use the instance, and refuses calls after that", async () => {
    const wac = await startLive()
    const { messageId } = await wac.messages.send(hello(), fresh())
    let began = 0
    let found: string | undefined
    let isDone = false
    wac.on("message.sent", async () => {
      began++
      await new Promise((resolve) => setTimeout(resolve, 300))
      found = (await wac.messages.get(messageId)).messageId
      isDone = true
    })
    await wac.messages.send(hello(), fresh())
    await wac.messages.send(hello(), fresh())
    await until(() => began === 1)
    await wac.close()
    assert.isTrue(isDone)
    assert.strictEqual(found, messageId)
    // nothing more is dispatched
    assert.strictEqual(began, 1)
    assert.strictEqual((await failure(wac.messages.get(messageId))).message, "this instance was closed")
  })

  it("closing refuses calls immediately if no listener is running", async () => {
    const wac = await startLive()
    const closing = wac.close()
    assert.strictEqual((await failure(wac.messages.send(hello(), fresh()))).message, "this instance was closed")
    await closing
  })

  it("closing waits at most 9.5 seconds for a listener that never ends", async () => {
    const wac = await startLive()
    let began = 0
    wac.on("message.sent", () => {
      began++
      return new Promise(() => {})
    })
    await wac.messages.send(hello(), fresh())
    await until(() => began === 1)
    const start = performance.now()
    await wac.close()
    assert.closeTo(performance.now() - start, 9500, 1500)
  })

  it("while closing waits for a listener, queued messages stay queued, even those that become due", async () => {
    const { clock, options } = shared()
    const { wac } = await start(options)
    const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    wac.on("message.sent", async () => {
      began.resolve()
      await mayEnd.promise
    })
    await wac.messages.send(hello(), fresh())
    await began.promise
    const begins = clock.now().getTime()
    const { messageId } = await wac.messages.enqueue(hello(), { ...fresh(), sendAt: new Date(begins + 2000) })
    const closed = wac.close()
    await until(() => clock.now().getTime() > begins + 10_000)
    mayEnd.resolve()
    await closed
    const { wac: next } = await start({ ...options, background: false })
    assert.strictEqual((await next.messages.get(messageId)).status, "queued")
  })

  it(
    "a send of the queue that closing found in flight has its outcome, even if a listener never ends",
    async () => {
      const { clock: _, ...options } = shared().options
      const provider: CustomProvider = {
        phoneNumber: "+12025550100",
        templates,
        send: async () => {
          await new Promise((resolve) => setTimeout(resolve, 1000))
          return { status: "accepted", providerMessageId: crypto.randomUUID() }
        }
      }
      const wac = await startLive({ ...options, provider })
      wac.on("message.sent", () => new Promise(() => {}))
      await wac.messages.send(hello(), fresh())
      const now = Date.now()
      for (let i = 0; i < 25; i++) {
        await wac.messages.enqueue(hello(`+120255501${10 + i}`), { ...fresh(), sendAt: new Date(now + i * 500) })
      }
      await until(async () => (await wac.messages.list({ status: "sending" }).page()).data.length > 0)
      await wac.close()
      const next = await startLive({ ...options, provider, background: false })
      const { data } = await next.messages.list().page()
      assert.sameMembers([...new Set(data.map(({ status }) => status))], ["sent", "queued"])
    }
  )

  it("closing waits until a streamed response has been read", async () => {
    const wac = await startLive()
    const { apiKey } = await wac.keys.create({ name: "reader" })
    const piece = new TextEncoder().encode("a few words, ".repeat(10_000))
    const { id } = await wac.media.upload({ bytes: Readable.from([piece, piece, piece]), filename: "words.txt" })
    const download = () =>
      wac.handler(
        new Request(`http://127.0.0.1/v1/media/${id}`, { headers: { authorization: `Bearer ${apiKey}` } })
      )
    const [read, left] = [await download(), await download()]
    await left.body!.cancel()
    assert.strictEqual(await sizeReadWhileClosing(wac, read.body!), 3 * piece.length)
  })

  it("closing waits until the streams of opened files have been read or cancelled, and refuses new ones after that", async () => {
    const wac = await startLive()
    const piece = new TextEncoder().encode("a few words, ".repeat(10_000))
    const { id } = await wac.media.upload({ bytes: Readable.from([piece, piece, piece]), filename: "words.txt" })
    const opened = await wac.media.open(id)
    const [read, left] = [opened.stream(), opened.stream()]
    await left.cancel()
    assert.strictEqual(await sizeReadWhileClosing(wac, read), 3 * piece.length)
    assert.throws(() => opened.stream(), "this instance was closed")
  })
})
