import { Readable } from "node:stream"
import { assert, describe, it } from "vitest"
import { failure, start } from "../instance.ts"

const text = (words: string): Uint8Array => new TextEncoder().encode(words)

/** A picture of one pixel, as PNG. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

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

  it("a template's header shows a file of the workspace, of a type that its format allows", async () => {
    const { wac } = await start()
    const picture = await wac.media.upload({ bytes: Buffer.from(pixel, "base64") })
    const words = await wac.media.upload({ bytes: text("words") })
    const body = { type: "BODY", text: "Look." } as const
    const header = (
      format: "IMAGE" | "VIDEO",
      media: string
    ) => ({ type: "HEADER", format, example: { media } } as const)
    const named = (name: string) => ({ name, language: "en", category: "marketing" } as const)
    const card = { components: [header("IMAGE", picture.id), body] }
    const handle = { type: "HEADER", format: "IMAGE", example: { header_handle: [`4:${picture.id}`] } } as const

    const plain = await wac.templates.create({ ...named("plain"), components: [header("IMAGE", picture.id), body] })
    assert.deepEqual(plain.components, [handle, body])
    const cards = { type: "CAROUSEL", cards: [card, card] } as const
    const edited = await wac.templates.edit(plain.id, { components: [body, cards] })
    const shown = { components: [handle, body] }
    assert.deepEqual(edited.components, [body, { ...cards, cards: [shown, shown] }])

    const param = "components[0].example.media"
    for (const wrong of [header("IMAGE", words.id), header("VIDEO", picture.id), header("IMAGE", "med_none")]) {
      const refused = await failure(wac.templates.create({ ...named("wrong"), components: [wrong, body] }))
      assert.deepInclude(refused, { code: "invalid_body", param })
    }
  })

  it("a stream of text instead of bytes is refused", async () => {
    const { wac } = await start()
    const refused = await failure(wac.media.upload({ bytes: Readable.from(["text"]) as never }))
    assert.deepInclude(refused, { code: "invalid_body", param: "bytes" })
  })
})
