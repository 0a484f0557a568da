import * as S3Server from "@wac/testbed/S3Server"
import { Readable } from "node:stream"
import { assert, describe, it, onTestFinished } from "vitest"
import type { CustomProvider, MediaStore, Wac } from "../../src/promises.ts"
import { createWac, memory, s3, sandbox } from "../../src/promises.ts"
import { failure, fresh, hello, start } from "../instance.ts"

const text = (words: string): Uint8Array => new TextEncoder().encode(words)

/** A picture of one pixel, as PNG. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const read = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let words = ""
  for await (const piece of stream) words += new TextDecoder().decode(piece)
  return words
}

/** A customer's file, reported by a test or a provider. */
const picture = (providerMessageId: string, id: string, providerNumberId = "sandbox-1") =>
  ({ type: "message", providerNumberId, providerMessageId, from: "+15551234567", image: { id } }) as const

const receivedFiles = async (wac: Wac): Promise<ReadonlyArray<string | undefined>> =>
  (await wac.events.list({ type: "message.received" }).page()).data.map(({ data }) =>
    (data as { readonly image?: { readonly media_id?: string } }).image?.media_id
  )

describe("customers' files", () => {
  it("a picture from the sandbox is kept as it arrives, and read by the event's media_id", async () => {
    const { clock, wac } = await start()
    await wac.messages.send(hello("+15005550012"), fresh())
    await clock.advance("1 second")
    const [id] = await receivedFiles(wac)
    await clock.advance("2 seconds")
    const opened = await wac.media.open(id!)
    assert.deepInclude(opened, { mimeType: "image/png" })
    const pieces: Array<Uint8Array> = []
    for await (const piece of opened.stream()) pieces.push(piece)
    assert.strictEqual(Buffer.concat(pieces).toString("base64"), pixel)
  })

  it("a provider of the host's own is asked for a file once, as it arrives or when it is first opened", async () => {
    for (const inboundMedia of ["keep", "on_demand"] as const) {
      const asked: Array<string> = []
      const provider: CustomProvider = {
        phoneNumber: "+15005550100",
        send: () => Promise.resolve({ status: "accepted", providerMessageId: "1" }),
        templates: () => Promise.resolve([]),
        download: ({ providerMediaId }) => {
          asked.push(providerMediaId)
          return Promise.resolve(providerMediaId === "gone" ? null : Readable.from([text("a customer's words")]))
        }
      }
      const { clock, wac } = await start({ provider, inboundMedia })
      await wac.inbound.receive([
        picture("in-1", "one", provider.phoneNumber),
        picture("in-2", "gone", provider.phoneNumber),
        // the same message once more
        picture("in-1", "one", provider.phoneNumber)
      ])
      await clock.advance("10 seconds")
      const [one, gone] = await receivedFiles(wac)
      assert.sameMembers(asked, inboundMedia === "keep" ? ["one", "gone"] : [])
      assert.strictEqual(await read((await wac.media.open(one!)).stream()), "a customer's words")
      await wac.media.open(one!)
      const missing = await failure(wac.media.open(gone!))
      assert.deepInclude(missing, { code: "not_found", reason: "media_expired" })
      assert.sameMembers(asked, ["one", "gone"])
      const another = await wac.workspaces.create({ name: "Another", phoneNumber: "+15005550199" })
      const foreign = await failure(wac.workspace(another.id).media.open(one!))
      assert.deepInclude(foreign, { code: "not_found", reason: undefined })
    }
  })

  it("a provider without downloads has its own ids in events", async () => {
    const provider: CustomProvider = {
      phoneNumber: "+15005550100",
      send: () => Promise.resolve({ status: "accepted", providerMessageId: "1" }),
      templates: () => Promise.resolve([])
    }
    const { wac } = await start({ provider })
    await wac.inbound.receive([picture("in-1", "theirs", provider.phoneNumber)])
    const [event] = (await wac.events.list({ type: "message.received" }).page()).data
    assert.deepInclude(event!.data, { image: { id: "theirs" } })
  })

  it("a wrong value of inboundMedia is refused by name", async () => {
    await start({ inboundMedia: "never" as never }).then(
      () => assert.fail("it started"),
      (error: unknown) => assert.match(String(error), /inboundMedia must be keep or on_demand/)
    )
  })
})

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

  it("a file expires by the retention of the instance", async () => {
    const { clock, wac } = await start({ retention: { media: 7 } })
    const { expiresAt, id } = await wac.media.upload({ bytes: text("words") })
    assert.strictEqual(Date.parse(expiresAt) - clock.now().getTime(), 7 * 24 * 60 * 60 * 1000)
    assert.strictEqual((await wac.media.open(id)).expiresAt, expiresAt)
    await clock.advance("7 days")
    await clock.advance("10 minutes")
    assert.deepInclude(await failure(wac.media.open(id)), { code: "not_found" })
  })

  it("a file that a queued message needs is kept until then", async () => {
    const { clock, wac } = await start({ retention: { media: 1 } })
    const file = await wac.media.upload({ bytes: Buffer.from(pixel, "base64") })
    const sendAt = new Date(clock.now().getTime() + 3 * 24 * 60 * 60 * 1000)
    await wac.messages.enqueue({ to: "+15551234567", type: "image", image: { media: file.id } }, { ...fresh(), sendAt })
    await clock.advance("70 hours")
    assert.strictEqual((await wac.media.open(file.id)).size, file.size)
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

describe("an object store", () => {
  const credentials = { accessKeyId: "an-id", secretAccessKey: "a-secret" }

  it("an object store has the bytes of files, and none after they are removed", async () => {
    const { bucket, endpoint, keys, stop } = await S3Server.start()
    onTestFinished(stop)
    const { wac } = await start({ mediaStore: s3({ url: `s3://${bucket}/wac`, endpoint, credentials }) })
    const { id } = await wac.media.upload({ bytes: text("0123456789") })
    assert.match((await keys()).join(), /^wac\/ws_\w+\/med_\w+\/0$/)
    assert.strictEqual(await read((await wac.media.open(id)).stream({ start: 3, end: 5 })), "34")
    await wac.media.remove(id)
    assert.deepEqual(await keys(), [])
  })

  it("a bucket that does not exist, and a wrong option, are refused by name", async () => {
    const { endpoint, stop } = await S3Server.start()
    onTestFinished(stop)
    const create = (mediaStore: MediaStore) => createWac({ storage: memory(), provider: sandbox(), mediaStore })
    const missing = await failure(create(s3({ url: "s3://another", endpoint, credentials })))
    assert.deepInclude(missing, { code: "invalid_body", param: "mediaStore" })
    assert.include(missing.message, "NoSuchBucket (404)")
    const wrong = [
      ["mediaStore", { type: "disk", url: "s3://files" } as never],
      ["mediaStore.url", s3("files")],
      ["mediaStore.endpoint", s3({ url: "s3://files", endpoint: "files.example.com" })],
      ["mediaStore.credentials", s3({ url: "s3://files", credentials: { ...credentials, secretAccessKey: "" } })]
    ] as const
    for (const [param, mediaStore] of wrong) {
      const error = await failure(create(mediaStore))
      assert.deepInclude(error, { code: "invalid_body", param })
      assert.notInclude(error.message, "a-secret")
    }
  })
})
