import { assert, describe, it } from "vitest"
import { failure, fresh, hello, startLive, until } from "./instance.ts"

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

  it("closing waits at most 9.5 seconds for a listener that never ends", { timeout: 30_000 }, async () => {
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
})
