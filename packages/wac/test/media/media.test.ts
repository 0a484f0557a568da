import { Readable } from "node:stream"
import { assert, describe, it } from "vitest"
import { failure, start } from "../instance.ts"

const text = (words: string): Uint8Array => new TextEncoder().encode(words)

const read = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let words = ""
  for await (const piece of stream) words += new TextDecoder().decode(piece)
  return words
}

describe("files", () => {
  it("a file is uploaded from bytes or a stream, read whole and in part, and removed", async () => {
    const { wac } = await start()
    const stored = await wac.media.upload({ bytes: text("0123456789"), filename: "../digits.txt" })
    assert.deepInclude(stored, { mimeType: "text/plain", size: 10, filename: "digits.txt" })
    const streamed = await wac.media.upload({ bytes: Readable.from([text("01234"), text("56789")]) })
    assert.deepInclude(streamed, { sha256: stored.sha256, filename: null })
    const opened = await wac.media.open(stored.id)
    assert.deepInclude(opened, { ...stored })
    assert.strictEqual(await read(opened.stream()), "0123456789")
    assert.strictEqual(await read(opened.stream({ start: 3, end: 5 })), "34")
    assert.strictEqual(await read(opened.stream({ start: 8, end: 99 })), "89")
    await wac.media.remove(stored.id)
    assert.deepInclude(await failure(wac.media.open(stored.id)), { code: "not_found" })
    await wac.media.open(streamed.id)
  })

  it("the same upload with the same key is stored once", async () => {
    const { wac } = await start()
    const file = { bytes: text("once"), filename: "once.txt" }
    const first = await wac.media.upload(file, { idempotencyKey: "one" })
    assert.deepStrictEqual(await wac.media.upload(file, { idempotencyKey: "one" }), first)
    const other = wac.media.upload({ ...file, bytes: text("twice") }, { idempotencyKey: "one" })
    assert.deepInclude(await failure(other), { code: "idempotency_conflict" })
  })

  it("an upload whose stream throws rejects with that, and keeps nothing", async () => {
    const { wac } = await start()
    const cause = new Error("the disk is gone")
    async function* broken() {
      yield text("half")
      throw cause
    }
    const rejected = await wac.media.upload({ bytes: broken() }, { idempotencyKey: "one" }).catch((error: unknown) =>
      error
    )
    assert.strictEqual(rejected, cause)
    const whole = await wac.media.upload({ bytes: text("whole") }, { idempotencyKey: "one" })
    assert.strictEqual(whole.size, 5)
  })

  it("a stream of text instead of bytes is refused", async () => {
    const { wac } = await start()
    const refused = await failure(wac.media.upload({ bytes: Readable.from(["text"]) as never }))
    assert.deepInclude(refused, { code: "invalid_body", param: "bytes" })
  })
})
