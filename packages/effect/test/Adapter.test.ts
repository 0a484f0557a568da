/**
 * A storage and a provider that are not built in, composed from outside like another package's.
 */
import {
  Capabilities,
  type Id,
  Inbound,
  Limits,
  MessageStore,
  PhoneNumber,
  type Ports,
  Provider,
  ProviderWebhook,
  Storage,
  StoreError,
  type Template
} from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Clock, Effect, Layer, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { Adapter, Composition, Host } from "../src/index.ts"
import { failure, fresh, hello, start, until } from "./instance.ts"

/** A storage that records accepted sends, and delegates everything else. */
const noting = (noted: Array<string>, durable = false): Layer.Layer<Ports.Ports> =>
  Layer.mergeAll(
    Layer.effect(Storage.Storage, Effect.map(Storage.Storage, (storage) => ({ ...storage, name: "noting", durable }))),
    Layer.effect(
      MessageStore.MessageStore,
      Effect.map(MessageStore.MessageStore, (store) => ({
        ...store,
        accept: (command) =>
          Effect.tap(store.accept(command), (accepted) => Effect.sync(() => noted.push(accepted._tag)))
      }))
    )
  ).pipe(Layer.provideMerge(MemoryStorage.layer))

interface Letter {
  readonly messageId: Id.MessageId
  readonly to: string
}

const template: Template.ProviderTemplate = {
  providerTemplateId: "t-1",
  name: "hello_world",
  language: "en_US",
  category: "utility",
  status: "approved",
  parameterFormat: "positional",
  components: [{ type: "BODY", text: "Hello" }],
  quality: null,
  rejectionReason: null
}

const Receipt = Schema.fromJsonString(Schema.Struct({ letter: Schema.String }))

/** A provider that posts letters: it reports delivery directly, and reading by a post to us. */
const paper = (letters: Array<Letter>) =>
  Layer.mergeAll(
    Layer.effect(
      Provider.Provider,
      Effect.map(Inbound.Inbound, (inbound) =>
        Provider.Provider.of({
          name: "paper",
          capabilities: Capabilities.all,
          send: Effect.fnUntraced(function*({ message, messageId, sender }) {
            letters.push({ messageId, to: message.to })
            const providerMessageId = `letter-${letters.length}`
            const report = {
              status: "delivered",
              at: yield* Clock.currentTimeMillis,
              providerMessageId,
              error: null
            } as const
            yield* Effect.orDie(
              inbound.receive([
                { _tag: "Status", providerNumberId: sender.providerNumberId, reference: messageId, report }
              ])
            )
            return { _tag: "Accepted", providerMessageId }
          }),
          firstNumber: Effect.succeed({
            phoneNumber: "+14155550199",
            providerNumberId: "letter-box",
            providerAccountId: "post-office",
            learned: PhoneNumber.unlearned
          }),
          templates: () => Effect.succeed([template])
        }))
    ),
    Layer.succeed(ProviderWebhook.ProviderWebhook, {
      name: "paper",
      handshake: () => undefined,
      verify: (_, header) => Effect.succeed(header("x-stamp") === "valid"),
      read: (body, at) =>
        Schema.decodeEffect(Receipt)(new TextDecoder().decode(body)).pipe(
          Effect.mapError(() => new ProviderWebhook.UnreadablePost({ message: "it is not a receipt" })),
          Effect.map(({ letter }) => [{
            _tag: "Status",
            providerNumberId: "letter-box",
            reference: null,
            report: { status: "read", at, providerMessageId: letter, error: null }
          }])
        )
    })
  )

