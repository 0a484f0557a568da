import { Events, Limits, Provider } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Effect, Layer, Redacted } from "effect"
import { assert, it } from "vitest"
import { Composition, Host } from "../../src/index.ts"
import { hello, shared } from "../instance.ts"

const serviceOf = (
  storage: Composition.Storage = { _tag: "Memory" },
  provider: Composition.Adapters["provider"] = Composition.standard.provider
) =>
  Host.Host.layer("Shop").pipe(
    Layer.provideMerge(Composition.layer({
      storage,
      masterKey: Redacted.make(new Uint8Array(32).fill(7)),
      previousMasterKey: undefined,
      limits: Limits.standard,
      receiverRules: { allowInsecure: false, allowedCidrs: [] }
    }, { ...Composition.standard, provider }))
  )

it("a host that uses Effect sends once per key in its own workspace, and invalid input is refused by field", () =>
  Effect.gen(function*() {
    const host = yield* Host.Host
    const events = yield* Events.Events
    const [first, second] = yield* Effect.all([1, 2].map(() => host.send(hello(), { idempotencyKey: "one" })))
    assert.deepStrictEqual(second, first)
    assert.strictEqual(first!.workspaceId, host.workspaceId)
    const sent = yield* events.list(host.workspaceId, { type: "message.sent" }, { limit: 10, after: null })
    assert.strictEqual(sent.items.length, 1)

    const badKey = yield* Effect.flip(host.send(hello(), { idempotencyKey: "two words" }))
    assert.deepInclude(badKey, { _tag: "InvalidBody", param: "idempotencyKey" })
    const badNumber = yield* Effect.flip(host.send(hello("5"), { idempotencyKey: "two" }))
    assert.deepInclude(badNumber, { _tag: "InvalidBody", param: "to" })
  }).pipe(Effect.provide(serviceOf()), Effect.runPromise))

it("a host with stored templates does not wait for the provider's list", () => {
  const { storage } = shared()
  const silent = Layer.effect(
    Provider.Provider,
    Effect.map(Provider.Provider, (provider) => ({ ...provider, templates: () => Effect.never }))
  ).pipe(Layer.provide(SandboxProvider.layer))
  const send = (idempotencyKey: string) => Host.Host.use((host) => host.send(hello(), { idempotencyKey }))
  return Effect.gen(function*() {
    const first = yield* Effect.provide(send("one"), serviceOf(storage))
    const second = yield* Effect.provide(send("two"), serviceOf(storage, silent))
    assert.strictEqual(second.workspaceId, first.workspaceId)
  }).pipe(Effect.runPromise)
})
