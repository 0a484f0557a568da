/**
 * Downloads of customers' files, from the simulated Cloud API.
 */
import { assert, describe, it } from "@effect/vitest"
import { RecordingReceiver } from "@wac/testkit"
import { Effect, Stream } from "effect"
import * as FileDownload from "../src/FileDownload.ts"
import { simulated } from "./simulation.ts"

const bytes = Buffer.from("a customer's picture".repeat(10_000))

const file = { base64: bytes.toString("base64"), type: "image/png" }

/** The simulated API with a customer's file, and what downloading that file gives. */
const sent = Effect.fnUntraced(function*(lies: { readonly url?: string } = {}, lives?: number) {
  const world = yield* simulated()
  const { api, number, provider } = world
  yield* api.receive({ from: "+16505551234", kind: "image", file: { ...file, lies, ...(lives && { lives }) } })
  yield* api.courier.settled
  const [{ value }] = api.courier.told() as unknown as readonly [
    { readonly value: { readonly messages: readonly [{ readonly image: { readonly id: string } }] } }
  ]
  const providerMediaId = value.messages[0].image.id
  const download = Stream.runCollect(provider.downloadFile!({ sender: number, providerMediaId })).pipe(
    Effect.map((pieces) => Buffer.concat([...pieces]))
  )
  const calls = Effect.map(api.calls, (calls) => calls.map(({ path }) => path.split("?")[0]))
  return { ...world, providerMediaId, download, calls }
})

describe("a customer's file", () => {
  it.live("a file is looked up by its id and read from its URL", () =>
    Effect.gen(function*() {
      const { calls, download, providerMediaId } = yield* sent()
      assert.isTrue(bytes.equals(yield* download))
      assert.deepStrictEqual(yield* calls, [`/v25.0/${providerMediaId}`, "/whatsapp_business/attachments/"])
    }))

  it.live("a file with an expired URL is looked up once more, and is then gone, but not surely, as the API still names it", () =>
    Effect.gen(function*() {
      const dead = yield* sent()
      const { api, calls } = dead
      const url = `${api.url}/whatsapp_business/attachments/?mid=1&ext=0`
      const { download } = yield* sent({ url })
      assert.strictEqual((yield* Effect.flip(download))._tag, "ProviderError", "an address of another simulator")
      assert.lengthOf(yield* calls, 0)
      yield* api.receive({ from: "+16505551234", kind: "image", file: { ...file, lies: { url } } })
      const told = api.courier.told().at(-1)!.value as {
        readonly messages: readonly [{ readonly image: { id: string } }]
      }
      const { number, provider } = dead
      const gone = yield* Effect.flip(
        Stream.runDrain(provider.downloadFile!({ sender: number, providerMediaId: told.messages[0].image.id }))
      )
      assert.deepInclude(gone, { _tag: "FileGone", mayReturn: true })
      assert.lengthOf(yield* calls, 4)
    }))

  it.live("a file that the provider has deleted is gone, but not surely, as it may be the permission that is missing", () =>
    Effect.gen(function*() {
      const { download } = yield* sent({}, 1)
      assert.deepInclude(yield* Effect.flip(download), { _tag: "FileGone", mayReturn: true })
    }))

  it.live("a 404 without an error of the API leaves the file available, as a proxy may have responded", () =>
    Effect.gen(function*() {
      const { api, download } = yield* sent()
      yield* api.fault({ target: "all", next: [{ kind: "html_before", http: 404 }] })
      assert.deepInclude(yield* Effect.flip(download), { _tag: "ProviderError", reason: "provider_error" })
      yield* api.fault({ target: "all", next: [null, { kind: "html_before", http: 404 }] })
      assert.isTrue(bytes.equals(yield* download), "its address is looked up once more")
    }))

  it.live("a file is not read from a host other than the provider's, which never gets the token", () =>
    Effect.gen(function*() {
      const stranger = yield* RecordingReceiver.make
      const { download } = yield* sent({ url: `${stranger.url}/file` })
      const error = yield* Effect.flip(download)
      assert.deepInclude(error, { _tag: "ProviderError", reason: "provider_error" })
      assert.isEmpty(yield* stranger.requests)
    }))

  it.live("a download that breaks off fails, and returns no shorter file", () =>
    Effect.gen(function*() {
      const { api, download } = yield* sent()
      yield* api.fault({ target: "all", next: [null, { kind: "cut_answer" }] })
      assert.deepInclude(yield* Effect.flip(download), { _tag: "ProviderError", reason: "provider_unavailable" })
      yield* api.acceptTokens(["another"])
      const refused = yield* Effect.flip(download)
      assert.deepInclude(refused, { _tag: "ProviderError", reason: "provider_error" })
      assert.notInclude(JSON.stringify(refused), api.identity.accessToken)
    }))
})

describe("an address of a file", () => {
  it.each([
    ["https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1", true],
    ["https://mmg.whatsapp.net/a", true],
    ["http://127.0.0.1:9/any", true],
    ["http://lookaside.fbsbx.com/a", false],
    ["https://fbsbx.com.example/a", false],
    ["https://evilfbsbx.com/a", false],
    ["https://user:pw@lookaside.fbsbx.com/a", false],
    ["http://127.0.0.1:10/any", false],
    ["http://169.254.169.254/latest", false],
    ["file:///etc/passwd", false],
    ["lookaside.fbsbx.com", false]
  ])("%s is upstream's own: %s", (address, expected) => {
    assert.strictEqual(FileDownload.isOwn(address, "http://127.0.0.1:9"), expected)
  })
})