describe("a custom storage", () => {
  it("an instance stores everything in a custom storage", async () => {
    const noted: Array<string> = []
    const { wac } = await start({ storage: Adapter.storage(noting(noted)) })
    const key = fresh()
    const { messageId } = await wac.messages.send(hello(), key)
    assert.strictEqual((await wac.messages.send(hello(), key)).messageId, messageId)
    assert.deepStrictEqual(noted, ["Claimed", "Answered"])
    assert.strictEqual((await wac.messages.get(messageId)).status, "sent")
  })

  it("a custom storage that survives the process requires a master key", async () => {
    const storage = Adapter.storage(noting([], true))
    const error = await failure(start({ storage }))
    assert.deepInclude(error, { code: "invalid_body", param: "masterKey" })
    const { wac } = await start({ storage, masterKey: new Uint8Array(32) })
    await wac.messages.send(hello(), fresh())
  })

  it("a custom storage that cannot be opened makes createWac reject with the reason", async () => {
    const shut = Layer.effect(Storage.Storage, Effect.fail(new StoreError.StoreError({ operation: "open" })))
    const storage = Adapter.storage(Layer.provideMerge(shut, MemoryStorage.layer))
    assert.deepInclude(await failure(start({ storage })), { code: "server_error", reason: "storage_unavailable" })
  })

  it("a custom storage that is not a Layer is refused", async () => {
    const error = await failure(start({ storage: Adapter.storage({} as never) }))
    assert.deepInclude(error, { code: "invalid_body", param: "storage.layer" })
  })

  it("a storage that another copy of Adapter made is refused, with the door that takes it", async () => {
    const error = await failure(start({ storage: { ...Adapter.storage(MemoryStorage.layer) } }))
    assert.deepInclude(error, { code: "invalid_body", param: "storage.layer" })
    assert.include(String(error), "createWac of @wac/effect/promises")
  })
})

describe("a provider that is a Layer", () => {
  it("a Layer provider sends, reports directly, and reports by its signed posts", async () => {
    const letters: Array<Letter> = []
    const { clock, wac } = await start({ provider: Adapter.provider(paper(letters)) })
    const { messageId, providerMessageId } = await wac.messages.send(hello(), fresh())
    assert.deepStrictEqual(letters, [{ messageId, to: "+15551234567" }])
    assert.strictEqual((await wac.messages.get(messageId)).status, "delivered")
    const post = (stamp: string) =>
      wac.handler(
        new Request("http://localhost/providers/paper/webhook", {
          method: "POST",
          headers: { "content-type": "application/json", "x-stamp": stamp },
          body: JSON.stringify({ letter: providerMessageId })
        })
      )
    assert.strictEqual((await post("forged")).status, 401)
    assert.strictEqual((await post("valid")).status, 200)
    await clock.advance("1 second")
    await until(async () => (await wac.messages.get(messageId)).status === "read")
  })

  it("a provider that is not a Layer, was made by another copy of Adapter, or is of an unknown type, is refused", async () => {
    const noLayer = await failure(start({ provider: Adapter.provider({} as never) }))
    assert.deepInclude(noLayer, { code: "invalid_body", param: "provider.layer" })
    const ofAnother = await failure(start({ provider: { ...Adapter.provider(paper([])) } }))
    assert.deepInclude(ofAnother, { code: "invalid_body", param: "provider.layer" })
    const noType = await failure(start({ provider: { type: "pigeon" } as never }))
    assert.deepInclude(noType, { code: "invalid_body", param: "provider.type" })
  })
})

it("Composition takes a Layer of the ports as its storage, and any provider", () => {
  const noted: Array<string> = []
  const letters: Array<Letter> = []
  const service = Host.Host.layer("Shop").pipe(
    Layer.provideMerge(
      Composition.layer({
        storage: noting(noted),
        masterKey: undefined,
        previousMasterKey: undefined,
        limits: Limits.standard,
        receiverRules: { allowInsecure: false, allowedCidrs: [] }
      }, { ...Composition.standard, provider: paper(letters) })
    )
  )
  return Effect.gen(function*() {
    const host = yield* Host.Host
    const { messageId } = yield* host.send(hello(), { idempotencyKey: "one" })
    assert.deepStrictEqual(noted, ["Claimed"])
    assert.deepStrictEqual(letters, [{ messageId, to: "+15551234567" }])
  }).pipe(Effect.provide(service), Effect.runPromise)
})
